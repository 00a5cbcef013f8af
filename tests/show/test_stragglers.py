"""Packages that run much longer than they were expected to are named."""

import time

from d0ctl.cli import documents
from d0ctl.show.why import group
from d0ctl.store.views import browse
from tests.show.asking import why
from tests.support.jobs import binary, job, package
from tests.support.rows import change
from tests.support.site import Site


def running(site: Site, *, since_s: float) -> None:
    """Two packages of ten minutes run; the first began some time ago."""
    site.up(cpus=4)
    site.submit(job("prod", [package(binary(runtime=600.0)) for _ in range(2)]))
    attempt = site.launch("prod/1/1/1")
    site.launch("prod/1/2/1")
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, started=time.time() - since_s)


def test_a_straggler_is_named_by_why_and_status(site: Site) -> None:
    running(site, since_s=3600.0)
    one = browse.job(site.store, "prod")

    said = why(site, "prod/1/1/1")
    of_job = group.job(site.store, one, time.time())
    (entry,) = documents.job_card(site.store, one, time.time())["stragglers"]

    assert "`prod/1/1/1` ends later than estimated" in said.facts
    assert ("it is a straggler: it has been running on `localhost` for 1 h 00 min; 10 min 00 s"
            " were expected, at most 20 min 00 s") in said.facts  # fmt: skip
    assert said.details["straggler"] == {"expected": 600.0, "high": 1200.0}
    assert ("straggler: `prod/1/1/1` has been running on `localhost` for 1 h 00 min; at most"
            " 20 min 00 s were expected") in of_job.facts  # fmt: skip
    assert "d0ctl why prod/1/1/1" in of_job.commands
    assert (entry["path"], entry["node"], entry["high"]) == ("prod/1/1/1", "localhost", 1200.0)


def test_a_package_that_is_a_little_late_is_no_straggler(site: Site) -> None:
    running(site, since_s=1500.0)

    facts = [*why(site, "prod/1/1/1").facts,
             *group.job(site.store, browse.job(site.store, "prod"), time.time()).facts]  # fmt: skip

    assert not any("straggler" in fact for fact in facts)


def test_the_first_of_a_stage_is_a_straggler_by_the_times_of_the_others(site: Site) -> None:
    site.up(cpus=8)
    site.submit(job("prod", [package(binary()) for _ in range(6)]))
    attempt = site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, started=time.time() - 3600.0)

    unknown = why(site, "prod/1/1/1").facts
    for number in range(2, 7):
        site.finish(f"prod/1/{number}/1")
    known = why(site, "prod/1/1/1").facts

    assert not any("straggler" in fact for fact in unknown)
    assert any(
        "it is a straggler: it has been running on `localhost` for 1 h 00 min" in fact
        for fact in known
    )
