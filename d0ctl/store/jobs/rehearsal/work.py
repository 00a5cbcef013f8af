"""The packages of a job that is not submitted, their files, and what they request."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.errors import Refused
from d0ctl.jobfile.spec import Disposition, InputSpec, JobSpec, OutputSpec, PackageSpec
from d0ctl.schedule.estimates import NO_SIZES, Sizes
from d0ctl.schedule.rehearsal.records import File, Task
from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.store.connection import Store
from d0ctl.store.jobs.rehearsal.nodes import CONTROL
from d0ctl.store.jobs.submission.urgency import Steps, urgency
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.fitting import requested, requirement_of_spec, space, wants
from d0ctl.store.views.policies import NOTHING
from d0ctl.units import listed

RETAINED = frozenset({Disposition.RETAIN_INDEF, Disposition.RETAIN_TEMP})
"""The dispositions that keep a file in caches after its last reader."""


class Kind(Struct, frozen=True):
    """Common properties of packages at a position in the lines of a stage: software and policy."""

    stage: str
    position: int
    software: str
    policy: str
    wall_time: float | None


class Work(Struct):
    """All packages of a job, as a rehearsal needs them."""

    requirements: list[Requirement] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    kinds: dict[int, Kind] = field(default_factory=dict)
    """The kind of each task that is a package."""
    packages: Counter[int] = field(default_factory=Counter)
    """How many packages each stage has."""
    required: dict[int, float] = field(default_factory=dict)
    """The fraction of a stage that must succeed for all stages that read from it, if below 1."""


def seconds_of(steps: Steps, spec: JobSpec, earlier: Mapping[str, float]) -> list[float]:
    """Return the run time of each step. Raises Refused for stages without one."""
    found = [0.0 if seconds is None else seconds for seconds in steps.seconds]
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
        raise Refused(f"the run time of packages of {stages} is unknown",
                      hint="give `runtime` in the job file, or run it once")  # fmt: skip
    return found


def work_of(store: Store, spec: JobSpec, steps: Steps, seconds: Sequence[float]) -> Work:
    """Return tasks, files and requirements, these in the order of the scheduler."""
    urgent, catalogue, work = urgency(store, spec), Catalogue(store), Work()
    numbers: dict[str, int] = {}
    kinds: dict[tuple[object, ...], Requirement] = {}
    staying: dict[str, bool] = {}
    """The files that stay, and whether they do so although others read them."""
    priorities: dict[int, int] = {}
    """The priority of each requirement."""
    work.tasks = [Task(0, 0.0, after=tuple(before)) for before in steps.before]
    for stage, of_stage in enumerate(spec.stages, 1):
        for seq, line in enumerate(of_stage.lines, 1):
            for position, package in enumerate(line.packages, 1):
                step, sizes = steps.packages[stage, seq, position], steps.sizes.get(stage, NO_SIZES)
                rank, usual = urgent.of(stage, seq, position)[:2]
                key = (stage, requested(package), package.cpu, space(package), package.priority,
                       *wants(package), rank, usual)  # fmt: skip
                kind = kinds.get(key)
                if kind is None:
                    kind = kinds[key] = _requirement(
                        len(kinds) + 1, package, stage, rank, usual or seconds[step], catalogue,
                        sizes,
                    )  # fmt: skip
                priorities[kind.id] = (
                    spec.priority if package.priority is None else package.priority
                )
                inputs, outputs = _files(package, numbers, work.files, spec.directory, sizes)
                for name, is_retained in _staying(package):
                    staying[name] = staying.get(name, False) or is_retained
                work.kinds[step] = _kind(of_stage.name, position, package)
                work.tasks[step] = replace(
                    work.tasks[step], requirement=kind.id, seconds=seconds[step],
                    inputs=inputs, outputs=outputs,
                )  # fmt: skip
    read = {file for task in work.tasks for file in task.inputs}
    for name, is_retained in staying.items():
        file = numbers.get(name)
        if file is not None and (is_retained or file not in read):
            work.files[file] = replace(work.files[file], stays=True)
    work.requirements = sorted(
        kinds.values(), key=lambda kind: (-priorities[kind.id], -kind.rank, kind.id)
    )
    work.packages.update(stage for stage, _, _ in steps.packages)
    work.required = _required(work, {step: stage for (stage, _, _), step in steps.packages.items()},
                              spec)  # fmt: skip
    return work


def _staying(package: PackageSpec) -> Iterator[tuple[str, bool]]:
    """Yield the files that stay after a package, and whether they do so although others read them.

    An output that is stored nowhere else stays if no package reads it.
    """
    read = {entry.file: entry.disposition for binary in package.binaries for entry in binary.inputs}
    yield from ((name, True) for name, said in read.items() if said in RETAINED)
    for binary in package.binaries:
        for output in binary.outputs:
            if RETAINED & output.dispositions:
                yield output.file, True
            elif not (output.result or output.locator or output.file in read
                      or Disposition.DELETABLE in output.dispositions):  # fmt: skip
                yield output.file, False


def _kind(stage: str, position: int, package: PackageSpec) -> Kind:
    policy = json.dumps(package.policy) if package.policy else NOTHING
    return Kind(stage, position, json.dumps(wants(package)[0]), policy, package.wall_time)


def _required(work: Work, stages: Mapping[int, int], spec: JobSpec) -> dict[int, float]:
    """Return the fraction of stages that must succeed, by the stages that read from them."""
    makers = {file: stages[step] for step in stages for file in work.tasks[step].outputs}
    asked: dict[int, float] = {}
    for step, stage in stages.items():
        for before in {makers[file] for file in work.tasks[step].inputs if file in makers}:
            asked[before] = max(asked.get(before, 0.0), spec.stages[stage - 1].require)
    return {stage: part for stage, part in asked.items() if part < 1.0}


def _requirement(
    number: int,
    package: PackageSpec,
    stage: int,
    rank: float,
    seconds: float,
    catalogue: Catalogue,
    sizes: Sizes,
) -> Requirement:
    memory, room = sizes.memory, space(package)
    return requirement_of_spec(
        package, catalogue, id=number, ready=0, seconds=seconds, rank=rank, stage=stage,
        fetches=any(binary.inputs for binary in package.binaries),
        memory_expected=round(memory.high) if memory and not package.memory else None,
        space_expected=max(room or 0, sizes.space) if sizes.space and not package.disk else None,
    )  # fmt: skip


def _files(
    package: PackageSpec, numbers: dict[str, int], files: list[File], directory: str, sizes: Sizes
) -> tuple[list[int], list[int]]:
    """Return the files that a package reads of others and from outside, and those that it makes."""
    outputs, made = (
        [],
        {output.file: output for binary in package.binaries for output in binary.outputs},
    )
    usual = _usual_size(made.values(), sizes)
    for output in made.values():
        number = numbers.setdefault(output.file, len(files))
        files[number : number + 1] = [File(usual if output.size is None else output.size)]
        outputs.append(number)
    inputs: dict[int, None] = {}
    for binary in package.binaries:
        for entry in binary.inputs:
            if entry.file in made or entry.acquire != "pre-fetch":
                continue
            number = numbers.setdefault(entry.file, len(files))
            if number == len(files):
                # A file of another job exists; one that is made later here replaces this.
                files.append(File(0 if entry.made else _size(entry, directory), CONTROL))
            inputs[number] = None
    return list(inputs), outputs


def _usual_size(made: Collection[OutputSpec], sizes: Sizes) -> int:
    """Return the size of each output without one: its part of the total that is expected."""
    unsaid = sum(output.size is None for output in made)
    if not unsaid or sizes.output is None:
        return 0
    said = sum(output.size or 0 for output in made)
    return max(0, round((sizes.output.middle - said) / unsaid))


def _size(entry: InputSpec, directory: str) -> int:
    if entry.size is not None:
        return entry.size
    try:
        return Path(directory, entry.file).stat().st_size
    except OSError:
        return 0


def check(work: Work, nodes: Sequence[NodeRoom], spec: JobSpec) -> None:
    """Raise Refused for packages that no node can take."""
    for requirement in work.requirements:
        misfits = {node.name: misfit(requirement, node) for node in nodes}
        if None not in misfits.values():
            name, why = next(iter(misfits.items()))
            raise Refused(
                f"no node can take packages of stage `{spec.stages[requirement.stage - 1].name}`:"
                f" `{name}` is ruled out ({why})",
                hint="d0ctl node list",
            )
