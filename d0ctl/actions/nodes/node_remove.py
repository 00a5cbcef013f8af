"""node remove: remove a node."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec.structs import asdict

from d0ctl.actions import site_keys, wording
from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.clusters import cluster_set
from d0ctl.actions.nodes import _left_files, _together
from d0ctl.actions.option import Options, flag
from d0ctl.errors import Refused
from d0ctl.model import DIRECT, Node
from d0ctl.sitefile.spec import ClusterEntry
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.clusters import only_copies, site_changes, site_comparison
from d0ctl.store.connection import Store
from d0ctl.store.files.copies import OnlyCopies
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.fitting import Stranded, Without
from d0ctl.units import count, listed

GONE = "its node was removed as lost"
"""Why an attempt is lost whose node is gone for good."""


@dataclass(frozen=True, slots=True)
class RemoveOptions(Options):
    """Options of node remove."""

    lost: bool = flag(
        "--lost", "Remove a node that is down and has packages: they run again elsewhere."
    )
    with_settings: bool = flag(
        "--with-settings", "Forget the settings of its cluster, too, if no node is left in it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovePlan(Plan):
    """What is lost with the node."""

    attempts: tuple[int, ...] = ()
    """The attempts that count as lost."""
    only_there: OnlyCopies | None = None
    """The files that only it has; None if another node or this machine has its cache."""
    stranded: int = 0
    """How many of the packages that make these again no other node can take."""
    stranded_jobs: tuple[Stranded, ...] = ()
    """The jobs with packages that no other node can take."""
    cluster: str = ""
    settings: tuple[str, ...] = ()
    """The settings of its cluster if no other node is in it, as people write them."""
    folder: str | None = None
    """The folder on it that stays there; None if it was never in contact, or is lost."""
    site_file: str | None = None
    """The site file that had the node when it was applied last; None if none had it."""


def plan(store: Store, request: NodeRequest[RemoveOptions], now: float) -> RemovePlan:
    """Plan to remove it. Raises NotFound, or Refused while packages are launched on it.

    With `lost` they may be, but then it must be down.
    """
    row, earlier = registry.named(store, request.target.brief), _together.earlier(request)
    only_there = only_copies.of_node(store, row, earlier)
    without = Without(store, row.name, earlier=earlier, now=now)
    is_pilot = row.job not in ("", DIRECT)  # others of its batch system may come
    plan = RemovePlan(
        request=request,
        only_there=only_there,
        stranded=without.count(only_there.by_requirement) if only_there and not is_pilot else 0,
        stranded_jobs=() if is_pilot else tuple(without.jobs()),
        cluster=row.cluster,
        settings=_settings(store, row, earlier),
        folder=None if is_pilot or request.options.lost else row.base,
        site_file=site_changes.last_file(store) if row.applied else None,
    )
    if not request.options.lost:
        registry.check_unused(store, row)
        return plan
    if row.state != "down":
        hint = f"d0ctl node remove {row.name}"
        if registry.launched_on(store, row.id):
            hint = registry.way_to_empty([row]) if row.drained else f"d0ctl node drain {row.name}"
        raise Refused(f"node `{row.name}` is not down, so its packages are not lost", hint=hint)
    return replace(plan, attempts=tuple(launches.unreachable(store, row.id)))


def _settings(store: Store, row: Node, earlier: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the settings of the cluster of a node; none if another node is in it."""
    if row.cluster_id in only_copies.clusters_without(store, (*earlier, row.name)):
        return ()
    clusters = {entry.name: entry for entry in site_comparison.current(store).clusters}
    default = ClusterEntry(row.cluster)
    entry = clusters.get(row.cluster, default)
    return tuple(site_keys.written(cluster_set.KEYS, asdict(entry), asdict(default)))


def remove(store: Store, plan: RemovePlan, by: Author) -> RemovePlan:
    """Count its packages as lost, and forget the node; files that only it had are lost."""
    name = plan.request.target.brief
    row = registry.named(store, name)
    settings = _settings(store, row)
    messages.fail(store, row.id, plan.attempts, reason="lost", message=GONE, now=by.now)
    if settings and plan.request.options.with_settings:
        site_changes.keep_cluster(store, ClusterEntry(row.cluster), applied=False)
    registry.forget(store, name, now=by.now, is_lost=plan.request.options.lost)
    return replace(plan, settings=settings)


def describe(plan: RemovePlan) -> Iterator[str]:
    """Say what would be lost."""
    name = plan.request.target.brief
    then = "then " if _together.earlier(plan.request) else ""
    yield f"would remove `{name}`: {then}{_left_files.described(plan.only_there)}"
    yield from _left_files.makers(plan.only_there, plan.stranded, "would run")
    yield from _left_files.retained(plan.only_there, can_save=not plan.request.options.lost)
    if plan.attempts:
        packages = count(len(plan.attempts), "package")
        yield f"{packages} there would count as lost and run again elsewhere: is it switched off?"
    yield from _jobs(plan, "would stand still")
    if plan.folder:
        yield (f"logs of attempts would stay there in {plan.folder}; d0ctl reads them again "
               "once the node is added again")  # fmt: skip
    if plan.settings and plan.request.options.with_settings:
        yield f"would forget the settings of cluster `{plan.cluster}`: {listed(plan.settings)}"
    elif plan.settings:
        yield _keeping(plan)


def report(plan: RemovePlan) -> Iterator[str]:
    """Say what was lost."""
    lost = count(len(plan.attempts), "package")
    runs = f": {lost} there counted as lost, to run again elsewhere" if plan.attempts else ""
    yield f"removed `{plan.request.target.brief}`{runs}"
    if plan.only_there and plan.only_there.files:
        yield _left_files.described(plan.only_there, is_removed=True)
        yield from _left_files.makers(plan.only_there, plan.stranded, "will run")
        yield from _left_files.retained(plan.only_there, "lost")
    yield from _jobs(plan, "stands still", "stand still")
    if plan.settings and plan.request.options.with_settings:
        yield f"forgot the settings of cluster `{plan.cluster}`: {listed(plan.settings)}"
    elif plan.settings:
        yield _keeping(plan)
    if plan.site_file:
        yield (f"site file `{plan.site_file}` had `{plan.request.target.brief}` when it was last "
               "applied: delete it there, or the next `site apply` adds it again")  # fmt: skip
    if plan.folder:
        yield (f"its folder {plan.folder} stays there until you delete it; if it has logs of "
               "attempts, d0ctl reads them again once the node is added again")  # fmt: skip


def _jobs(plan: RemovePlan, *stand_still: str) -> Iterator[str]:
    """Say which packages that have not ended only the node can take."""
    for job in plan.stranded_jobs[: wording.MOST_NAMED]:
        stands = stand_still[0] if job.packages == 1 else stand_still[-1]
        them = "it" if job.packages == 1 else "them"
        packages = count(job.packages, "package")
        yield f"{packages} of job `{job.job}` {stands}: no other node can take {them}"
    if (more := len(plan.stranded_jobs) - wording.MOST_NAMED) > 0:
        yield f"and packages of {count(more, 'more job')} likewise"


def _keeping(plan: RemovePlan) -> str:
    return (f"cluster `{plan.cluster}` keeps its settings without a node: {listed(plan.settings)} "
            "(--with-settings forgets them)")  # fmt: skip


ACTION = Action(
    name="node remove",
    help="Remove nodes; their only copies of files are made again.",
    example="farm02 farm03",
    past="removed",
    options=RemoveOptions,
    prepare=_together.together,
    plan=plan,
    act=remove,
    describe=describe,
    report=report,
    level="node",
    several=True,
    question="remove it?",
    destroys=True,
    key="X",
    title="remove: a node",
)
