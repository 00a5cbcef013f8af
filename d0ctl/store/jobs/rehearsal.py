"""What a rehearsal needs: the packages of a job that is not submitted, and the nodes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.errors import Refused
from d0ctl.jobfile.spec import InputSpec, JobSpec, PackageSpec
from d0ctl.schedule import critical_path
from d0ctl.schedule.rehearsal import File, Outcome, Task, rehearse
from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.sitefile.spec import Site
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.urgency import Steps, steps_of, urgency
from d0ctl.store.nodes.catalogue import Catalogue, barred
from d0ctl.store.nodes.fitting import space, wants
from d0ctl.store.nodes.site import current
from d0ctl.store.nodes.standstill import node_views
from d0ctl.store.views.job_files import forecast
from d0ctl.units import listed

CONTROL = 1
"""The cluster of this machine, where inputs from outside are."""


class Stage(Struct, frozen=True):
    """When the packages of a stage begin and end, in seconds from the begin of the job."""

    name: str
    packages: int
    begins_s: float
    ends_s: float


class Rehearsed(Struct, frozen=True):
    """What a rehearsal found; `chain_s` is the longest chain of packages on the fastest node,
    `work_s` all work on all CPUs, `with_one_more` how long it takes with another `model`.
    """

    job: str
    packages: int
    nodes: Sequence[NodeRoom]
    clusters: Mapping[int, str]
    outcome: Outcome
    stages: Sequence[Stage]
    chain_s: float
    work_s: float
    model: str | None
    with_one_more_s: float | None
    earlier: str | None = None
    """The job from which run times are known that the job file does not say."""

    @property
    def use(self) -> dict[str, float]:
        """Which part of its CPU time each node computes."""
        whole = max(self.outcome.makespan_s, 1e-9)
        return {
            node.name: self.outcome.busy_s.get(node.id, 0.0) / (node.cpus * whole)
            for node in self.nodes
        }


class _Work(Struct):
    requirements: list[Requirement] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    files: list[File] = field(default_factory=list)


def rehearse_job(store: Store, spec: JobSpec, site: Site | None, *, now: float) -> Rehearsed:
    """Rehearse a job on all nodes, or on those of a site file.

    Raises Refused where run times are not known, or where no node can take a package.
    """
    nodes, clusters = _nodes(store, site, spec.originator, now)
    if not nodes:
        raise Refused("there is no node to rehearse on", hint="d0ctl rehearse FILE --site FILE")
    steps = steps_of(store, spec, None)
    earlier = forecast.run_times(store, spec.source)
    seconds = _seconds(steps, spec, earlier.seconds if earlier else {})
    work = _work(store, spec, steps, seconds)
    _check(work, nodes, spec)
    limits = {n: one.max_running for n, one in enumerate(spec.stages, 1) if one.max_running}
    limits |= {0: spec.max_running} if spec.max_running else {}
    outcome = rehearse(nodes, work.requirements, work.tasks, work.files, limits=limits)
    model = max(nodes, key=lambda node: (node.cpus * node.speed, node.name))
    more = [*nodes, replace(model, id=_next(nodes), name="+", cluster=_next_cluster(nodes))]
    other = rehearse(more, work.requirements, work.tasks, work.files, limits=limits)
    chain_s = max(critical_path.ranks(seconds, steps.before), default=0.0)
    capacity = sum(node.cpus * node.speed for node in nodes)
    by_id = {one.id: one.load for one in work.requirements}
    needed = sum(task.seconds * by_id.get(task.requirement, 0) for task in work.tasks)
    return Rehearsed(
        spec.name, spec.packages, nodes, clusters, outcome, _stages(spec, steps, outcome),
        chain_s / max(node.speed for node in nodes), needed / capacity,
        model.name, other.makespan_s, earlier.job if earlier else None,
    )  # fmt: skip


def _next(nodes: Sequence[NodeRoom]) -> int:
    return max(node.id for node in nodes) + 1


def _next_cluster(nodes: Sequence[NodeRoom]) -> int:
    return max(CONTROL, *(node.cluster for node in nodes)) + 1


def _nodes(
    store: Store, site: Site | None, originator: str, now: float
) -> tuple[list[NodeRoom], dict[int, str]]:
    """Return the nodes of a site file, or those that may take packages, and their clusters.

    Clusters that are private to others are left out.
    """
    rooms, names = _all_nodes(store, site, now)
    inside = current(store) if site is None else site
    private = [one.name for one in inside.clusters if one.private]
    others = barred(private, inside.settings.get("researchers") or {}, originator)
    return [room for room in rooms if names.get(room.cluster) not in others], names


def _all_nodes(
    store: Store, site: Site | None, now: float
) -> tuple[list[NodeRoom], dict[int, str]]:
    known = {view.name: view.node for view in node_views(store, now=now)}
    if site is None:
        rooms = [replace(one.room, used=0) for one in known.values()
                 if not one.drained and one.gone is None]  # fmt: skip
        names = {row["cluster_id"]: row["cluster"] for row in store.rows("nodes")}
        return rooms, names
    clusters: dict[str, int] = {}
    rooms = []
    unsized = []
    for number, entry in enumerate(site.nodes, 1):
        name = entry.cluster or entry.name
        cluster = CONTROL if not entry.destination else CONTROL + 1 + len(clusters)
        cluster = clusters.setdefault(name, cluster)
        there = known.get(entry.name)
        cpus = entry.cpus or (there.room.cpus if there is not None else None)
        if cpus is None:
            unsized.append(f"`{entry.name}`")
            continue
        services = [*entry.services, *(s for one in site.clusters if one.name == name
                                       for s in one.services)]  # fmt: skip
        platform = entry.platform or next(
            (one.platform for one in site.clusters if one.name == name and one.platform), None
        )
        rooms.append(NodeRoom(
            number, entry.name, cluster, cpus, 0, entry.memory,
            platform or (there.room.platform if there is not None else None), services,
            speed=entry.speed or (there.room.speed if there is not None else 1.0),
        ))  # fmt: skip
    if unsized:
        raise Refused(f"the site file does not say the CPUs of {listed(unsized)}",
                      hint="write `cpus` of these nodes into it")  # fmt: skip
    return rooms, {number: name for name, number in clusters.items()}


def _seconds(steps: Steps, spec: JobSpec, earlier: Mapping[str, float]) -> list[float]:
    """Return the run time of each step. Raises Refused for stages where it is not known."""
    found = [0.0 if one is None else one for one in steps.seconds]
    unknown: dict[str, None] = {}
    for (stage, _, _), step in steps.packages.items():
        if steps.seconds[step] is None:
            name = spec.stages[stage - 1].name
            if name in earlier:
                found[step] = earlier[name]
            else:
                unknown[name] = None
    if unknown:
        stages = listed(f"`{name}`" for name in list(unknown)[:5])
        raise Refused(f"how long packages of {stages} take is not known",
                      hint="give `runtime` in the job file, or run it once")  # fmt: skip
    return found


def _work(store: Store, spec: JobSpec, steps: Steps, seconds: Sequence[float]) -> _Work:
    """Return tasks, files and requirements, these in the order of the scheduler."""
    urgent, catalogue, work = urgency(store, spec), Catalogue(store), _Work()
    numbers: dict[str, int] = {}
    kinds: dict[tuple[object, ...], Requirement] = {}
    priorities: dict[int, int] = {}
    """The priority of each requirement."""
    work.tasks = [Task(0, 0.0, after=tuple(before)) for before in steps.before]
    for stage, of_stage in enumerate(spec.stages, 1):
        for seq, line in enumerate(of_stage.lines, 1):
            for place, package in enumerate(line.packages, 1):
                step = steps.packages[stage, seq, place]
                rank, usual = urgent.of(stage, seq, place)[:2]
                key = (stage, package.cpus, package.cpu, package.memory, space(package),
                       package.platform, package.nodes, package.exclude_nodes, package.priority,
                       *wants(package), rank, usual)  # fmt: skip
                kind = kinds.get(key)
                if kind is None:
                    kind = kinds[key] = _requirement(
                        len(kinds) + 1, package, stage, rank, usual or seconds[step], catalogue
                    )
                priorities[kind.id] = (
                    spec.priority if package.priority is None else package.priority
                )
                inputs, outputs = _files(package, numbers, work.files, spec.directory)
                work.tasks[step] = replace(
                    work.tasks[step], requirement=kind.id, seconds=seconds[step],
                    inputs=inputs, outputs=outputs,
                )  # fmt: skip
    work.requirements = sorted(
        kinds.values(), key=lambda one: (-priorities[one.id], -one.rank, one.id)
    )
    return work


def _requirement(
    number: int,
    package: PackageSpec,
    stage: int,
    rank: float,
    seconds: float,
    catalogue: Catalogue,
) -> Requirement:
    software, needs = (json.dumps(names) for names in wants(package))
    return Requirement(
        number, 0, package.cpus, package.memory, package.platform, package.nodes,
        package.exclude_nodes, catalogue.platforms(software), catalogue.needs(software, needs),
        seconds=seconds, rank=rank, stage=stage, space=space(package),
        fetches=any(binary.inputs for binary in package.binaries), cpu=package.cpu,
    )  # fmt: skip


def _files(
    package: PackageSpec, numbers: dict[str, int], files: list[File], directory: str
) -> tuple[list[int], list[int]]:
    """Return what a package reads of others and from outside, and what it makes."""
    outputs, made = [], set()
    for binary in package.binaries:
        for output in binary.outputs:
            made.add(output.file)
            number = numbers.setdefault(output.file, len(files))
            file = File(output.size or 0, None, stays=output.result or not output.dispositions)
            files[number : number + 1] = [file]
            outputs.append(number)
    inputs: dict[int, None] = {}
    for binary in package.binaries:
        for one in binary.inputs:
            if one.file in made or one.acquire != "pre-fetch":
                continue
            number = numbers.setdefault(one.file, len(files))
            if number == len(files):
                # One of another job is there; one that is made later here replaces this.
                files.append(File(0 if one.made else _size(one, directory), CONTROL))
            inputs[number] = None
    return list(inputs), outputs


def _size(one: InputSpec, directory: str) -> int:
    if one.size is not None:
        return one.size
    try:
        return Path(directory, one.file).stat().st_size
    except OSError:
        return 0


def _check(work: _Work, nodes: Sequence[NodeRoom], spec: JobSpec) -> None:
    """Raise Refused for packages that no node can take."""
    for one in work.requirements:
        found = {node.name: misfit(one, node) for node in nodes}
        if None not in found.values():
            name, why = next(iter(found.items()))
            raise Refused(f"no node can take packages of stage `{spec.stages[one.stage - 1].name}`:"
                          f" `{name}` is ruled out ({why})", hint="d0ctl node list")  # fmt: skip


def _stages(spec: JobSpec, steps: Steps, outcome: Outcome) -> list[Stage]:
    times: dict[int, list[tuple[float, float]]] = {}
    for (stage, _, _), step in steps.packages.items():
        times.setdefault(stage, []).append((outcome.starts[step], outcome.ends[step]))
    return [
        Stage(spec.stages[number - 1].name, len(found), min(begin for begin, _ in found),
              max(end for _, end in found))
        for number, found in times.items()
    ]  # fmt: skip
