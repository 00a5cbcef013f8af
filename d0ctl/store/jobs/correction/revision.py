"""The rows that a corrected job file adds or changes in a job."""

from collections.abc import Container, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.jobfile.language.file_names import takes
from d0ctl.jobfile.spec import LineSpec
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs.correction.pairing.new_lines import NewLine
from d0ctl.store.jobs.submission.insertion import Insertion
from d0ctl.store.jobs.submission.intake import Intake, Reserve
from d0ctl.store.jobs.submission.intake_rows import Chunk, FileRow, PackageRow, Row, line_row
from d0ctl.store.jobs.submission.urgency import Urgency


class Known(Struct):
    """The known files of a job, by name, and the packages that make them."""

    ids: dict[str, int] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)
    """Files of late outputs."""
    outside: dict[str, int] = field(default_factory=dict)
    makers: dict[int, int] = field(default_factory=dict)
    """The package that makes a file, by the ids of both."""


def known_files(store: Store, job: int) -> Known:
    """Return the files of a job."""
    known = Known()
    for row in store.rows("standing_files", job=job):
        if row["package_id"] is None:
            known.outside[row["name"]] = row["id"]
        else:
            known.ids[row["name"]] = row["id"]
            known.makers[row["id"]] = row["package_id"]
    for row in store.rows("standing_late_files", job=job):
        known.late[row["name"]] = row["id"]
        known.makers[row["id"]] = row["package_id"]
    return known


class Revision(Intake):
    """The rows of the lines and packages that a job file adds or changes."""

    def __init__(
        self, job: int, number: int, now: float, reserve: Reserve, urgency: Urgency, known: Known
    ) -> None:
        super().__init__(job, (), number, now, reserve, urgency)
        self._made.update(known.late)
        self._made.update(known.ids)
        self._outside.update(known.outside)

    def line(
        self,
        chunk: Chunk,
        stage: int,
        position: tuple[int, int],
        new: NewLine,
        spec: LineSpec,
        before: Sequence[tuple[int, int]],
        written: Container[int],
    ) -> None:
        """Add the rows of a line: all of them, or those of its packages that are `written`.

        `place` has the numbers of the stage and of the line in the job file.
        """
        old = new.old
        line = old.id if old else self._line_ids.take()
        if old is None:
            chunk.lines.append(line_row(line, stage, new.seq, spec))
            self._orders += [(line, self._job, *earlier) for earlier in before]
        for number, package in enumerate(spec.packages):
            known = new.package(number)
            if known is None or known in written:
                key = self._package_ids.take() if known is None else known
                is_early = spec.early_start and number == 0
                # it counts as waiting until everything is in its place and can be counted
                waits = int(not is_early)
                expected = self._urgency.of(*position, number + 1)
                self._package(
                    chunk, stage, line, key, number + 1, package, is_early, waits, expected
                )

    def knows(self, file: str) -> bool:
        """Return whether a file has a row that packages of the job make."""
        return file in self._made

    def rest(self) -> list[Chunk]:
        """Return the rows that can be made only after all lines."""
        return [Chunk(orders=list(self._orders)), *self._late_inputs()]

    def _file(self, name: str) -> int:
        known = self._made.get(name)
        return super()._file(name) if known is None else known


class Rewriting(Insertion):
    """The rows of added lines and of changed packages on their way into the database."""

    takes_dropped: bool = True
    known: Known = field(default_factory=Known)
    written: frozenset[int] = frozenset()
    """Packages that have rows."""
    added: list[int] = field(default_factory=list)
    """Packages that got their first rows."""
    _there: frozenset[int] | None = None
    """The files that had rows before."""

    def insert(self, chunk: Chunk) -> None:
        """Insert the rows of a chunk, or replace older ones by them."""
        self._insert(chunk)

    def _packages(self, rows: Sequence[Row], absent: Mapping[int, int]) -> None:
        of = [PackageRow(*row) for row in rows]
        new = [row for row in of if row.id not in self.written]
        self.added += [row.id for row in new]
        if new:
            super()._packages(new, absent)
        self._change_many("correct_package", [
            (row.name, row.requirement, row.wall_time, row.looping, row.wrapper,
             row.wrapper_parameters, row.environment, row.policy, row.id)
            for row in of if row.id in self.written
        ])  # fmt: skip

    def _files(self, rows: Sequence[Row]) -> None:
        if self._there is None:
            self._there = frozenset(self.known.ids.values())
        there = self._there
        of = [FileRow(*row) for row in rows]
        super()._files([row for row in of if row.id not in there])
        self._change_many("correct_file", [
            (row.package, row.binary, row.dispositions, row.late, row.locator, row.size,
             row.min_size, row.checksum, row.package, row.id)
            for row in of if row.id in there
        ])  # fmt: skip


def named_by_number(spec: LineSpec, number: int, seq: int) -> LineSpec:
    """Return a line under its number in the job, if the job file names it by number."""
    return replace(spec, name=str(seq)) if spec.name == str(number) != str(seq) else spec


def count_anew(store: Store, packages: Iterable[int]) -> Selection:
    """Count what packages wait for, with the files of the late outputs that they read."""
    selected = store.select(packages)
    late = [
        (row["id"], row["package_id"], row["binary"], row["pattern"])
        for row in selected.rows("take_known_late_files")
        if takes(row["match"], row["name"])
    ]
    store.change_many("read_late_file", late)
    selected.change("count_early_inputs")
    selected.change("count_missing")
    selected.change("leave_out_all_dropped")
    return selected
