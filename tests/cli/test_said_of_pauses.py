"""What `status` and `why` say of jobs that are held or paused, while packages run and at the end."""

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
