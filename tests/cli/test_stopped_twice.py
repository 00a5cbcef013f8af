"""Jobs that are held and paused at once: what a release and a resume say of the other stop."""

import pytest

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site

HELD = "job `prod` is held: nothing starts until `d0ctl release prod`\n"
PAUSED = "job `prod` is paused: nothing starts until `d0ctl resume prod`\n"


@pytest.mark.parametrize(("verb", "says"), [("release", PAUSED), ("resume", HELD)])
def test_what_ends_one_stop_of_a_job_names_the_command_that_ends_the_other(
    site: Site, d0ctl: Type, verb: str, says: str
) -> None:
    site.submit(production())
    d0ctl("hold", "prod")
    d0ctl("pause", "prod")

    assert d0ctl(verb, "prod", "--dry-run").stdout.endswith(says)
    assert d0ctl(verb, "prod").stdout.endswith(says)


@pytest.mark.parametrize("stop", ["hold", "pause"])
@pytest.mark.parametrize(("verb", "says"), [("hold", HELD), ("pause", PAUSED)])
def test_what_lets_packages_of_a_stopped_job_go_on_names_the_command_for_the_job(
    site: Site, d0ctl: Type, stop: str, verb: str, says: str
) -> None:
    site.submit(production())
    d0ctl(stop, "prod/1/1/1")
    d0ctl(verb, "prod")
    back = "release" if stop == "hold" else "resume"

    assert says in d0ctl(back, "prod/1/1/1", "--dry-run").stdout
    assert says in d0ctl(back, "prod/1/1/1").stdout


def test_a_release_of_a_job_that_is_only_held_names_no_other_stop(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("hold", "prod")

    assert d0ctl("release", "prod").stdout == "released job `prod`\n"
