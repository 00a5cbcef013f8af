"""The page of `report failures`."""

import time

from d0ctl.store.nodes import placement
from tests.cli.conftest import Type
from tests.support.building import job, line, package
from tests.support.rows import change
from tests.support.site import Site


def test_only_a_table_that_leaves_out_rows_says_so(d0ctl: Type, site: Site) -> None:
    reasons = ["exit-code", "seg-fault", "out-of-memory", "wall-time", "stage-in", "stage-out",
               "looping", "missing-output", "disk-full"]  # fmt: skip
    site.submit(job(("a", [line(package(reason)) for reason in reasons])))
    for number, reason in enumerate(reasons[:8], start=1):
        site.fail(f"prod/1/{number}/1", reason=reason)
    assert "and more" not in d0ctl("report", "failures").stdout

    site.fail("prod/1/9/1", reason=reasons[8])

    assert "and more: --json prints all" in d0ctl("report", "failures").stdout


def test_solved_failures_are_counted_apart_and_are_no_samples(d0ctl: Type, site: Site) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2, 3)])))
    for number, cause in ((1, "db01 is away"), (2, "no calibration"), (3, "db03 is away")):
        site.fail(f"prod/1/{number}/1", detail=cause)
    assert d0ctl("retry", "prod/1/3/1").exit_code == 0
    site.finish("prod/1/3/1")

    answer = d0ctl("report", "failures").stdout

    assert answer.startswith("3 failures of 3 packages, 2 failed now, 0 tried again by d0ctl, ")
    assert "no calibration" in answer and "db03" not in answer


def test_the_sample_is_the_failure_that_ended_last(d0ctl: Type, site: Site) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2)])))
    for number, cause in ((1, "no calibration"), (2, "db02 is away")):
        site.fail(f"prod/1/{number}/1", detail=cause)
    change(site.store, "attempt", {"number": 1}, ended=1_000_000.0)
    change(site.store, "attempt", {"id": 1}, ended=1_000_007.5)

    answer = d0ctl("report", "failures").stdout

    assert "one of 2 different messages: prod/1/1/1: exit-code: no calibration" in answer
    assert "db02" not in answer


def test_retries_by_a_person_are_not_counted_as_those_of_d0ctl(d0ctl: Type, site: Site) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in (1, 2, 3, 4)])))
    for number in (1, 2, 3):
        site.fail(f"prod/1/{number}/1", reason="stage-in")
    site.fail("prod/1/4/1")
    cooling = d0ctl("report", "failures").stdout

    for path in ("prod/1/2/1", "prod/1/4/1"):
        assert d0ctl("retry", path).exit_code == 0
        site.finish(path)
    with site.store.writing():
        placement.advance(site.store, now=time.time() + 1e6)
    site.fail("prod/1/1/1", reason="stage-in")
    again = d0ctl("report", "failures").stdout

    assert cooling.startswith("4 failures of 4 packages, 1 failed now, 3 cooling off, 0 tried ")
    assert again.startswith("5 failures of 4 packages, 0 failed now, 1 cooling off, 1 tried ")


def test_the_end_of_a_long_message_is_shown(d0ctl: Type, site: Site) -> None:
    site.submit(job(("a", [line(package("x"))])))
    cause = f"{'/a/long/folder' * 9}/1.sh: line 1: pythn: command not found"
    site.fail("prod/1/1/1", detail=cause)

    answer = d0ctl("report", "failures").stdout

    assert "/1.sh: line 1: pythn: command not found\n" in answer
