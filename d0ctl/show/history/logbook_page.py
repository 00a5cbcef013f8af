"""The page of `history` without a selector: actions, ends and failures, as text for a logbook."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.model import Phase
from d0ctl.select import brief
from d0ctl.show.drawing.remark_texts import outage_cause, outage_times, remark
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.drawing.signs import acknowledged, group_name, role
from d0ctl.show.history.spent_values import without_spent
from d0ctl.show.history.undo_commands import PastAction, action_reasons
from d0ctl.show.lists import cause, last_of
from d0ctl.store.connection import Store
from d0ctl.store.history import logbook, notable
from d0ctl.store.history.logbook import JobFailures
from d0ctl.store.history.notable import Notable
from d0ctl.store.nodes import draining
from d0ctl.store.nodes.draining import Outage
from d0ctl.store.views.shapes import ActionView
from d0ctl.units import count, moment

NO_ACTIONS = "no actions"
NO_FAILURES = "no failures"

MOST_TARGETS = 20
"""How many parts of the selection of an action are listed."""

MOST_FAILURES = 10_000
"""How many groups of failures are read."""

MOST_OUTAGES = 50
"""How many outages are drawn, the latest ones."""

LATE_S = 60.0
"""An end that was recorded later than this is shown with both times."""


class Logbook(Struct, frozen=True):
    """What happened in a period, the latest of each kind first."""

    actions: Sequence[ActionView] = ()
    ended: Sequence[Notable] = ()
    failures: Sequence[JobFailures] = ()
    outages: Sequence[Outage] = ()

    def with_jobs(self, other: "Logbook", most: int) -> "Logbook":
        """Return it with the ends of up to `most` jobs, and the failures, of another database."""
        ended = sorted((*self.ended, *other.ended), key=lambda job: job.at, reverse=True)
        failures = sorted((*self.failures, *other.failures), key=_recorded, reverse=True)
        return replace(self, ended=ended[:most], failures=failures)


def _recorded(failure: JobFailures) -> float:
    return failure.recorded


def read(store: Store, since: float, now: float, most: int, node: str | None = None) -> Logbook:
    """Read up to `most` entries of each kind, and of actions one more; perhaps only of a node."""
    return replace(
        read_jobs(store, since, now, most, node),
        actions=without_spent(store, logbook.actions(store, since, most + 1, node=node)),
        outages=draining.outages(store, since, most, node=node),
    )


def read_jobs(store: Store, since: float, now: float, most: int, node: str | None) -> Logbook:
    """Read the ends and failures of jobs alone, as of an archive."""
    return Logbook(
        ended=[] if node else notable.ended_jobs(store, since, most, until=now),
        failures=logbook.failures(store, since, MOST_FAILURES, node=node),
    )


def draw(sheet: Sheet, found: Logbook, now: float, most: int) -> None:
    """Draw up to `most` actions in the order in which they were done, ends, outages, failures."""
    actions, outages = found.actions, found.outages[:MOST_OUTAGES]
    sheet.head("actions of people and of d0ctl")
    if not actions:
        sheet.say(NO_ACTIONS)
    elif len(actions) > most:
        sheet.add(("  earlier ones are left out: --json prints them", "faint"))
    reasons = action_reasons(
        PastAction(action.verb, action.target, remark(action.note),
                   None if sheet.archive else action.undo, action.packages)
        for action in actions
    )  # fmt: skip
    shown = zip(actions[:most], reasons, strict=False)
    sheet.table([_action(action, reason, now) for action, reason in reversed(list(shown))])
    if found.ended:
        sheet.head("ends of jobs")
        sheet.table([_end(job, now) for job in reversed(found.ended)])
    if outages:
        sheet.head("outages of nodes")
        sheet.table([_outage(outage, now) for outage in reversed(outages)])
    sheet.head("failures by job and reason")
    if not found.failures:
        sheet.say(NO_FAILURES)
    sheet.table([_failure(failure, now) for failure in found.failures])


def parts(target: str) -> str:
    """Return the parts of the selection of an action."""
    return brief(target, MOST_TARGETS)


def _action(action: ActionView, reason: str, now: float) -> list[Cell]:
    packages = count(action.packages, "package") if action.packages else ""
    return [moment(action.at, now), action.actor, action.verb, parts(action.target), packages,
            reason]  # fmt: skip


def _end(job: Notable, now: float) -> list[Cell]:
    how = how_it_ended(job.state, job.left, job.failed, job.dropped)
    return [moment(job.at, now), (job.subject, "strong"), *how]


def how_it_ended(status: str, left: int, failed: int, dropped: int) -> list[Cell]:
    """Return the state of a job at its end, and which packages and lines it was without."""
    lacking = [f"{count(left, 'package')} did not succeed"] if left else []
    lacking += [f"without {count(dropped, 'dropped line')}"] if dropped else []
    word = group_name(status, {Phase.FAILED: failed})
    return [(word, role(word)), ", ".join(lacking)]


def _failure(failure: JobFailures, now: float) -> list[Cell]:
    where = f"on {failure.node}" if failure.nodes == 1 else f"on {count(failure.nodes, 'node')}"
    standing = f"{failure.failed:,} failed now" if failure.failed else "none failed now"
    standing += acknowledged(failure.failed, failure.acknowledged)
    if failure.failed_again:
        again = f"{failure.failed_again:,} failed again since"
        standing = f"{standing}, {again}" if failure.failed else again
    return [(failure.job, "strong"), f"{count(failure.count, 'time')} {where}",
            f"{count(failure.packages, 'package')}, {standing}",
            f"last {_last(failure, now)}",
            (_which(failure) + cause(failure.reason, failure.message), "bad")]  # fmt: skip


def _last(failure: JobFailures, now: float) -> str:
    """Say when the last one ended, and when that was recorded if its node was down then."""
    late = failure.recorded - failure.last > LATE_S
    more = f", recorded {moment(failure.recorded, now)}" if late else ""
    return moment(failure.last, now) + more


def _which(failure: JobFailures) -> str:
    """Say, before the message of a failure, that others had different ones."""
    if failure.messages > 1 and failure.failed:
        return f"{failure.messages:,} different messages, the last of a package failed now: "
    return last_of(failure.messages)


def _outage(outage: Outage, now: float) -> list[Cell]:
    return [(outage.node, "strong"), *outage_times(outage, now), (outage_cause(outage), "bad")]
