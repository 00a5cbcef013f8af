"""Which packages are shown as a list instead of the tree, and in which order."""

from array import array
from collections.abc import Mapping, Sequence

from msgspec import Struct

from d0ctl import select
from d0ctl.errors import NotFound
from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, outline, search
from d0ctl.store.views.finding import package_order, wide_search
from d0ctl_tui.read import stragglers

NeedingPhases = Mapping[int, Sequence[Phase]]
"""The phases in which packages need a person, by job."""


class PackageFilter(Struct, frozen=True):
    """A filter by its kind and what it says, of one job or of all that are listed.

    The kind is `person` (needs one), `straggler`, `state`, `path`, `reason`, `message`, `package`
    (a name in a stage `JOB/STAGE`), `ran on` (a node) or `found` (these packages).
    """

    kind: str
    text: str = ""
    job: str = ""
    order: str = "path"
    reverse: bool = False
    packages: tuple[int, ...] = ()
    """The packages of a message that a search has found."""

    @property
    def name(self) -> str:
        """What it shows, in words."""
        return (
            "needs a person"
            if self.kind == "person"
            else "stragglers"
            if self.kind == "straggler"
            else f"ran on {self.text}"
            if self.kind == "ran on"
            else self.text
        )

    @property
    def phases(self) -> list[Phase]:
        """The phases of a filter by state: a phase, or all of a status."""
        if self.text in set(Status):
            return [phase for phase in Phase if STATUS_OF[phase] == self.text]
        return [Phase(self.text)]

    @property
    def is_sorted(self) -> bool:
        """Whether the packages are in another order than that of their paths."""
        return self.order != "path" or self.reverse

    def selector(self, is_every_job: bool) -> Selector | None:
        """Return it as a selector; None if there is none for it."""
        if self.kind == "path":
            return select.parse(self.text)
        if self.kind == "state" and (self.job or is_every_job):
            return Selector(self.job or "*", states=(self.text,))
        return None

    def ids(
        self, store: Store, jobs: Sequence[int], needing: NeedingPhases, now: float
    ) -> "array[int]":
        """Return the packages, of these jobs if it is not of one; many are in order of paths."""
        try:
            found = self._found(store, jobs, needing, now)
        except NotFound:  # the filter of a saved view
            return array("q")
        if not self.is_sorted or len(found) > package_order.MOST_SORTED:
            return found
        return package_order.ordered(store, found, self.order, now, reverse=self.reverse)

    def _found(
        self, store: Store, jobs: Sequence[int], needing: NeedingPhases, now: float
    ) -> "array[int]":
        match self.kind:
            case "person":
                jobs = self._jobs(store, jobs)
                needy = {*stragglers.read(store, now).ids(jobs)}
                for id in jobs:
                    phases = needing.get(id, ())
                    needy.update(outline.in_phases(store, [id], phases, acknowledged=False))
                return array("q", sorted(needy))
            case "straggler":
                late = stragglers.read(store, now)
                return array("q", sorted(late.ids(self._jobs(store, jobs))))
            case "state":
                return outline.in_phases(store, self._jobs(store, jobs), self.phases)
            case "reason":
                return array("q", search.failed_for(store, self.text))
            case "message":
                return array("q", search.failed_saying(store, self.text))
            case "ran on":
                return array("q", wide_search.ran_on(store, self.text))
            case "found":
                return array("q", sorted(set(self.packages)))
            case "package":
                job, _, number = self.job.rpartition("/")
                return array("q", search.named(store, job, int(number), self.text))
        return outline.selected(store, select.parse(self.text), now)

    def _jobs(self, store: Store, jobs: Sequence[int]) -> Sequence[int]:
        if not self.job:
            return jobs
        return [browse.job(store, self.job).id]
