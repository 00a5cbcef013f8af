"""Attempts that ended while no daemon ran, or while their node was unreachable."""

import time
from datetime import datetime

from tests.cli.conftest import Type
from tests.support.jobs import binary, job, package, simple
from tests.support.messages import end_message, output
from tests.support.rows import change
from tests.support.site import Site

LATE_S = 45.0
"""How long before it was recorded an attempt ended."""


def end_late(site: Site, path: str, outcome: str = "successful", **more: object) -> str:
    """A package of 3 s ends, and this is recorded later; return the time of its end."""
    attempt, ended = site.launch(path), time.time() - LATE_S
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, started=ended - 3)
    site.end(path, outcome, started=ended - 3, ended=ended, utc_offset=None, **more)
    return datetime.fromtimestamp(ended).strftime("%H:%M:%S")


def test_a_package_ended_when_its_wrapper_says_and_not_when_that_was_recorded(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job("prod", [package(binary()), package(binary())]))
    done = end_late(site, "prod/1/1/1")
    failed = end_late(site, "prod/1/2/1", "failed", reason="exit-code", exit_code=3)

    assert f"is successful: it ended {done} in 3.0 s on `localhost`" in said(
        d0ctl("why", "prod/1/1/1").stdout
    )
    assert f"successful on localhost since {done}" in said(d0ctl("status", "prod/1/1/1").stdout)
    assert f"successful on localhost since {done}" in said(d0ctl("status", "prod/1/1/1/1").stdout)
    assert f"on node `localhost`, {failed}" in said(d0ctl("why", "prod/1/2/1").stdout)
    assert f"failed on localhost since {failed}" in said(d0ctl("status", "prod/1/2/1").stdout)


def test_the_changes_of_a_package_say_that_they_have_the_times_of_their_records(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job("prod", [package(binary())]))
    ended = end_late(site, "prod/1/1/1", "failed", reason="exit-code", exit_code=3)

    changes, _, failures = d0ctl("history", "prod/1/1/1").stdout.partition("\nfailures\n")
    assert "every change when it was recorded" in said(changes)
    assert ended not in changes
    assert f"{ended} prod/1/1/1 attempt 1 on localhost: exit-code" in said(failures)


def test_a_package_that_a_person_set_successful_is_so_since_then(site: Site, d0ctl: Type) -> None:
    site.submit(job("prod", [package(binary())]))
    ended = end_late(site, "prod/1/1/1", "failed", reason="exit-code", exit_code=3)
    d0ctl("set-status", "prod/1/1/1", "successful", "--yes")

    assert "successful on localhost" in said(d0ctl("status", "prod/1/1/1").stdout)
    assert f"since {ended}" not in said(d0ctl("status", "prod/1/1/1").stdout)
    assert f"it ended {ended} in 3.0 s" in said(d0ctl("why", "prod/1/1/1").stdout)


def test_a_package_whose_results_are_being_copied_grows_no_older(site: Site, d0ctl: Type) -> None:
    site.submit(job("prod", [simple(outputs=["f"])]))
    attempt, ended = site.launch("prod/1/1/1"), time.time() - LATE_S
    message = end_message(attempt, outputs=[output("/c", "f")])
    site.tell({**message, "started": ended - 3, "ended": ended, "utc_offset": None})

    assert "transferring localhost 3.0 s" in said(d0ctl("status", "prod/1/1").stdout)
    assert "localhost 3.0 s" in said(d0ctl("status", "prod/*/*/*").stdout)


def said(text: str) -> str:
    """Return a text without line breaks and columns."""
    return " ".join(text.split())
