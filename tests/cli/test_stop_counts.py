"""How many packages the plan of a hold, pause, release or resume of a whole job counts."""

import pytest

from tests.cli.conftest import Type
from tests.cli.test_history_undo import undoes
from tests.support.building import production
from tests.support.site import Site

BACK = {"hold": "release", "pause": "resume"}


@pytest.mark.parametrize("stop", ["hold", "pause"])
def test_packages_that_are_held_by_themselves_are_not_counted(
    site: Site, d0ctl: Type, stop: str
) -> None:
    site.submit(production())
    d0ctl("hold", "prod/1/1")

    stops = d0ctl(stop, "prod", "--dry-run").stdout
    d0ctl(stop, "prod")
    goes_on = d0ctl(BACK[stop], "prod", "--dry-run").stdout

    assert stops.startswith(f"would {stop} job `prod`: 4 packages would not start")
    assert goes_on.startswith(f"would {BACK[stop]} job `prod`: 4 packages could start")


@pytest.mark.parametrize("stop", ["hold", "pause"])
def test_packages_that_are_blocked_are_not_counted(site: Site, d0ctl: Type, stop: str) -> None:
    site.submit(production(lines=1))
    d0ctl("kill", "prod/1/1/1", "--yes")
    assert "blocked" in d0ctl("status", "prod").stdout
    d0ctl(stop, "prod")

    plan = d0ctl(BACK[stop], "prod", "--dry-run").stdout

    assert plan == f"would {BACK[stop]} job `prod`: 0 packages could start\n"


@pytest.mark.parametrize("stop", ["hold", "pause"])
def test_packages_that_wait_for_failed_ones_are_not_counted(
    site: Site, d0ctl: Type, stop: str
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    d0ctl(stop, "prod")

    plan = d0ctl(BACK[stop], "prod", "--dry-run").stdout

    assert plan == f"would {BACK[stop]} job `prod`: 4 packages could start\n"


@pytest.mark.parametrize("stop", ["hold", "pause"])
def test_packages_that_cool_off_start_later(site: Site, d0ctl: Type, stop: str) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", reason="stage-in")
    assert site.phase("prod/1/1/1") == "cooloff"
    d0ctl(stop, "prod")

    plan = d0ctl(BACK[stop], "prod", "--dry-run").stdout

    assert plan.splitlines() == [
        f"would {BACK[stop]} job `prod`: 7 packages could start",
        "1 package is cooling off, to start later: to start it now, `d0ctl retry prod:cooloff`",
    ]


@pytest.mark.parametrize("stop", ["hold", "pause"])
def test_packages_that_nodes_were_to_start_are_counted(site: Site, d0ctl: Type, stop: str) -> None:
    site.submit(production())
    site.assign("prod/1/1/1")

    plan = d0ctl(stop, "prod", "--dry-run").stdout

    assert plan.startswith(f"would {stop} job `prod`: 8 packages would not start")


@pytest.mark.parametrize("stop", ["hold", "pause"])
def test_a_job_that_goes_on_with_fewer_packages_goes_on(site: Site, d0ctl: Type, stop: str) -> None:
    site.submit(production())
    d0ctl(stop, "prod")
    d0ctl("kill", "prod/1/1/1", "--yes")
    before = undoes(d0ctl, "prod")

    d0ctl(BACK[stop], "prod")

    assert f"d0ctl {BACK[stop]} prod" in before
    assert f"d0ctl {BACK[stop]} prod" not in undoes(d0ctl, "prod")
