"""From the lines of a JobSpec to rows: ids, counters and references."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct, field

from d0ctl.errors import Refused
from d0ctl.jobfile.language.file_names import base_name, is_pattern
from d0ctl.jobfile.spec import (
    Acquire,
    BinarySpec,
    InputSpec,
    LineSpec,
    PackageSpec,
    StageSpec,
)
from d0ctl.store.chunks import FIRST_CHUNK, next_size
from d0ctl.store.connection import Store, as_json
from d0ctl.store.jobs.intake_rows import (
    BinaryRow,
    Chunk,
    FileRow,
    InputRow,
    PackageRow,
    Row,
    insert,
)
from d0ctl.store.nodes.fitting import space, wants

STARTUP = 0
"""The number under which the startup script stands among the inputs of the binaries."""


class Intake(Struct):
    """What is known of a job while its rows come in."""

    store: Store
    job: int
    now: float
    packages: int = 0
    made: dict[str, int] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)
    consumed: set[int] = field(default_factory=set)
    plain: list[int] = field(default_factory=list)
    """Files that go to results/ if nothing consumes them."""
    requirements: dict[Row, int] = field(default_factory=dict)
    absent: set[int] = field(default_factory=set)
    """Files of other jobs that are not there: not yet, or no more."""
    late: list[tuple[int, int, int, InputSpec]] = field(default_factory=list)
    """Inputs whose maker's rows come in after those of their consumer."""
    line_orders: list[tuple[int, int, int, int]] = field(default_factory=list)
    """A line, the job, and the numbers of a stage and a line of it that come before."""
    before: int = 0
    """How many stages each line of the present stage waits for."""
    next_line: int = 0
    next_package: int = 0
    next_file: int = 0

    def whole_stage(
        self, seq: int, spec: StageSpec, progress: Callable[[int], None] | None
    ) -> None:
        """A stage with its lines and packages."""
        with self.store.writing():
            stage = self.store.value(
                "make_stage",
                job=self.job,
                seq=seq,
                name=spec.name,
                require=spec.require,
                max_running=spec.max_running,
                final=int(spec.final),
            )
        self.before = len(spec.after) + int(spec.final)
        lines = self.lines(stage, iter(spec.lines), progress)
        with self.store.writing():
            self.store.change("count_lines", stage=stage, lines=lines)

    def lines(
        self, stage: int, lines: Iterator[LineSpec], progress: Callable[[int], None] | None
    ) -> int:
        """The rows of the lines of a stage, by chunks; how many they were."""
        seq, size = 0, FIRST_CHUNK
        while batch := list(islice(lines, size)):
            began = time.monotonic()
            with self.store.writing():
                self._find_ids()
                chunk = Chunk()
                for line in batch:
                    seq += 1
                    self._line(chunk, stage, seq, line)
                chunk.insert(self.store)
            size = next_size(len(batch), time.monotonic() - began)
            if progress is not None:
                progress(self.packages)
        return seq

    def ordered(self, stages: Sequence[StageSpec]) -> None:
        """The order of stages and lines that have been inserted."""
        with self.store.writing():
            for seq, spec in enumerate(stages, start=1):
                for before in spec.after:
                    self.store.change("order_stage", job=self.job, seq=seq, after=before)
                if spec.final:
                    self.store.change("order_final", job=self.job, seq=seq)
        pending = iter(self.line_orders)
        while batch := list(islice(pending, 20_000)):
            with self.store.writing():
                self.store.change_many("order_line", batch)

    def late_inputs(self) -> None:
        """The inputs that were named before their maker."""
        pending = iter(self.late)
        while batch := list(islice(pending, 5_000)):
            with self.store.writing():
                rows, matches = [], []
                for package, binary, position, spec in batch:
                    file = self._made_later(spec.file)
                    self.consumed.add(file)
                    rows.append(_input(package, binary, file, position, 0, spec))
                    if spec.match is not None:
                        matches.append((spec.match, package, binary, file))
                insert(self.store, "insert_input", rows)
                self.store.change_many("match_late", matches)

    def _made_later(self, name: str) -> int:
        if name not in self.made:
            job, _, file = name.partition(":")
            raise Refused(f"job `{job}` makes no file `{file}` any more")
        return self.made[name]

    def results(self) -> None:
        """Mark the files that nothing consumes and that have no disposition."""
        wanted = iter([(file,) for file in self.plain if file not in self.consumed])
        while batch := list(islice(wanted, 20_000)):
            with self.store.writing():
                self.store.change_many("mark_result", batch)

    def _find_ids(self) -> None:
        row = self.store.row("highest_ids")
        assert row is not None
        self.next_line, self.next_package, self.next_file = (
            row["line"] + 1,
            row["package"] + 1,
            row["file"] + 1,
        )

    def _line(self, chunk: Chunk, stage: int, seq: int, spec: LineSpec) -> None:
        line = self.next_line
        self.next_line += 1
        chunk.lines.append((line, stage, seq, spec.name, int(spec.early_start)))
        self.line_orders += [(line, self.job, *before) for before in spec.after]
        waits = self.before + len(spec.after)
        for number, package in enumerate(spec.packages, start=1):
            is_early = spec.early_start and number == 1
            self._package(chunk, stage, line, number, package, is_early, waits)
            waits = 1

    def _package(
        self,
        chunk: Chunk,
        stage: int,
        line: int,
        seq: int,
        spec: PackageSpec,
        is_early: bool,
        waits: int,
    ) -> None:
        package = self.next_package
        self.next_package += 1
        self.packages += 1
        own = self._outputs(chunk, package, spec)
        missing = waits
        for number, binary in enumerate(spec.binaries, start=1):
            chunk.binaries.append(_binary(package, number, binary))
            for position, entry in enumerate(binary.inputs):
                missing += self._take(chunk, package, number, position, entry, own)
        if spec.wrapper is not None:
            missing += self._take(chunk, package, STARTUP, 0, spec.wrapper, own)
        if is_early:
            chunk.early.append((self._gathered(spec, own) - missing, missing, package))
        chunk.packages.append(PackageRow(
            package, self.job, stage, line, seq, spec.name, "waiting" if missing else "ready",
            missing, self._requirement(stage, spec, is_early), self.now, spec.wall_time,
            spec.looping, base_name(spec.wrapper.file) if spec.wrapper else None,
            as_json(spec.wrapper_parameters), as_json(spec.environment), as_json(spec.policy),
        ))  # fmt: skip

    def _outputs(self, chunk: Chunk, package: int, spec: PackageSpec) -> set[int]:
        """The rows of what a package makes; their ids."""
        own = set()
        for number, binary in enumerate(spec.binaries, start=1):
            for output in binary.outputs:
                file = self.next_file
                self.next_file += 1
                own.add(file)
                self.made[output.file] = file
                if not output.dispositions and output.locator is None:
                    self.plain.append(file)
                is_late = int(output.late and is_pattern(output.file))
                if is_late:
                    chunk.late.append((output.min_count, file))
                chunk.files.append(FileRow(
                    file, self.job, output.file, package, number, 0,
                    " ".join(sorted(output.dispositions)), int(output.result), is_late,
                    output.locator, output.size, output.min_size, output.checksum,
                ))  # fmt: skip
        return own

    def _take(
        self,
        chunk: Chunk,
        package: int,
        binary: int,
        position: int,
        spec: InputSpec,
        own: set[int],
    ) -> int:
        """The row of an input; 1 if it is not there yet.

        One whose maker comes later counts as missing now and gets its row later.
        """
        if not spec.made:
            file, missing = self._outside(chunk, spec), 0
        elif spec.file in self.made:
            file = self.made[spec.file]
            missing = int(file not in own)
            self.consumed.add(file)
        elif foreign := self._foreign(spec.file):
            file, missing = foreign
        else:
            self.late.append((package, binary, position, spec))
            return 1
        chunk.inputs.append(_input(package, binary, file, position, int(file in own), spec))
        if spec.match is not None:
            chunk.matches.append((spec.match, package, binary, file))
        return missing

    def _gathered(self, spec: PackageSpec, own: set[int]) -> int:
        """How many inputs a package has that other packages make, whether they are there or not."""
        inputs = [one for one in _inputs(spec) if one.made]
        return sum(self.made.get(one.file) not in own for one in inputs)

    def _outside(self, chunk: Chunk, spec: InputSpec) -> int:
        file = self.outside.get(spec.file)
        if file is None:
            file = self.outside[spec.file] = self.next_file
            self.next_file += 1
            size, checksum = (spec.size, spec.checksum) if spec.locator else (None, None)
            chunk.files.append(FileRow(file, self.job, spec.file, None, None, 1, "", 0, 0,
                                       spec.locator, size, None, checksum))  # fmt: skip
        return file

    def _foreign(self, reference: str) -> tuple[int, int] | None:
        """A file of another job, and 1 if it is not there yet; None if it is none."""
        job, colon, name = reference.partition(":")
        row = self.store.row("file_of_job", job=job, name=name) if colon else None
        if row is None:
            return None
        if not row["present"]:
            self.absent.add(row["id"])
        if row["dropped"]:
            raise Refused(f"file `{name}` of job `{job}` was dropped, so nothing can read it")
        self.store.change("keep_need", job=self.job, maker=row["job_id"])
        return row["id"], int(not row["present"])

    def _requirement(self, stage: int, spec: PackageSpec, is_early: bool) -> int:
        fetches = any(one.acquire == Acquire.PRE_FETCH for one in _inputs(spec))
        room = space(spec)
        key = (
            stage, spec.cpus, spec.memory, spec.disk, room, spec.platform, spec.nodes,
            spec.exclude_nodes, spec.priority, is_early, fetches, *wants(spec),
        )  # fmt: skip
        requirement = self.requirements.get(key)
        if requirement is None:
            requirement = self.requirements[key] = int(
                self.store.value(
                    "make_requirement",
                    job=self.job,
                    stage=stage,
                    cpus=spec.cpus,
                    memory=spec.memory,
                    disk=spec.disk,
                    space=room,
                    platform=spec.platform,
                    nodes=json.dumps(spec.nodes),
                    exclude_nodes=json.dumps(spec.exclude_nodes),
                    early=int(is_early),
                    fetches=int(fetches),
                    priority=spec.priority,
                    software=json.dumps(key[-2]),
                    needs=json.dumps(key[-1]),
                )
            )
        return requirement


def _inputs(spec: PackageSpec) -> Iterator[InputSpec]:
    """All files that a package reads, its startup script among them."""
    yield from (one for binary in spec.binaries for one in binary.inputs)
    if spec.wrapper is not None:
        yield spec.wrapper


def _input(
    package: int, binary: int, file: int, position: int, own: int, spec: InputSpec
) -> InputRow:
    return InputRow(
        package, binary, file, position, own, str(spec.acquire), int(spec.required),
        str(spec.disposition) if spec.disposition else None, spec.locator, spec.size,
        spec.checksum, 1 if spec.writable else None,
    )  # fmt: skip


def _binary(package: int, seq: int, spec: BinarySpec) -> BinaryRow:
    progress: Mapping[str, Any] | None = spec.progress
    return BinaryRow(
        package, seq, spec.name, spec.script, spec.shell, as_json(spec.argv), spec.software,
        as_json(spec.parameters), as_json(spec.needs), spec.cpu, spec.runtime, spec.work_size,
        as_json(spec.log_rules), as_json(progress), spec.check, spec.check_timeout,
        as_json(spec.events),
    )  # fmt: skip
