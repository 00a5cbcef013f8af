"""Jobs that ended long ago go to an archive; the daemon does it."""

import json
import logging
import time

import pytest

from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.steps.retention import EVERY_S, archive_ended
from d0ctl.daemon.turn import Turn
from d0ctl.store.jobs.archive import archives
from d0ctl.store.views import browse
from tests.support import rows
from tests.support.building import production
from tests.support.site import Site
from tests.support.waiting import wait_until

DAY = 86400.0


def turn(desk: Desk, now: float) -> None:
    """One turn of the loop, with what follows it."""
    taken = Turn(now)
    with desk.store.writing():
        archive_ended(desk, taken)
    for action in taken.afterwards:
        action()


def settle(desk: Desk, now: float) -> None:
    """Turns until no archive is being written."""
    turn(desk, now)
    if desk.archiver.process is not None:
        wait_until(lambda: desk.archiver.process.poll() is not None)  # type: ignore[union-attr]
        turn(desk, now)


def ended(desk: Desk, name: str, days: float) -> None:
    """A job that ended some days ago."""
    site = Site.of(desk.store)
    site.submit(production(name))
    rows.change(
        desk.store, "package", {"job_id": browse.job(desk.store, name).id}, phase="canceled"
    )
    rows.change(desk.store, "job", {"name": name}, ended=time.time() - days * DAY)


def keep_for(desk: Desk, seconds: float) -> None:
    """The site says after which time jobs are archived."""
    rows.delete(desk.store, "setting", name="defaults")
    value = json.dumps({"archive-after": seconds})
    rows.insert(desk.store, "setting", name="defaults", value=value)


def test_a_job_that_ended_long_ago_is_archived_once_and_others_stay(
    desk: Desk, home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    ended(desk, "old", 40)
    ended(desk, "young", 20)
    now = time.time()
    settle(desk, now)
    assert list(archives(home)) == []

    keep_for(desk, 30 * DAY)
    settle(desk, now)

    assert [archive.jobs for archive in archives(home)] == [("old",)]
    assert [job.name for job in browse.jobs(desk.store, "*")] == ["young"]
    assert "archive-after: moved job `old` to archive" in caplog.text
    assert rows.value(desk.store, "action", "note", verb="archive") == "archive-after: 30d"


def test_archiving_is_repeated_after_a_day_or_a_change_of_the_site(desk: Desk, home: Home) -> None:
    now = time.time()
    keep_for(desk, 30 * DAY)
    settle(desk, now)
    ended(desk, "old", 40)

    settle(desk, now + 60)
    assert list(archives(home)) == []

    settle(desk, now + EVERY_S)
    assert [archive.jobs for archive in archives(home)] == [("old",)]

    ended(desk, "young", 20)
    keep_for(desk, 10 * DAY)
    settle(desk, now + EVERY_S + 1)
    assert sorted(archive.jobs for archive in archives(home)) == [("old",), ("young",)]


def test_an_archive_that_can_not_be_written_is_logged(
    desk: Desk, home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    ended(desk, "old", 40)
    keep_for(desk, 30 * DAY)
    home.archives.write_text("not a folder")

    settle(desk, time.time())

    assert "archiving ended jobs failed: d0ctl: can't use" in caplog.text
    assert [job.name for job in browse.jobs(desk.store, "*")] == ["old"]
