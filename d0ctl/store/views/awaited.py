"""The selection that `wait` waits for: each job, the selected part of it, and its standing."""

import shlex
import time
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import DatabaseUnavailable
from d0ctl.model import Counts, Group, Phase, roll_up
from d0ctl.schedule.node_state import NodeState
from d0ctl.schedule.standstill import UNDRIVEN, Cause, Standing, Work, alone, until
from d0ctl.select import Selector, union
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.nodes.site import copied_home, refuse_superseded
from d0ctl.store.nodes.standstill import JobStanding, job_standing, next_try, node_views, of_job
from d0ctl.store.views import browse, selection
from d0ctl.store.views.selection import located
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import duration

NO_DAEMON_S = 60.0
"""How long to wait without a daemon: the service starts again 30 s after a crash."""


class Awaited(Struct, frozen=True):
    """A selected job, the counts of the selected part of it, its standing, and its name.

    Of its failures, `acknowledged` ones need nobody. The name is that of the job if several parts
    of it are selected.
    """

    job: JobSummary
    counts: Counts
    found: JobStanding
    name: str
    acknowledged: int

    @property
    def status(self) -> Group:
        """The status of the selected part."""
        if self.counts is self.job.counts:
            return self.job.status
        return roll_up(self.counts, blocked=self.job.blocked)

    @property
    def state(self) -> str:
        """The word for its standing."""
        status, standing = self.status, self.found.standing
        is_paused = self.job.pause_until is not None and not standing.moves
        is_stopped = standing.is_settled or is_paused
        if status not in (Group.SUBMITTED, Group.RUNNING) or not is_stopped:
            return status
        if self.job.hold or self.job.pause:
            return "held" if self.job.hold else "paused"
        return "held" if standing.cause is Cause.HELD else status


def read(
    store: Store, wanted: Selector, now: float, *, driven: bool | None = True
) -> list[Awaited]:
    """Return each selected job, with the counts of the selected part, and its standing.

    By default, that is as if the jobs were driven.
    """
    awaited: list[Awaited] = []
    for job, parts in _by_job(store, wanted).items():
        summary = browse.job(store, job)
        if any(part.depth == 1 and not part.is_filtered for part in parts):
            standing = job_standing(store, summary.id, now=now, driven=driven)
            awaited.append(Awaited(summary, summary.counts, standing, job, summary.acknowledged))
        else:
            name = job if len(parts) > 1 else str(parts[0])
            awaited.append(_part(store, summary, union(parts), name, now, driven=driven))
    return awaited


def _by_job(store: Store, wanted: Selector) -> dict[str, list[Selector]]:
    """Return the selected part of each job, by its name. Raises NotFound."""
    selectors: dict[str, list[Selector]] = {}
    for part in located(store, wanted).parts:
        jobs = browse.jobs(store, part.job)
        if not jobs:
            raise browse.no_such_job(store, part.job)
        for job in jobs:
            selectors.setdefault(job.name, []).append(replace(part, job=job.name))
    return selectors


def _part(
    store: Store, job: JobSummary, wanted: Selector, name: str, now: float, *, driven: bool | None
) -> Awaited:
    if wanted.level == "stage" and wanted.is_one:
        stage = browse.stage(store, job, wanted)
        found = _standing(store, job.id, stage.counts, stage.id, now=now, driven=driven)
        return Awaited(job, stage.counts, found, name, stage.acknowledged)
    selected = selection.choose(store, wanted, now=now)
    counts = lifecycle.phases(selected)
    found = _standing(store, job.id, counts, selected, now=now, driven=driven)
    known = selection.acknowledged(selected) if job.acknowledged else 0
    return Awaited(job, counts, found, name, known)


def _standing(
    store: Store,
    job: int,
    counts: Counts,
    part: int | Selection,
    *,
    now: float,
    driven: bool | None,
) -> JobStanding:
    """Return the standing of a part with these counts: a stage, or selected packages."""
    views = node_views(store, now=now)
    whole = of_job(store, job, views, driven=driven)
    requirements = whole.work.requirements
    if isinstance(part, Selection):
        ready = {row["id"]: row["n"] for row in part.rows("ready_selected")}
        requirements = [replace(requirement, ready=ready[requirement.id])
                        for requirement in requirements if requirement.id in ready]  # fmt: skip
    else:
        requirements = [requirement for requirement in requirements if requirement.stage == part]
    nodes, behind = [view.node for view in views], 0
    if whole.work.behind:
        from d0ctl.store.nodes import placement  # late: few jobs have any

        behind = placement.queued_behind(store, job, part, nodes)
    work = replace(whole.work, counts=counts, requirements=requirements, awaiting={}, outside=None,
                   behind=behind)  # fmt: skip
    own = of_part(work, whole.standing, nodes, driven=whole.standing.cause not in UNDRIVEN)
    if own.cause is Cause.NO_DAEMON:
        own = replace(own, cause=whole.standing.cause)
    if own is whole.standing:
        return whole
    first = next_try(store, job, part) if own.cause is Cause.NEXT_TRY else None
    if own.cause is Cause.NEXT_TRY and first is None:  # the policy releases only others
        own = replace(own, cause=Cause.HELD)
    own = own if first is None else until(first, own)
    return replace(whole, work=work, standing=own, next_try=first)


def of_part(part: Work, whole: Standing, nodes: Sequence[NodeState], *, driven: bool) -> Standing:
    """Decide whether a part of a job moves, from the standing of the whole job.

    Packages of the part that wait for files may get them as long as anything in the job moves, and
    those that wait for space in caches may have it then.
    """
    own = alone(part, nodes, driven=driven)
    if not own.is_settled:
        return whole if whole.is_settled else own
    if own.cause is Cause.NO_SPACE and not whole.is_settled:
        return whole
    if not part.counts.get(Phase.WAITING) or (whole.is_settled and own.stands_still):
        return own
    return whole


class DaemonWatch:
    """Watches whether any process drives packages during a wait."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.missing_since: float | None = None

    def check(self) -> bool:
        """Return whether any does."""
        if any_driver(self.store):
            self.missing_since = None
        elif self.missing_since is None:
            self.missing_since = time.monotonic()
        return self.missing_since is None

    def give_up(self, name: str, state: str = "has not ended") -> None:
        """Raise DatabaseUnavailable if none has for `NO_DAEMON_S`, and Refused at once if a copy of
        the home has taken over from it.
        """
        since = self.missing_since
        if since is not None:
            refuse_superseded(self.store.home)
        if since is not None and time.monotonic() - since >= NO_DAEMON_S:
            raise DatabaseUnavailable(
                f"`{name}` {state}, and no daemon has been running for {duration(NO_DAEMON_S)}",
                hint=_way_on(self.store),
            )


def _way_on(store: Store) -> str:
    """Return what helps without a daemon: not to start one in a copy of a home that is in use."""
    copied = copied_home(store)
    if copied is None or not copied.is_there:
        return "d0ctl daemon start"
    return shlex.join(["d0ctl", "--home", str(copied.root), "status"])


def some_can_start(store: Store, job: int) -> bool:
    """Return whether a ready package of a job does not wait for nodes that are down."""
    return store.value("some_can_start", job=job) is not None
