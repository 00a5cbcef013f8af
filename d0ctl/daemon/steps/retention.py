"""Archiving once a day of jobs that ended long ago."""

import logging
import subprocess
import sys

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import Archiver
from d0ctl.daemon.turn import Turn
from d0ctl.store.nodes.site import default
from d0ctl.store.views import browse
from d0ctl.units import clean, format_time

log = logging.getLogger(__name__)

EVERY_S = 86400.0
"""How often to check for jobs that ended long enough ago."""

AS = "archive-after"
"""The key of the site file with this age, and the recorded reason."""


def archive_ended(desk: Desk, turn: Turn) -> None:
    """Archive jobs older than the site's limit: at the start, then once a day.

    `d0ctl archive` does it in a process of its own, however long it takes.
    """
    archiver = desk.archiver
    if archiver.process is not None:
        if archiver.process.poll() is not None:
            turn.after(_report_end, archiver)
        return
    age = default(desk.store, AS)
    if desk.job is not None or age is None:
        return
    if age == archiver.age and archiver.begun <= turn.now < archiver.begun + EVERY_S:
        return
    archiver.age, archiver.begun = age, turn.now
    if any(job.ended and job.ended <= turn.now - age for job in browse.jobs(desk.store, "*")):
        turn.after(_begin, desk)


def _begin(desk: Desk) -> None:
    age = format_time(desk.archiver.age or 0.0)
    command = ["--home", str(desk.home.root), "archive", "*", "--ended", age, "--yes",
             "--reason", f"{AS}: {age}"]  # fmt: skip
    desk.archiver.process = subprocess.Popen(
        [sys.executable, "-m", "d0ctl", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True, cwd="/",
    )  # fmt: skip


def _report_end(archiver: Archiver) -> None:
    process, archiver.process = archiver.process, None
    if process is None:
        return
    said, _ = process.communicate()
    first = clean(said.partition("\n")[0])
    if process.returncode:
        log.warning("archiving ended jobs failed: %s", first)
    else:
        log.info("%s: %s", AS, first)
