"""What `status` and `why` say of held or paused jobs, while packages run and at the end."""

import pytest

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


@pytest.mark.parametrize("verb", ["pause", "hold"])
def test_an_ended_job_is_not_said_to_be_kept_back(site: Site, d0ctl: Type, verb: str) -> None:
    site.submit(production())
    d0ctl(verb, "prod", "--reason", "beam")
    past = {"pause": "paused", "hold": "held"}[verb]
    assert f"{past} by " in d0ctl("status", "prod").stdout

    d0ctl("kill", "prod")

    status = d0ctl("status", "prod").stdout
    assert "canceled" in status and f"{past} by " not in status, status


def test_why_of_a_paused_job_does_not_say_that_it_is_running(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    assert "job `prod` is running: 1 package is launched\n" in d0ctl("why", "prod").stdout
    d0ctl("pause", "prod")

    whole, stage = d0ctl("why", "prod").stdout, d0ctl("why", "prod/1").stdout

    assert "nothing more of job `prod` starts" in whole and "nothing more of stage" in stage
    assert "\n- 1 package is launched\n" in whole and "\n- 1 package is launched\n" in stage
    assert "is running:" not in whole + stage
    site.launch("prod/1/2/1")
    assert "\n- 2 packages are launched\n" in d0ctl("why", "prod").stdout
