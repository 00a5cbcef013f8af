"""The rehearsal of a job: what happens, what limits it, and the gain by one more node."""

from collections.abc import Mapping, Sequence
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import Refused
from d0ctl.jobfile.spec import JobSpec
from d0ctl.schedule import critical_path
from d0ctl.schedule.rehearsal.records import Conditions, Outcome
from d0ctl.schedule.rehearsal.run import rehearse
from d0ctl.schedule.resources import NodeRoom, misfit
from d0ctl.sitefile.spec import Site
from d0ctl.store.attempts import node_record
from d0ctl.store.clusters.site_comparison import current
from d0ctl.store.connection import Store
from d0ctl.store.jobs.rehearsal.expected_failures import ExpectedFailures
from d0ctl.store.jobs.rehearsal.node_trust import NodeTrust
from d0ctl.store.jobs.rehearsal.nodes import CONTROL, nodes_of
from d0ctl.store.jobs.rehearsal.work import Work, check, seconds_of, work_of
from d0ctl.store.jobs.submission.urgency import Steps, steps_of
from d0ctl.store.nodes.catalogue import owner_of
from d0ctl.store.nodes.site import throttle_rules_of
from d0ctl.store.views.job_files import forecast


class Stage(Struct, frozen=True):
    """When the packages of a stage begin and end, in seconds from the start of the job."""

    name: str
    packages: int
    begins_s: float
    ends_s: float


class Rehearsed(Struct, frozen=True):
    """The result of a rehearsal; `chain_s` is the longest chain of packages on the fastest node,
    `work_s` all work on all CPUs, `with_one_more_s` its duration with another `model`.
    """

    job: str
    packages: int
    nodes: Sequence[NodeRoom]
    clusters: Mapping[int, str]
    outcome: Outcome
    stages: Sequence[Stage]
    chain_s: float
    work_s: float
    model: str
    with_one_more_s: float
    smooth_s: float
    """Its duration if nothing fails."""
    attempts: int
    """The number of earlier attempts whose result is known."""
    attempts_failed: int
    earlier: str | None = None
    """The job from which run times are known that the job file lacks."""

    @property
    def use(self) -> dict[str, float]:
        """The fraction of its CPU time that each node computes."""
        whole = max(self.outcome.makespan_s, 1e-9)
        return {
            node.name: self.outcome.busy_s.get(node.id, 0.0) / (node.cpus * whole)
            for node in self.nodes
        }


def rehearse_job(store: Store, spec: JobSpec, site: Site | None, *, now: float) -> Rehearsed:
    """Rehearse a job on all nodes, or on those of a site file.

    Raises Refused if run times are unknown, or if no node can take a package.
    """
    inside = current(store) if site is None else site
    nodes, clusters = nodes_of(store, site, inside, spec.originator, now)
    if not nodes:
        raise Refused("there is no node to rehearse on", hint="d0ctl rehearse FILE --site FILE")
    steps = steps_of(store, spec, None)
    earlier = forecast.run_times(store, spec.source)
    seconds = seconds_of(steps, spec, earlier.seconds)
    work = work_of(store, spec, steps, seconds)
    check(work, nodes, spec)
    model = max(nodes, key=lambda node: (node.cpus * node.speed, node.name))
    more = [*nodes, replace(model, id=_next(nodes), name="+", cluster=_next_cluster(nodes))]
    failures = ExpectedFailures(store, spec, work, inside)
    plain = _conditions(spec, inside, work)

    def run(on: Sequence[NodeRoom], *, is_lucky: bool) -> Outcome:
        conditions = plain
        if not is_lucky:
            trust = _trust(inside, work, on)
            conditions = replace(plain, fails=failures.on(on), trust=trust)
        return rehearse(on, work.requirements, work.tasks, work.files, conditions)

    outcome = run(nodes, is_lucky=False)
    has_failed = bool(outcome.retried or outcome.failed)
    smooth = run(nodes, is_lucky=True) if has_failed else outcome
    other = run(more, is_lucky=False)
    chain_s, work_s = _bounds(work, steps, outcome, nodes)
    return Rehearsed(
        spec.name, spec.packages, nodes, clusters, outcome, _stages(spec, steps, outcome),
        chain_s, work_s, model.name, other.makespan_s, smooth.makespan_s, failures.attempts,
        failures.failed, earlier.job,
    )  # fmt: skip


def _bounds(
    work: Work, steps: Steps, outcome: Outcome, nodes: Sequence[NodeRoom]
) -> tuple[float, float]:
    """Return how long the longest chain takes on the fastest node, and all work on all CPUs.

    Packages that never run take no time, and failed ones only that of their last attempt.
    """
    speeds = {node.id: node.speed for node in nodes}
    loads = {requirement.id: requirement.load for requirement in work.requirements}
    seconds = [
        (end - start) * speeds.get(node, 0.0)
        for start, end, node in zip(outcome.starts, outcome.ends, outcome.nodes, strict=True)
    ]
    chain = max(critical_path.ranks(seconds, steps.before), default=0.0)
    tasks = zip(seconds, work.tasks, strict=True)
    needed = sum(took * loads.get(task.requirement, 0) for took, task in tasks)
    return chain / max(speeds.values()), needed / sum(node.cpus * node.speed for node in nodes)


def _conditions(spec: JobSpec, site: Site, work: Work) -> Conditions:
    """Return the conditions besides failures: limits of the job file, throttles of the site."""
    limits = {n: stage.max_running for n, stage in enumerate(spec.stages, 1) if stage.max_running}
    limits |= {0: spec.max_running} if spec.max_running else {}
    originator = spec.originator
    researcher = owner_of(originator, site.settings.get("researchers") or {})
    return Conditions(
        limits=limits, throttles=throttle_rules_of(site.settings.get("throttles") or {}),
        job=spec.name, researcher=researcher,
        excused={stage: floor((1 - asked) * work.packages[stage] + 1e-9)
                 for stage, asked in work.required.items()},
    )  # fmt: skip


def _trust(site: Site, work: Work, nodes: Sequence[NodeRoom]) -> NodeTrust:
    """Return the rules of a site for nodes that fail packages."""
    fitting: dict[int, frozenset[int]] = {}
    for requirement in work.requirements:
        fits = frozenset(node.id for node in nodes if misfit(requirement, node) is None)
        fitting[requirement.stage] = fitting.get(requirement.stage, frozenset()) | fits
    black_holes = node_record.limits_of(site.settings.get("bad-nodes"))
    return NodeTrust(black_holes, node_record.exclusion_of(site.settings.get("exclusion")), fitting)


def _next(nodes: Sequence[NodeRoom]) -> int:
    return max(node.id for node in nodes) + 1


def _next_cluster(nodes: Sequence[NodeRoom]) -> int:
    return max(CONTROL, *(node.cluster for node in nodes)) + 1


def _stages(spec: JobSpec, steps: Steps, outcome: Outcome) -> list[Stage]:
    times: dict[int, list[tuple[float, float]]] = {}
    for (stage, _, _), step in steps.packages.items():
        if outcome.nodes[step]:
            times.setdefault(stage, []).append((outcome.starts[step], outcome.ends[step]))
    return [
        Stage(spec.stages[number - 1].name, len(found), min(begin for begin, _ in found),
              max(end for _, end in found))
        for number, found in times.items()
    ]  # fmt: skip
