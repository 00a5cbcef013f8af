"""What a job would do, before it is submitted: its lines, and the files between its stages."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct, field

from d0ctl.jobfile.language.file_names import foreign, is_pattern
from d0ctl.jobfile.spec import Acquire, InputSpec, JobSpec, LineSpec


class Source(NamedTuple):
    """Where an input comes from: `kind` and a name.

    The kind is `stage` (its name), `line` (an earlier package of the same line), `job` (the name
    of another job), `here` (beside the job file), `locator` (its scheme, or the node), `node` (it
    is on the node) or `self` (the program fetches it).
    """

    kind: str
    name: str = ""


class _Line(NamedTuple):
    """A line to be listed."""

    name: str
    packages: int
    inputs: tuple[InputSpec, ...]
    makes: list[str]
    after: tuple[tuple[int, int], ...]


class LinePreview(NamedTuple):
    """A line with the files that it reads and makes."""

    path: str
    name: str
    packages: int
    reads: dict[Source, list[str]]
    makes: list[str]
    after: list[str]
    """The lines that it waits for without reading their files."""


class StagePreview(Struct):
    """A stage with its inputs; `runtime` is seconds on a standard node, None if unknown."""

    number: int
    name: str
    lines: int = 0
    packages: int = 0
    cpus: int = 0
    runtime: float | None = 0.0
    reads: dict[Source, set[str]] = field(default_factory=dict)
    """The files that come from outside its lines, by origin."""
    makes: int = 0
    patterns: list[str] = field(default_factory=list)
    """Those of its outputs that stand for any number of files."""
    results: int = 0
    """How many of its outputs are results."""
    require: float = 1.0
    max_running: int | None = None
    after: tuple[str, ...] = ()
    """The names of the stages that it waits for without reading their files."""
    lines_after: dict[str, None] = field(default_factory=dict)
    """The names of the stages that have lines for which lines of this one wait."""
    is_final: bool = False
    change: str = ""
    """`split` or `merge`, by the number of lines of the stages that it reads (D0 Job Definition,
    section 2: a stage is where the parallelization changes), or `open` while that is unknown;
    empty if it does not change, or if each line reads one file of them."""


class Preview:
    """The stages of a job, and with `listing` its lines one by one; one pass over all packages."""

    def __init__(self, job: JobSpec, *, listing: bool = False) -> None:
        self.job = job
        self._makers: dict[str, tuple[int, int]] = {}
        self.late: set[str] = set()
        """The patterns of late outputs, each of which may be any number of files."""
        self._plain: set[str] = set()
        """Files that are results unless something reads them."""
        self._read: set[str] = set()
        self._pending: list[tuple[StagePreview, int, InputSpec]] = []
        """Inputs that are from a later stage, if from any."""
        self._lines: dict[int, list[_Line]] | None = {} if listing else None
        names = [stage.name for stage in job.stages]
        self.stages = [
            StagePreview(at, stage.name, require=stage.require, max_running=stage.max_running,
                         after=tuple(names[number - 1] for number in stage.after),
                         is_final=stage.final)
            for at, stage in enumerate(job.stages, 1)
        ]  # fmt: skip
        for stage, spec in zip(self.stages, job.stages, strict=True):
            for number, line in enumerate(spec.lines, 1):
                self._count(stage, number, line)
        for stage, number, package in self._pending:
            self._note(stage, self._source(stage, number, package), package)
        for name in self._plain - self._read:
            self.stages[self._makers[name][0] - 1].results += 1
        for stage in self.stages:
            stage.change = stage.change or self._change(stage)

    def lines(self, stage: StagePreview) -> Iterator[LinePreview]:
        """Yield the lines of a stage, if they are listed."""
        folder = f"{self.job.directory.rstrip('/')}/"
        for number, line in enumerate((self._lines or {}).get(stage.number, ()), 1):
            reads: dict[Source, list[str]] = {}
            for file in line.inputs:
                source = self._source(stage, number, file)
                if source.kind != "line":
                    names = reads.setdefault(source, [])
                    name = file.file.rpartition(":")[2].removeprefix(folder)
                    names += [name] if name not in names else []
            path = f"{stage.number}/{number}"
            after = [f"{stage_number}/{line_number}" for stage_number, line_number in line.after]
            yield LinePreview(path, line.name, line.packages, reads, line.makes, after)

    def _count(self, stage: StagePreview, number: int, line: LineSpec) -> None:
        stage.lines += 1
        stage.packages += len(line.packages)
        if line.is_open:
            stage.change = "open"
        for before, _ in line.after:
            stage.lines_after[self.stages[before - 1].name] = None
        makes = []
        for package in line.packages:
            stage.cpus = max(stage.cpus, package.cpus)
            for binary in package.binaries:
                if stage.runtime is not None:
                    stage.runtime = None if binary.runtime is None else (
                        stage.runtime + binary.runtime
                    )  # fmt: skip
                for output in binary.outputs:
                    makes.append(output.file)
                    self._makers[output.file] = stage.number, number
                    if output.late and is_pattern(output.file):
                        self.late.add(output.file)
                        stage.patterns.append(output.file)
                    if output.result:
                        stage.results += 1
                    elif not output.dispositions and output.locator is None:
                        self._plain.add(output.file)
        stage.makes += len(makes)
        inputs = tuple(_inputs(line))
        for file in inputs:
            if file.made and file.file not in self._makers and not foreign(file.file):
                self._pending.append((stage, number, file))
            else:
                self._note(stage, self._source(stage, number, file), file)
        if self._lines is not None:
            held_back = _Line(line.name, len(line.packages), inputs, makes, line.after)
            self._lines.setdefault(stage.number, []).append(held_back)

    def _note(self, stage: StagePreview, source: Source, spec: InputSpec) -> None:
        """Record that a stage reads a file."""
        if source.kind != "line":
            stage.reads.setdefault(source, set()).add(spec.file)
        self._read.add(spec.file)

    def _source(self, stage: StagePreview, number: int, spec: InputSpec) -> Source:
        if spec.made and (maker := self._makers.get(spec.file)):
            if maker == (stage.number, number):
                return Source("line")
            return Source("stage", self.stages[maker[0] - 1].name)
        if spec.made:
            return Source("job", spec.file.partition(":")[0])
        if spec.acquire is not Acquire.PRE_FETCH:
            return Source("node" if spec.acquire is Acquire.NONE else "self")
        if spec.locator is not None:
            return Source("locator", spec.locator.partition(":")[0])
        return Source("here")

    def _change(self, stage: StagePreview) -> str:
        names = {other.name: other.lines for other in self.stages if other is not stage}
        before = {
            source.name: len(files)
            for source, files in stage.reads.items()
            if source.kind == "stage" and source.name in names
        }
        most = max((names[name] for name in before), default=stage.lines)
        if stage.lines > most:
            return "split"
        return "merge" if stage.lines < min(most, sum(before.values())) else ""


def _inputs(line: LineSpec) -> Iterator[InputSpec]:
    """Yield every file that the packages of a line read, once per binary."""
    for package in line.packages:
        for binary in package.binaries:
            yield from binary.inputs
        if package.wrapper is not None:
            yield package.wrapper
