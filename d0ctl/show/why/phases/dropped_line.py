"""When a line is worth dropping, and how a dropped one comes back."""

from d0ctl.model import Phase
from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Store
from d0ctl.store.jobs import restore_line
from d0ctl.store.views import names
from d0ctl.store.views.left_out import REMOVED
from d0ctl.units import moment


def is_of_use(store: Store, package: str) -> bool:
    """Return whether other lines of its stage remain if the line of a package is dropped."""
    job, stage, *_ = package.split("/")
    return names.lines(store, job, int(stage)) > 1


def add(
    store: Store, explanation: Explanation, line_id: int, path: str, named: int, now: float
) -> None:
    """Add the command that restores a line; if it is refused, why, and what to do first."""
    if named == REMOVED:
        explanation.facts.append("`update` removed the line: the job file does not have it")
    restore = f"d0ctl restore-line {path}"
    reader = restore_line.line_launched_without(store, line_id)
    if reader is None:
        explanation.commands.append(restore)
        return
    at = f" at {moment(reader['launched'], now)}" if reader["launched"] is not None else ""
    explanation.facts.append(
        f"`{reader['path']}` was launched without its files{at}, so it can't be restored now"
    )
    if reader["phase"] == Phase.DONE:
        again = f"d0ctl set-status {reader['path']} unscheduled"
        explanation.facts.append(
            f"`{again}` runs that package again; before it starts, `{restore}` is possible"
        )
        explanation.commands.append(again)
