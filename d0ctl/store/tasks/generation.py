"""Packages of a task: lines that are added to its job, and the files that they take."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import Refused
from d0ctl.jobfile.collector import without_collector
from d0ctl.jobfile.language.file_names import foreign
from d0ctl.jobfile.spec import InputSpec, JobSpec, LineSpec
from d0ctl.store.connection import Row, Store, as_json
from d0ctl.store.files.copies import lose
from d0ctl.store.jobs.submission.insertion import Insertion
from d0ctl.store.jobs.submission.intake import Intake
from d0ctl.store.jobs.submission.intake_rows import Chunk, FileRow
from d0ctl.store.jobs.submission.urgency import MOST_EXACT, urgency
from d0ctl.store.rows import make, make_all
from d0ctl.store.tasks import event_ranges, state, throttler
from d0ctl.store.tasks.event_ranges import Content
from d0ctl.store.tasks.state import Task

RESULT = FileRow._fields.index("result")
"""The place of `result` in the row of a file."""


class Group(Struct, frozen=True):
    """The files of one package, and its events."""

    contents: tuple[Content, ...]
    first: int = 0
    events: int = 0
    is_range: bool = False
    """Whether other packages process other events of its file."""


class Changed(Exception):
    """A file was taken away, or the task got another status, since they were read."""


def pickable(store: Store, task: Task, limit: int) -> list[Content]:
    """Return the next files of a task that no package processes."""
    return make_all(Content, store.rows("pickable_contents", task=task.id, limit=limit))


def has_pickable(store: Store, task: Task) -> bool:
    """Return whether a task has files, or events of some, that no package processes."""
    if pickable(store, task, 1):
        return True
    return task.rules.events_per_package is not None and bool(
        event_ranges.again(store, task.id, 1) or event_ranges.begun(store, task.id, 1)
    )


class Scout(Struct, frozen=True):
    """A scout of a task, what it needed, and how many files and events it had."""

    phase: str
    seconds: float | None
    cpu: float | None
    rss: int | None
    output: int | None
    files: int
    events: int | None


def scouts(store: Store, task: Task) -> list[Scout]:
    """Return the scouts of a task."""
    rows = store.rows("measured_scouts", stage=task.stage_id, limit=task.made)
    return [make(Scout, row) for row in rows]


def append(
    store: Store, task: Task, spec: JobSpec, groups: Sequence[Group], *, status: str, now: float
) -> int:
    """Add the lines of a job to that of a task, one for each group, in one transaction.

    Return how many: none if a file was taken away, or the task got another status meanwhile.
    Raises Refused for an output that another package makes.
    """
    with without_collector():
        adding = Adding(store, task, spec, task.stage_id, task.made, now)
        try:
            with store.writing():
                if not state.is_mine(store, task.id) or not state.is_unchanged(store, task):
                    raise Changed
                adding.insert()
                _pick(store, task, groups, adding.packages, now)
                if status != task.status:
                    state.move(store, task, status, now=now)
        except Changed:
            return 0
    return len(groups)


def on_nodes(line: LineSpec, nodes: tuple[str, ...]) -> LineSpec:
    """Return a line whose packages run on these nodes; the line itself without any."""
    if not nodes:
        return line
    return replace(
        line, packages=tuple([replace(package, nodes=nodes) for package in line.packages])
    )


def _pick(
    store: Store, task: Task, groups: Sequence[Group], packages: Sequence[int], now: float
) -> None:
    """Let packages that were just made take their files."""
    first, last = packages[0], packages[-1]
    pairs = list(zip(packages, groups, strict=True))
    taken = [(row.id, package) for package, group in pairs if not group.is_range
             for row in group.contents]  # fmt: skip
    store.empty("taken")
    store.change_many("take_content", taken)
    if store.change("pick_contents") != len(taken):
        raise Changed
    sent = [(group.contents[0], group.first, group.first + group.events - 1, package)
            for package, group in pairs if group.is_range]  # fmt: skip
    if not event_ranges.send(store, sent):
        raise Changed
    store.change("begin_content_attempts", first=first, last=last, now=now)
    store.change("count_made", task=task.id, made=task.made + len(packages))
    throttler.keep_partition(store, task)
    add_outputs(store, task, packages, is_merge=False, now=now)
    if task.merge_stage_id is not None:
        store.change("keep_out_of_results", first=first, last=last)


def add_outputs(
    store: Store, task: Task, packages: Sequence[int], *, is_merge: bool, now: float
) -> None:
    """The outputs of packages that were just made are files of datasets."""
    store.change("add_output_contents", task=task.id, first=packages[0], last=packages[-1],
                 merge=int(is_merge))  # fmt: skip
    for row in state.datasets(store, task.id):
        if row.output and bool(row.merged) is is_merge:
            if row.status == "defined":
                state.move_dataset(store, row.id, "ready", now=now)
            if row.status != "running":
                state.move_dataset(store, row.id, "running", now=now)


class Adding:
    """Lines on their way into a stage of the job of a task, which has `made` of them."""

    def __init__(
        self, store: Store, task: Task, spec: JobSpec, stage: int, made: int, now: float
    ) -> None:
        lines = list(spec.stages[0].lines)
        if task.rules.nodes:
            lines = [on_nodes(line, task.rules.nodes) for line in lines]
        self._store, self._stage, self._made, self._now = store, stage, made, now
        self._insertion = _Appending(store, task.job_id)
        made_once = replace(spec, packages=MOST_EXACT + 1,
                            stages=(replace(spec.stages[0], lines=lines),))  # fmt: skip
        expected = urgency(store, made_once)
        self._intake = _Additions(
            task.job_id, (), len(lines), now, self._insertion.reserve, expected
        )
        self._intake.job = task.name
        previous = _files_named(store, task, lines)
        self._intake.know(previous)
        self._insertion.previous = frozenset(row["id"] for row in previous)
        self._chunk = self._intake.added(stage, made + 1, lines)
        self.packages = [row[0] for row in self._chunk.packages]

    def insert(self) -> None:
        """Insert the rows, in a transaction."""
        store = self._store
        store.empty("incoming_requirement")
        self._insertion.insert(self._chunk)
        store.change("count_lines", stage=self._stage, lines=self._made + len(self.packages))
        store.change("add_work", stage=self._stage, work=sum(self._intake.work.values()))
        absent = self._insertion.absent | self._intake.absent
        lose(store, [(file, 0) for file in absent], now=self._now)


def _files_named(store: Store, task: Task, lines: Sequence[LineSpec]) -> list[Row]:
    """Return the files of the job that new packages read or make. Raises Refused.

    A file that a dropped package should have made is made by a new one.
    """
    packages = [package for line in lines for package in line.packages]
    binaries = [binary for package in packages for binary in package.binaries]
    makes = {output.file for binary in binaries for output in binary.outputs}
    reads = {_own(entry.file, task.name) for binary in binaries for entry in binary.inputs}
    reads.update(package.wrapper.file for package in packages if package.wrapper is not None)
    rows = store.rows("files_named", job=task.job_id, names=as_json(sorted(makes | reads)))
    for row in rows:
        if row["name"] in makes and row["package_id"] is not None and row["phase"] != "dropped":
            raise Refused(f"output `{row['name']}` would be made by two packages",
                          hint="use `{package.index}` in its name")  # fmt: skip
    return rows


def _own(file: str, job: str) -> str:
    """Return the name of a file in a job, which is written `JOB:NAME`; others as they are."""
    named = foreign(file)
    return named[1] if named and named[0] == job else file


class _Additions(Intake):
    """Makes the rows of lines that are added."""

    job = ""
    """The name of the job, whose files they read as `JOB:NAME`."""

    def know(self, previous: Sequence[Row]) -> None:
        """Use the rows that files have already."""
        self.absent: set[int] = set()
        """Files of the job that packages read, and that do not exist any more."""
        self._there = {row["id"]: bool(row["present"]) for row in previous}
        self._made_before = {
            row["name"]: row["id"] for row in previous if row["package_id"] is not None
        }
        self._outside.update(
            {row["name"]: row["id"] for row in previous if row["package_id"] is None}
        )

    def added(self, stage: int, first: int, lines: Sequence[LineSpec]) -> Chunk:
        """Return the rows of lines, numbered from `first`."""
        self._number = 1
        chunk = Chunk()
        for seq, line in enumerate(lines, first):
            self._line(chunk, stage, seq, line)
        wanted = set(self._plain) - self._consumed
        # A file that is inserted as a result needs no update afterwards.
        chunk.files = [(*row[:RESULT], 1, *row[RESULT + 1:]) if row[0] in wanted else row
                       for row in chunk.files]  # fmt: skip
        known = wanted.intersection(self._made_before.values())
        return replace(chunk, results=[(file,) for file in known])

    def _take(
        self, chunk: Chunk, package: int, binary: int, position: int, spec: InputSpec,
        own: set[int],
    ) -> int:  # fmt: skip
        name = _own(spec.file, self.job)
        file = self._made_before.get(name)
        if name == spec.file or file is None:
            return super()._take(chunk, package, binary, position, spec, own)
        self._read(chunk, package, binary, file, position, 0, spec)
        if self._there[file]:
            return 0
        self.absent.add(file)
        return 1

    def _file(self, name: str) -> int:
        known = self._made_before.get(name)
        return super()._file(name) if known is None else known


class _Appending(Insertion):
    """The rows of added lines; packages with the same requests share their requirement."""

    previous: frozenset[int] = frozenset()
    """Files that have rows, of packages that were dropped."""

    def insert(self, chunk: Chunk) -> None:
        """Insert the rows, in a transaction."""
        self._insert(chunk)

    def _make_requirement(self, fields: Sequence[object]) -> int:
        asked = self._requirement(fields)
        same = {key: asked[key] for key in asked
                if key not in ("rank", "seconds", "expected", "chain")}  # fmt: skip
        found = self.store.value("requirement_of_stage", **same)
        return int(found) if found is not None else super()._make_requirement(fields)

    def _files(self, rows: Sequence[tuple[object, ...]]) -> None:
        super()._files([row for row in rows if row[0] not in self.previous])
        if self.previous:
            again = [FileRow(*row) for row in rows if row[0] in self.previous]  # type: ignore[arg-type]
            self._change_many("correct_file", [
                (row.package, row.binary, row.dispositions, row.late, row.locator, row.size,
                 row.min_size, row.checksum, row.package, row.id)
                for row in again
            ])  # fmt: skip
