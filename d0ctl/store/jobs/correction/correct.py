"""The correction of a job: packages that have not begun follow another job file."""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from d0ctl.jobfile.spec import JobSpec
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.attempts.late_outputs import FORGET
from d0ctl.store.connection import Selection, Store
from d0ctl.store.files import copies, edited_files
from d0ctl.store.jobs import restore_line, results, retry
from d0ctl.store.jobs.correction import acceptance
from d0ctl.store.jobs.correction.comparison import Comparison, line_numbers
from d0ctl.store.jobs.correction.pairing import lacked_inputs
from d0ctl.store.jobs.correction.pairing.new_lines import NewStage
from d0ctl.store.jobs.correction.planning import Outline, declared_results
from d0ctl.store.jobs.correction.revision import (
    Known,
    Revision,
    Rewriting,
    count_anew,
    known_files,
    named_by_number,
)
from d0ctl.store.jobs.correction.texts import Follower
from d0ctl.store.jobs.submission.intake_rows import Chunk, line_row
from d0ctl.store.jobs.submission.submit import expect_anew, job_columns
from d0ctl.store.jobs.submission.urgency import Urgency, urgency

LINES_AT_ONCE = 1_000
"""The number of lines whose rows are inserted together."""


def correct(
    store: Store, job: int, spec: JobSpec, outline: Outline, followers: Iterable[Follower] = (), *,
    actor: str, note: str, now: float,
) -> None:  # fmt: skip
    """Change a job as planned, in the open transaction; `followers` are to be updated, too."""
    anew = outline.again | outline.redefined
    acceptance.keep_recipes(store, outline.found, outline.accepted, anew)
    store.change("catch_up", job=job)
    store.change_many("leave_behind", [(follower.id, job) for follower in followers])
    Correction(
        store, job, spec, outline.found, anew, outline.written, actor, note, now,
        known_files(store, job), unread=outline.unread,
    ).apply()  # fmt: skip
    acceptance.accept(store, outline.accepted, outline.contents, now=now)
    store.change("forget_outdated_packages", job=job)
    acceptance.record_outdated(store, job, outline.outdated, outline.by_recipe,
                               outline.found, outline.acceptable)  # fmt: skip
    lacked_inputs.record(store, job, outline.lacked)


class Correction(Struct):
    """A correction in progress: of a job, by a job file, by a comparison."""

    store: Store
    job: int
    spec: JobSpec
    found: Comparison
    again: frozenset[int]
    written: frozenset[int]
    actor: str
    note: str
    now: float
    known: Known
    expected: Urgency | None = None
    """The estimates for its packages, if known already."""
    declared: list[str] | None = None
    """The files for results/, likewise."""
    unread: Collection[str] = ()
    """Files that outdated packages would read if they ran again."""
    touched: set[int] = field(default_factory=set)
    """Packages whose counters are computed again."""

    def apply(self) -> None:
        """Change the rows."""
        # while the packages still have their inputs
        readers = self.store.select({*self.again, *self.found.edited})
        edited_files.renew_copies(readers, now=self.now)
        complete = (package for stage in self.found.stages for package in stage.complete_without())
        self.store.change_many("forget_dropped_inputs", ((package,) for package in complete))
        self._clear()  # first, or inputs that the job file has no more would be made again
        self._run_again(Phase.DONE)
        self._bring_back()
        self._take_files()
        stages = [self._stage(new, number) for number, new in enumerate(self.found.stages)]
        self._write(stages)
        self._order(stages)
        self._count()
        self._drop_lost()
        self._forget_files()
        acceptance.redefine_failed(self.store, self.found, now=self.now)
        self._run_again(Phase.FAILED)
        self._settle()

    @property
    def _by(self) -> dict[str, Any]:
        return {"actor": self.actor, "note": self.note, "now": self.now}

    def _run_again(self, phase: Phase) -> None:
        """done, failed -> ready or waiting, like a person's retry."""
        selected = self.store.select(self.again)
        retry.keep_phases(selected, [phase])
        if not selected.count():
            return
        if phase == Phase.DONE:
            retry.make_again(selected, **self._by)
        else:
            retry.retry(selected, **self._by)

    def _bring_back(self) -> None:
        """dropped -> as before: lines that the job file has again."""
        packages = [package.id for line in self.found.back for package in line.packages]
        if packages:
            selected = self.store.select(packages)
            restore_line.restore(selected, [line.id for line in self.found.back], **self._by)

    def _take_files(self) -> None:
        """Forget copies of files that another package makes from now on."""
        taken = [(file,) for file in self._taken()]
        for (file,) in taken:
            for row in self.store.rows("files_of_pattern", pattern=file):
                self._forget_file(row["id"])
        if taken:
            self.store.empty("lost_copy")
            for query in ("lose_taken_files", "purge_taken_file", "forget_taken_file"):
                self.store.change_many(query, taken)
            self.store.change("forget_copies")
            self.store.change("lose_files")
            self.store.change("wait_again", now=self.now)
            self.store.change("end_lost_transfers")
            self.store.empty("lost_copy")

    def _taken(self) -> Iterator[int]:
        for stage in self.found.stages:
            for _, line in stage.numbered:
                for number, definition in enumerate(line.definitions):
                    package = line.package(number)
                    if package is None or package in self.written:
                        files = [self.known.ids[n] for n in definition.makes if n in self.known.ids]
                        yield from (file for file in files if self.known.makers[file] != package)

    def _stage(self, new: NewStage, number: int) -> int:
        """Insert or update the row of a stage; return its id."""
        of = self.spec.stages[number]
        says = {"name": of.name, "require": of.require, "max_running": of.max_running,
                "final": int(of.final)}  # fmt: skip
        if new.old is None:
            return int(self.store.value("make_stage", job=self.job, seq=new.seq, **says))
        self.store.change("correct_stage", stage=new.old.id, **says)
        return new.old.id

    def _clear(self) -> None:
        """Remove the assignments, retained files, inputs and binaries of changed packages."""
        selected = self.store.select(self.written)
        selected.change("unassign_selected", **self._by)
        selected.change("purge_kept_of_selected")
        selected.change("forget_kept_of_selected")
        selected.change("delete_selected_inputs")
        selected.change("delete_selected_binaries")

    def _write(self, stages: list[int]) -> None:
        """Write the additions and changes of the job file."""
        rows = Rewriting(self.store, self.job, known=self.known, written=self.written)
        number = max(1, len(self.found.added))
        expected = self.expected or urgency(self.store, self.spec)
        revision = Revision(self.job, number, self.now, rows.reserve, expected, self.known)
        numbers = line_numbers(self.found.stages)
        self.store.empty("incoming_requirement")
        newest = int(self.store.value("newest_requirement"))
        names, changed = [], set[int]()
        pairs = zip(stages, self.found.stages, self.spec.stages, strict=True)
        for seq, (stage, new, of) in enumerate(pairs, 1):
            chunk = Chunk()
            for at, line, spec in new.pairs(of):
                if line.old is None or any(old.id in self.written for old in line.old.packages):
                    changed.add(stage)
                named = named_by_number(spec, at, line.seq)
                before = [numbers(position) for position in spec.after]
                revision.line(chunk, stage, (seq, at), line, named, before, self.written)
                if line.old and (line.old.name, line.old.is_early, line.old.is_open) != (
                    named.name, named.early_start, named.is_open,
                ):  # fmt: skip
                    names.append((*line_row(line.old.id, stage, line.seq, named)[3:], line.old.id))
                if at % LINES_AT_ONCE == 0:
                    rows.insert(chunk)
                    chunk = Chunk()
            rows.insert(chunk)
            lines = max([line.seq for line in new.lines] + [new.old.row["lines"] if new.old else 0])
            self.store.change("count_lines", stage=stage, lines=lines)
        for chunk in revision.rest():
            rows.insert(chunk)
        expect_anew(self.store, self.job, stages, changed, expected, newest)
        self.store.change_many("correct_line", names)
        self.store.select(self.written).change("drop_added_files")
        self.touched |= {*self.written, *rows.added}

    def _order(self, stages: list[int]) -> None:
        """Order stages and lines as the job file says."""
        self._order_lines()
        for stage, new, of in zip(stages, self.found.stages, self.spec.stages, strict=True):
            before = {stages[number - 1] for number in of.after} | ({0} if of.final else set())
            there = new.old.after if new.old else set()
            if before != there:
                self.store.change("forget_stage_order", stage=stage)
                for number in of.after:
                    after = self.found.stages[number - 1].seq
                    self.store.change("order_stage", job=self.job, seq=new.seq, after=after)
                if of.final:
                    self.store.change("order_final", job=self.job, seq=new.seq)
            if before == there and new.rest is not None:
                self.store.change("open_added_lines", stage=stage)
            elif before or there:
                self.store.change("close_stage", stage=stage)
                self.store.change("open_added_lines", stage=stage)
                selected = self.store.select()
                selected.change("choose_first_of_stage", stage=stage)
                self.touched.update(row[0] for row in selected.rows("selected_ids"))

    def _order_lines(self) -> None:
        numbers = line_numbers(self.found.stages)
        places = {line.old.id: (new.seq, line.seq)
                  for new in self.found.stages for line in new.lines if line.old}  # fmt: skip
        changed: list[tuple[int]] = []
        orders: list[tuple[int, int, int, int]] = []
        for new, of in zip(self.found.stages, self.spec.stages, strict=True):
            for _, line, spec in new.pairs(of):
                after = {numbers(position) for position in spec.after}
                if line.old and after != {places.get(position) for position in line.old.after}:
                    changed.append((line.old.id,))
                    orders += [(line.old.id, self.job, *position) for position in after]
                    self.touched.add(line.old.packages[0].id)
        self.store.change_many("forget_line_order", changed)
        self.store.change_many("order_line", orders)

    def _count(self) -> None:
        """Count again what packages wait for, and set them waiting or ready."""
        lifecycle.drop_with_lines(self.store.select(self.touched - self.written), **self._by)
        count_anew(self.store, self.touched).change("wait_corrected", **self._by)
        self.store.select(self.written).change("end_cooloff_of_selected", **self._by)
        if self.found.without:
            self.store.change_many("follow_line", ((line,) for line in self.found.follow))
            back = {package.id for line in self.found.back for package in line.packages}
            lifecycle.drop_without_inputs(self.store.select(self.touched | back), **self._by)

    def _drop_lost(self) -> None:
        """Drop the lines missing in the job file; those that run, or have succeeded, stay."""
        lines = self.found.lost
        if lines:
            selected = self.store.select(package.id for line in lines for package in line.packages)
            ids = [line.id for line in lines]
            lifecycle.drop(selected, ids, **self._by)
            self.store.change_many("leave_line", ((line,) for line in ids))
        compared = [(new.old.id,) for new in self.found.stages if new.old and not new.is_left]
        self.store.change_many("return_lines", compared)
        self.store.change_many("list_dropped_lines", compared)
        self.store.change_many("unlist_dropped_line", ((line,) for line in self.found.dropped))
        staying = self.found.unlisted | self.found.leaving
        self.store.change_many("leave_standing_line", ((id,) for id in staying))

    def _forget_files(self) -> None:
        """Forget the files that packages no longer make."""
        for name, file in self.known.ids.items():
            if self.known.makers[file] in self.written and name not in self.found.makes:
                matches = [row["id"] for row in self.store.rows("files_of_pattern", pattern=file)]
                for forgotten in (*matches, file):
                    self._forget_file(forgotten)

    def _forget_file(self, file: int) -> None:
        self.store.change("unassign_readers", file=file, now=self.now)
        self.store.change_many("purge_taken_file", [(file,)])
        for query in FORGET:
            self.store.change(query, file=file)

    def _settle(self) -> None:
        """Remake removed files that are read again, and record the new definition."""
        store, spec = self.store, self.spec
        selected = make_absent_again(store, self.touched, now=self.now)
        selected.change("reopen_jobs")
        selected.change("reopen_finished")
        store.change("forget_needs", job=self.job)
        declared = declared_results(spec) if self.declared is None else self.declared
        results.declare(store, self.job, declared, now=self.now)
        store.change("correct_results", job=self.job, declared=json.dumps(declared),
                     read=json.dumps([*self.unread]))  # fmt: skip
        store.change("correct_job", job=self.job, **job_columns(spec))


def make_absent_again(store: Store, packages: Iterable[int], *, now: float) -> Selection:
    """Schedule the makers of removed files that packages read."""
    selected = store.select(packages)
    store.empty("lost_copy")
    selected.change("lose_absent_inputs")
    copies.remake(store, now=now)
    return selected
