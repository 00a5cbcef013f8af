"""From the lines of a JobSpec to rows: ids, counters and references."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from d0ctl.jobfile.language.file_names import base_name, foreign, is_pattern
from d0ctl.jobfile.spec import (
    InputSpec,
    LineSpec,
    PackageSpec,
    StageSpec,
)
from d0ctl.store.connection import as_json
from d0ctl.store.jobs.submission.intake_rows import (
    Chunk,
    Row,
    asked_by,
    binary_row,
    input_row,
    line_row,
    listed,
    output_row,
)
from d0ctl.store.jobs.submission.urgency import Expected, Urgency

STARTUP = 0
"""The number that stands for the startup script among the inputs of the binaries."""

CHUNK_ROWS = 3_000
"""The number of rows after which a chunk is closed; they take about 20 ms to insert."""

MOST_IDS = 100_000
"""The largest number of ids that are reserved at once."""

Reserve = Callable[[str, int], int]
"""Reserves ids of a table for this job; returns the first of as many as requested."""


class Ids(Struct):
    """The ids that a job may give to rows of one table."""

    table: str
    reserve: Reserve
    size: int
    """How many are reserved the next time; each time is a commit."""
    next: int = 0
    end: int = 0

    def take(self) -> int:
        """Return an id that no other row has."""
        if self.next == self.end:
            self.next = self.reserve(self.table, self.size)
            self.end = self.next + self.size
            self.size = min(2 * self.size, MOST_IDS)
        self.next += 1
        return self.next - 1


class Intake:
    """Makes the rows of a job, in the order of its lines, without reading the database.

    `stages` are the ids of its stages.
    """

    def __init__(
        self,
        job: int,
        stages: Sequence[int],
        packages: int,
        now: float,
        reserve: Reserve,
        urgency: Urgency,
    ) -> None:
        self._job = job
        self._stages = stages
        self._now = now
        self._urgency = urgency
        few = max(1, min(packages, MOST_IDS))
        self._line_ids = Ids("line", reserve, few)
        self._package_ids = Ids("package", reserve, few)
        self._file_ids = Ids("file", reserve, min(2 * few, MOST_IDS))
        self._made: dict[str, int] = {}
        self._outside: dict[str, int] = {}
        self._consumed: set[int] = set()
        self._plain: list[int] = []
        """Files that go to results/ if no package consumes them."""
        self._requirements: dict[Row, int] = {}
        self._late: list[tuple[int, int, int, InputSpec]] = []
        """Inputs whose maker's rows come after those of their consumer."""
        self._orders: list[Row] = []
        """A line, the job, and the numbers of a stage and a line of it that come before."""
        self.work: dict[int, float] = {}
        """CPU seconds of the packages of each stage, as far as they were read."""
        self._number = 0
        """The number of the present stage."""
        self._before = 0
        """How many stages each line of the present stage waits for."""

    def chunks(self, stages: Iterable[StageSpec]) -> Iterator[Chunk]:
        """Make the rows of all lines, then those that need to know all of them."""
        for number, (stage, spec) in enumerate(zip(self._stages, stages, strict=True), 1):
            self._number = number
            self._before = len(spec.after) + int(spec.final)
            yield from self._lines(stage, spec)
        orders = iter(self._orders)
        while batch := list(islice(orders, 2 * CHUNK_ROWS)):
            yield Chunk(orders=batch)
        yield from self._late_inputs()
        wanted = iter([(file,) for file in self._plain if file not in self._consumed])
        while batch := list(islice(wanted, 2 * CHUNK_ROWS)):
            yield Chunk(results=batch)

    def _lines(self, stage: int, spec: StageSpec) -> Iterator[Chunk]:
        chunk = Chunk()
        for seq, line in enumerate(spec.lines, start=1):
            self._line(chunk, stage, seq, line)
            if len(chunk.packages) + len(chunk.inputs) + len(chunk.files) > CHUNK_ROWS:
                yield chunk
                chunk = Chunk()
        yield chunk

    def _late_inputs(self) -> Iterator[Chunk]:
        """Make the rows of inputs that were named before their maker."""
        pending = iter(self._late)
        while batch := list(islice(pending, CHUNK_ROWS)):
            chunk = Chunk()
            for package, binary, position, spec in batch:
                self._consumed.add(self._made[spec.file])
                self._read(chunk, package, binary, self._made[spec.file], position, 0, spec)
            yield chunk

    def _line(self, chunk: Chunk, stage: int, seq: int, spec: LineSpec) -> None:
        line = self._line_ids.take()
        chunk.lines.append(line_row(line, stage, seq, spec))
        self._orders += [(line, self._job, *before) for before in spec.after]
        waits = self._before + len(spec.after) + int(spec.is_open)
        for number, package in enumerate(spec.packages, start=1):
            is_early = spec.early_start and number == 1
            key = self._package_ids.take()
            expected = self._urgency.of(self._number, seq, number)
            self._package(chunk, stage, line, key, number, package, is_early, waits, expected)
            waits = 1

    def _package(
        self,
        chunk: Chunk,
        stage: int,
        line: int,
        package: int,
        seq: int,
        spec: PackageSpec,
        is_early: bool,
        waits: int,
        expected: Expected,
    ) -> None:
        own = self._outputs(chunk, package, spec)
        missing = waits
        for number, binary in enumerate(spec.binaries, start=1):
            chunk.binaries.append(binary_row(package, number, binary))
            for position, entry in enumerate(binary.inputs):
                missing += self._take(chunk, package, number, position, entry, own)
        if spec.wrapper is not None:
            missing += self._take(chunk, package, STARTUP, 0, spec.wrapper, own)
        if is_early:
            chunk.early.append((self._gathered(spec, own) - missing, missing, package))
        requirement = self._requirement(chunk, stage, spec, is_early, expected)
        self.work[stage] = self.work.get(stage, 0.0) + expected.assumed * spec.cpus * spec.cpu / 100
        chunk.packages.append((
            package, self._job, stage, line, seq, spec.name, "waiting" if missing else "ready",
            missing, requirement, self._now, spec.wall_time, spec.looping,
            base_name(spec.wrapper.file) if spec.wrapper else None,
            as_json(spec.wrapper_parameters), as_json(spec.environment), as_json(spec.policy),
        ))  # fmt: skip

    def _outputs(self, chunk: Chunk, package: int, spec: PackageSpec) -> set[int]:
        """Make the rows of the outputs of a package; return their ids."""
        own = set()
        for number, binary in enumerate(spec.binaries, start=1):
            for output in binary.outputs:
                file = self._file(output.file)
                own.add(file)
                self._made[output.file] = file
                if not output.dispositions and output.locator is None:
                    self._plain.append(file)
                row = output_row(file, self._job, package, number, output)
                if output.late and is_pattern(output.file):
                    chunk.late.append((output.min_count, file))
                chunk.files.append(row)
        return own

    def _file(self, name: str) -> int:
        """Return the id of an output of a package by its name."""
        return self._file_ids.take()

    def _take(
        self,
        chunk: Chunk,
        package: int,
        binary: int,
        position: int,
        spec: InputSpec,
        own: set[int],
    ) -> int:
        """Make the row of an input; return 1 if it does not exist yet.

        One whose maker comes later counts as missing now and gets its row later. Whether a file
        of another job exists is checked when the rows are inserted.
        """
        if not spec.made:
            file, missing = self._from_outside(chunk, spec), 0
        elif spec.file in self._made:
            file = self._made[spec.file]
            missing = int(file not in own)
            self._consumed.add(file)
        elif named := foreign(spec.file):
            row = input_row(package, binary, 0, position, 0, spec)
            chunk.foreign.append((*named, row, spec.match))
            return 0
        else:
            self._late.append((package, binary, position, spec))
            return 1
        self._read(chunk, package, binary, file, position, int(file in own), spec)
        return missing

    def _read(
        self,
        chunk: Chunk,
        package: int,
        binary: int,
        file: int,
        position: int,
        own: int,
        spec: InputSpec,
    ) -> None:
        chunk.inputs.append(input_row(package, binary, file, position, own, spec))
        if spec.match is not None:
            chunk.matches.append((spec.match, package, binary, file))

    def _gathered(self, spec: PackageSpec, own: set[int]) -> int:
        """Return how many inputs of a package other packages make, whether they exist or not."""
        inputs = [entry for entry in _inputs(spec) if entry.made]
        return sum(self._made.get(entry.file) not in own for entry in inputs)

    def _from_outside(self, chunk: Chunk, spec: InputSpec) -> int:
        file = self._outside.get(spec.file)
        if file is None:
            file = self._outside[spec.file] = self._file_ids.take()
            size, checksum = (spec.size, spec.checksum) if spec.locator else (None, None)
            chunk.files.append((file, self._job, spec.file, None, None, 1, "", 0, 0, spec.locator,
                                size, None, checksum))  # fmt: skip
        return file

    def _requirement(
        self,
        chunk: Chunk,
        stage: int,
        spec: PackageSpec,
        is_early: bool,
        expected: Expected,
    ) -> int:
        """Return the number of a package's requirement, from 1 in this job."""
        key = (stage, *asked_by(spec, is_early), *expected)
        number = self._requirements.get(key)
        if number is None:
            number = self._requirements[key] = len(self._requirements) + 1
            chunk.requirements.append((number, *listed(key)))
        return number


def _inputs(spec: PackageSpec) -> Iterator[InputSpec]:
    """Return all files that a package reads, including its startup script."""
    yield from (entry for binary in spec.binaries for entry in binary.inputs)
    if spec.wrapper is not None:
        yield spec.wrapper
