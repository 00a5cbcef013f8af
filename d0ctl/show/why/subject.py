"""A package that is to be explained, and what all its phases have in common."""

from dataclasses import dataclass

from d0ctl.show.why.common import Explanation, kept_back, line_name
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import EventView, JobSummary, PackageView
from d0ctl.units import moment


@dataclass(frozen=True, slots=True)
class Case:
    """A package to explain, and the explanation to fill."""

    store: Store
    package: PackageView
    job: JobSummary
    told: Explanation
    now: float

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        one = self.package
        return f"package `{one.path}`{line_name(one.line_name)}"

    def last_deed(self) -> EventView | None:
        """The last change that a person made to it."""
        events = browse.events(self.store, self.package.id)
        return next((event for event in reversed(events) if event.actor), None)

    def since(self) -> str:
        """When it last changed."""
        return moment(self.package.changed, self.now)


def job_hold(case: Case) -> None:
    """Say what keeps its whole job back."""
    if why := kept_back(case.job, case.now):
        case.told.facts.append(why[0])
        case.told.commands.append(why[1])
