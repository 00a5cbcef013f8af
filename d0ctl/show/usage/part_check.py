"""The line of `status SELECTOR --check`, and whether a person is needed."""

from d0ctl.model import Group, by_status
from d0ctl.show import outcome
from d0ctl.show.drawing import signs
from d0ctl.store.views.awaited import Awaited
from d0ctl.units import count


def in_one_line(name: str, part: Awaited, *, state: str, stops: bool, stragglers: int = 0) -> str:
    """Say in one line how a job or a part of it is."""
    totals = by_status(part.counts)
    done = f"{count(totals['successful'])} of {count(sum(part.counts.values()), 'package')} done"
    known = part.acknowledged
    failed = f", {outcome.failures(totals['failed'], known)}" if totals["failed"] else ""
    stands = " and stands still" if stops else ""
    late = f", {count(stragglers, 'straggler')}" if stragglers else ""
    is_old = name == part.job.name and part.job.is_outdated
    old = f", {signs.SOME_OUTDATED}" if is_old else ""
    return f"`{name}` {outcome.stays(state, part.counts)}{stands}: {done}{failed}{late}{old}"


def fails(part: Awaited) -> bool:
    """Return whether failures of a part, or those that block it, need a person."""
    if failed := by_status(part.counts)["failed"]:
        return failed > part.acknowledged
    are_known = 0 < part.job.acknowledged >= part.job.counts.get("failed", 0)
    return part.state in (Group.FAILED, Group.CANCELED) and not are_known
