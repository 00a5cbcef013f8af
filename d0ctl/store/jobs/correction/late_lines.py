"""Lines for groups of late outputs, made when their names are known.

They are added in short transactions, and the job continues meanwhile. The line that stands for
all of them stays open until the last transaction; so after an interruption, the next call finds
the existing lines and makes the others.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from d0ctl.errors import BadJobFile, Refused
from d0ctl.jobfile.language.file_names import foreign
from d0ctl.jobfile.spec import JobSpec, LineSpec
from d0ctl.model import ACTOR
from d0ctl.store import lifecycle, stage_order
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit
from d0ctl.store.jobs.correction import comparison, counterparts
from d0ctl.store.jobs.correction.checks import check
from d0ctl.store.jobs.correction.comparison import Comparison, made_inputs
from d0ctl.store.jobs.correction.correct import Correction, make_absent_again
from d0ctl.store.jobs.correction.pairing.new_lines import NewLine, NewStage
from d0ctl.store.jobs.correction.planning import declared_results
from d0ctl.store.jobs.correction.revision import (
    Known,
    Revision,
    Rewriting,
    count_anew,
    known_files,
    named_by_number,
)
from d0ctl.store.jobs.submission.intake import CHUNK_ROWS
from d0ctl.store.jobs.submission.intake_rows import Chunk, FileRow
from d0ctl.store.jobs.submission.submit import text_of
from d0ctl.store.jobs.submission.urgency import Urgency, urgency
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.units import count

NOTE = "the names of late outputs are known"

Clock = Callable[[], float]


class _Changed(Exception):
    """The job has changed since it was read."""


def make_lines(
    store: Store, clock: Clock, stops: Callable[[], bool] = bool, *, rows: int = CHUNK_ROWS
) -> None:
    """Make the lines of jobs that wait only for them, until `stops` says so; hold a job that has a
    fault. A job that is changed meanwhile is left as it is, for the next call.

    A transaction adds lines until they have more than `rows` rows together.
    """
    for job in stage_order.jobs_with_open_lines(store):
        try:
            seen = _seen(store, job["id"], job["name"])
            with store.reading():
                making = _read(store, job["id"], job["name"], seen, clock)
            making.make(stops, rows)
        except _Changed:
            continue
        except (BadJobFile, Refused) as error:
            fault = error.faults[0] if isinstance(error, BadJobFile) else str(error)
            note = f"its groups of late outputs can't be made: {fault}"
            with store.writing():
                if stage_order.jobs_with_open_lines(store, job["id"]):
                    lifecycle.hold_job(store, job["id"], actor=ACTOR, note=note, now=clock())


class _Seen(NamedTuple):
    """Values that change when a person changes a job, or its late outputs get other names."""

    action: int
    files: int
    newest: int


def _seen(store: Store, job: int, name: str) -> _Seen:
    row = store.row("late_names", job=job)
    assert row is not None
    return _Seen(audit.latest_on(store, name), row["files"], row["newest"])


def _read(store: Store, job: int, name: str, seen: _Seen, clock: Clock) -> "_Making":
    """Read the job file of a job again, and compare the stages that depend on the groups."""
    from d0ctl.jobfile import reader  # imports yaml, which a daemon seldom needs

    known = text_of(store, job)
    assert known is not None
    spec = reader.read_text(
        known.text, known.source, known.directory, known.parameters, known_names(store, job)
    )
    spec = counterparts.with_own_priorities(store, job, spec, lambda: None)
    sides = comparison.read(store, job, spec, only_late=True)
    found = comparison.compare(sides, spec)
    if not found.rewritten:
        raise Refused("their names are not known")
    making = _Making(
        store, job, name, spec, found, sides.reads, known_files(store, job), urgency(store, spec),
        declared_results(spec), seen, clock,
    )  # fmt: skip
    making.lines = making.count_lines()
    return making


class _Making(Struct):
    """The making of the lines of one job, in progress."""

    store: Store
    job: int
    name: str
    spec: JobSpec
    found: Comparison
    reads: set[str]
    """The files that packages read."""
    known: Known
    expected: Urgency
    declared: list[str]
    """The files that the job file sends to results/."""
    seen: _Seen
    clock: Clock
    lines: list[int] = field(default_factory=list)
    """How many lines each stage has so far."""

    def make(self, stops: Callable[[], bool], most: int) -> None:
        """Add the lines that need no other change first, then all others."""
        packages = len(self.found.rewritten) + len(self.found.added)
        revision, rows = self._revision()
        with self.store.writing():
            self.store.empty("incoming_requirement")
        for number, stage in enumerate(self.found.stages):
            if stage.is_left:
                continue
            for chunk, last in self._chunks(number, stage, revision, most):
                if stops():
                    return
                self._add(number, stage, rows, chunk, last)
        self._finish(packages)

    def count_lines(self) -> list[int]:
        """Return how many lines each stage of the job has in the database."""
        return [row["lines"] for row in self.store.rows("standing_stages", job=self.job)]

    def _revision(self) -> tuple[Revision, Rewriting]:
        rows = Rewriting(self.store, self.job, known=self.known)
        added = max(1, len(self.found.added))
        now = self.clock()
        return Revision(self.job, added, now, rows.reserve, self.expected, self.known), rows

    def _chunks(
        self, number: int, stage: NewStage, revision: Revision, most: int
    ) -> Iterator[tuple[Chunk, int]]:
        """Make the rows of lines that can be added now, each time with the number of the last.

        The others are the rest of the stage, and so are those after a newly added one: lines
        are numbered without gaps.
        """
        rest: dict[int, LineSpec] = {}
        chunk, last = Chunk(), 0
        is_open = stage.old is not None
        for at, line, spec in stage.pairs(self.spec.stages[number]):
            if line.old is not None:
                if _is_changed(line, named_by_number(spec, at, line.seq), self.found):
                    rest[at] = spec
            elif not (is_open and self._can_be_added(line, spec, revision)):
                is_open = False
                rest[at] = spec
            else:
                assert stage.old is not None
                named = named_by_number(spec, at, line.seq)
                revision.line(chunk, stage.old.id, (number + 1, at), line, named, (), ())
                last = line.seq
                if len(chunk.packages) + len(chunk.inputs) + len(chunk.files) > most:
                    yield chunk, last
                    chunk = Chunk()
        stage.rest = rest
        if chunk.lines:
            yield chunk, last

    def _can_be_added(self, line: NewLine, spec: LineSpec, revision: Revision) -> bool:
        """Return whether everything that a line names exists, and its outputs are new."""
        return (
            not spec.after
            and not spec.early_start
            and all(
                revision.knows(name) or foreign(name)
                for of in spec.packages
                for name in made_inputs(of)
            )
            and not any(
                revision.knows(name) for definition in line.definitions for name in definition.makes
            )
        )

    def _add(self, number: int, stage: NewStage, rows: Rewriting, chunk: Chunk, last: int) -> None:
        """Add lines to a stage, and set their packages waiting or ready."""
        store = self.store
        files = [FileRow(*row) for row in chunk.files]
        made = [row for row in files if row.package is not None]
        chunk.results = [
            (row.id,) for row in made
            if row.name not in self.reads and not row.dispositions and row.locator is None
        ]  # fmt: skip
        assert stage.old is not None
        with store.writing():
            self._check()
            rows.insert(chunk)
            store.change("count_lines", stage=stage.old.id, lines=last)
            store.change("open_added_lines", stage=stage.old.id)
            count_anew(store, rows.added).change("leave_to_lines", job=self.job)
            make_absent_again(store, rows.added, now=self.clock())
        rows.added.clear()
        self.lines[number] = last
        self.known.outside.update({row.name: row.id for row in files if row.package is None})
        self.known.ids.update({row.name: row.id for row in made})
        self.known.makers.update({row.id: row.package for row in made if row.package is not None})

    def _check(self) -> None:
        """Raise _Changed if the job has changed since it was read, apart from the added lines."""
        if _seen(self.store, self.job, self.name) != self.seen or self.lines != self.count_lines():
            raise _Changed

    def _finish(self, packages: int) -> None:
        """Make the other changes in one transaction, the last."""
        store, found, now = self.store, self.found, self.clock()
        left = {(stage.seq, line.seq) for stage in found.stages if not stage.is_left
                for _, line in stage.numbered}  # fmt: skip
        found.added = [added for added in found.added if (added.stage, added.line) in left]
        more = f"{NOTE}: {count(found.added_lines, 'line')} more"
        note = "; ".join([more, *self.spec.left_out])
        with store.writing():
            self._check()
            self._check_phases()
            written = frozenset(found.rewritten)
            check(store, self.job, self.spec, found, written, self.known)
            Correction(
                store, self.job, self.spec, found, frozenset(), written, ACTOR, note, now,
                self.known, self.expected, self.declared,
            ).apply()  # fmt: skip
            lifecycle.keep_action(store, verb="group", target=self.name, actor=ACTOR, note=note,
                                  packages=packages, now=now)  # fmt: skip

    def _check_phases(self) -> None:
        """Raise _Changed if a package to be written or dropped has begun, or has ended."""
        lost = {package.id: package.phase for line in self.found.lost for package in line.packages}
        before = {**{key: position.phase for key, position in self.found.rewritten.items()}, **lost}
        rows = self.store.select(before).rows("phases_of_selected")
        if {row["id"]: row["phase"] for row in rows} != before:
            raise _Changed


def _is_changed(line: NewLine, spec: LineSpec, found: Comparison) -> bool:
    """Return whether an existing line must be changed."""
    old = line.old
    assert old is not None
    return (
        len(old.packages) < len(spec.packages)
        or any(package.id in found.rewritten for package in old.packages)
        or (old.name, old.is_early, old.is_open) != (spec.name, spec.early_start, spec.is_open)
        or bool(spec.after or old.after)
    )
