"""A package to explain, and the texts that all its phases share."""

from collections.abc import Sequence

from msgspec import Struct

from d0ctl.model import Phase
from d0ctl.show.why.common import Explanation, kept_back, line_name, unreadable_log
from d0ctl.show.why.stopped_job import RETRY_RELEASES
from d0ctl.store.connection import Store
from d0ctl.store.views import one_package
from d0ctl.store.views.shapes import JobSummary
from d0ctl.store.views.shapes.of_package import AttemptView, EventView, PackageView
from d0ctl.units import moment

NO_NODE = "no node can take it"
"""Why a package is ready that no node takes now, and none will by itself."""


class Subject(Struct, frozen=True):
    """A package to explain, and the explanation to fill."""

    store: Store
    package: PackageView
    job: JobSummary
    explanation: Explanation
    now: float
    beside: Sequence[int] = ()
    """Other packages that are explained by it: their causes are named with its own."""

    @property
    def name(self) -> str:
        """Its name in a sentence."""
        package = self.package
        return f"package `{package.path}`{line_name(package.line_name)}"

    def fact(self, text: str) -> None:
        """Add a fact to the explanation."""
        self.explanation.facts.append(text)

    def command(self, text: str) -> None:
        """Add a command to the explanation."""
        self.explanation.commands.append(text)

    def last_action(self) -> EventView | None:
        """Return the last change that a person made to it, but no drop that was undone."""
        return next((event for event in reversed(self._changes()) if event.actor), None)

    def last_end(self) -> EventView | None:
        """Return the change by which a person ended it; None if d0ctl did that itself."""
        events = self._changes()
        ends = [event for event in events if event.new == self.package.phase]
        if ends and ends[-1].old == Phase.KILLING:
            return self.last_action()
        return ends[-1] if ends and ends[-1].actor else None

    def _changes(self) -> list[EventView]:
        """Return its changes, without drops that were undone."""
        events = one_package.events(self.store, self.package.id)
        if events and events[-1].old == Phase.DROPPED:
            return [event for event in events if Phase.DROPPED not in (event.old, event.new)]
        return events

    def since(self) -> str:
        """Return when it last changed."""
        return moment(self.package.changed, self.now)


def job_hold(subject: Subject) -> None:
    """Say why its whole job starts no packages, if that is so."""
    if why := kept_back(subject.job, subject.now):
        subject.fact(why[0])
        continue_job(subject, why[1])


def suggest_log(subject: Subject, last: AttemptView) -> None:
    """Suggest to look at the log of its last attempt; say so if the node that has it is away."""
    if why := unreadable_log(subject.store, last.node_name):
        subject.fact(why)
    else:
        subject.command(f"d0ctl logs {subject.package.path}")


def continue_job(subject: Subject, usual: str) -> None:
    """Suggest the usual command that lets its job go on; a retry if d0ctl holds it for failures.

    A release alone would start more packages that fail. If a plain retry would be refused, the
    explanation of the job has the one that is not.
    """
    job = subject.job
    if job.is_held_by_d0ctl and job.counts.get("failed"):
        subject.fact(RETRY_RELEASES)
        subject.command(f"d0ctl why {job.name}")
        if _may_retry(subject):
            subject.command(f"d0ctl retry '{job.name}:failed'")
    else:
        subject.command(usual)


def _may_retry(subject: Subject) -> bool:
    """Return whether a plain retry is not refused for all failed packages of its job."""
    from d0ctl.select import parse
    from d0ctl.store.jobs.retry import at_a_limit, without_inputs
    from d0ctl.store.views import selection

    job = subject.job
    failed = selection.choose(subject.store, parse(f"{job.name}:failed"), now=subject.now)
    refused = at_a_limit(failed, None, None, [job.id]).keys() | without_inputs(failed).keys()
    return len(refused) < job.counts["failed"]
