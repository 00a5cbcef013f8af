"""Selections that an action on whole lines takes."""

import shlex
from collections.abc import Iterator

from d0ctl.actions import undo
from d0ctl.errors import BadUsage
from d0ctl.select import Selector
from d0ctl.store.jobs.retry import Listed
from d0ctl.units import count

LINE_DEPTH = 3
"""The levels of a selector of lines: JOB/STAGE/LINE."""


def check_level(target: Selector, verb: str, option: str = "") -> None:
    """Raise BadUsage for a selection of anything but lines, for which an action is."""
    if target.level != "line":
        line = target.brief.rpartition("/")[0] if target.level == "package" else ""
        form = f"a line reads JOB/STAGE/LINE: d0ctl status {shlex.quote(target.job)}"
        hint = f"d0ctl {verb} {shlex.quote(line)}{option}" if line and target.is_one else form
        is_safe = bool(target.states) or verb == "restore-line"
        if is_safe and not target.also and target.depth < LINE_DEPTH:
            stages = target.path if target.depth > 1 else f"{target.job}/*"
            lines = f"{stages}/*" + (f":{','.join(target.states)}" if target.states else "")
            hint = f"d0ctl {verb} {shlex.quote(lines)}{option}"
        raise BadUsage(f"`{target.brief}` does not name a line", hint=hint)


def needing_elsewhere(found: Listed, behind: Listed) -> Iterator[str]:
    """Say which lines of other jobs need dropped files, and which may; what an update of the job of
    the latter says.
    """
    if found.number:
        need = count(found.number, "line of other jobs needs", "lines of other jobs need")
        more = " ..." if found.number > len(found.first) else ""
        command = shlex.join(["d0ctl", "kill-line", *found.first])
        yield f"{need} these files, and must be dropped first: {command}{more} --drop-outputs"
    if behind.number:
        jobs = dict.fromkeys(path.partition("/")[0] for path in behind.first)
        plans = " && ".join(undo.command("update", [job], "--dry-run") for job in jobs)
        yield f"{count(behind.number, 'line')} of other jobs may need these files: {plans}"
