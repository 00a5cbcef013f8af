"""priority of parts of a job of which some packages have ended."""

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


def test_packages_that_have_ended_keep_their_priority(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("kill", "prod/1/1/1", "--yes")

    changed = d0ctl("priority", "prod/1", "70")
    d0ctl("retry", "prod/1/1/1")

    assert changed.stdout == "priority of 5 packages of `prod/1`: 50 -> 70\n"
    assert "priority 70" in d0ctl("why", "prod/1/2/1").stdout + d0ctl("status", "prod/1/2/1").stdout
    assert "priority 70" not in d0ctl("status", "prod/1/1/1").stdout


def test_the_undo_is_that_of_the_packages_that_change(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("priority", "prod/1", "70")
    d0ctl("kill", "prod/1/1/1", "--yes")
    d0ctl("priority", "prod/1", "50")

    changed = d0ctl("priority", "prod/1", "60")
    again = d0ctl("priority", "prod/1", "60")

    assert changed.stderr == "to undo: d0ctl priority prod/1/1/2 prod/1/2-3/1-2 50\n"
    assert "has priority 60 already" in again.stderr
