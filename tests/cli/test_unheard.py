"""Launched packages while no daemon runs: nobody knows what became of them."""

import time

from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.support.jobs import binary, job, package
from tests.support.rows import change
from tests.support.site import Site


def test_without_a_daemon_a_package_was_running_when_its_node_was_last_heard(
    site: Site, d0ctl: Type
) -> None:
    site.up()
    site.submit(job("prod", [package(binary(runtime=3.0))]))
    attempt = site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, started=time.time() - 3600)

    for words in (("why", "prod/1/1/1"), ("status", "prod/1/1/1")):
        said = " ".join(d0ctl(*words).stdout.split())
        assert "was running on `localhost` when that was last heard, at " in said
        assert "no daemon is running, so it is not known whether it has ended since" in said
        assert "d0ctl daemon start" in said
        assert "d0ctl kill" not in said and "straggler" not in said and "later than" not in said
    drive(site)
    assert "has been running on `localhost` for 1 h 00 min" in d0ctl("why", "prod/1/1/1").stdout
