"""Corrections of jobs: what has not begun is as if the new job file had been submitted."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from d0ctl.errors import Refused
from d0ctl.jobfile.spec import InputSpec, JobSpec, LineSpec
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.correction import correct, planning
from d0ctl.store.jobs.correction.planning import Outline
from d0ctl.store.jobs.submission.intake_rows import PackageRow
from d0ctl.store.jobs.submission.submit import job_columns
from d0ctl.store.nodes import placement
from d0ctl_sql import queries
from tests.store.correcting import Key, Shape, jobs, shape
from tests.support.examples import examples
from tests.support.homes import faults, make_home
from tests.support.jobs import NOW, job, line, phases, simple, stage, submitted
from tests.support.rows import read
from tests.support.site import Site

PAIRS = settings(max_examples=examples(12), deadline=None)


@contextmanager
def fresh() -> Iterator[Store]:
    """A store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        with open_store(make_home(Path(folder, "home"))) as store:
            store.connection.execute("pragma synchronous = off")
            yield store


def change(store: Store, spec: JobSpec, *, again: bool = False, accept: bool = False) -> Outline:
    """Correct the first job."""
    with store.writing():
        outline = planning.plan(store, 1, spec, again=again, accept=accept)
        correct.correct(store, 1, spec, outline, actor="me", note="corrected", now=NOW + 1e6)
    return outline


@PAIRS
@given(jobs(), jobs())
def test_a_job_that_has_not_begun_becomes_what_a_fresh_submission_makes(
    old: JobSpec, new: JobSpec
) -> None:
    with fresh() as store, fresh() as other:
        submitted(store, old)
        submitted(other, new)

        change(store, new)

        assert faults(store) == {}
        assert shape(store) == shape(other)
        assert mean_work(other).items() <= mean_work(store).items()


def mean_work(store: Store) -> dict[str, float]:
    """The CPU seconds that a package of each stage is expected to take; dropped ones count, too."""
    return {
        name: work / sum(n for (n,) in read(store, "stage_count", "n", by="phase", stage_id=stage))
        for stage, name, work in read(store, "stage", "id", "name", "work")
    }


@PAIRS
@given(jobs(), jobs(), st.lists(st.integers(0, 5), max_size=4))
def test_a_job_read_before_is_valid_once_phases_are_read_again(
    old: JobSpec, new: JobSpec, turns: list[int]
) -> None:
    with fresh() as store:
        submitted(store, old)
        before = planning.read_before(store, 1, new)
        site = Site.of(store, cpus=2)
        for number in turns:
            turn(site, failing=number)

        found = [outcome(store, new, reading) for reading in (before, None)]

        assert found[0] == found[1]


def outcome(store: Store, spec: JobSpec, before: planning.Reading | None) -> object:
    """What a correction would do, or why not."""
    with store.writing():
        try:
            plan = planning.plan(store, 1, spec, before=before)
        except Refused as refusal:
            return str(refusal)
        places = (plan.found.rewritten, plan.found.outdated, plan.found.busy)
        return plan.written, plan.readers, plan.found.added, plan.found.removed, places


@PAIRS
@given(jobs(), jobs())
def test_a_correction_back_restores_what_was_there(old: JobSpec, new: JobSpec) -> None:
    with fresh() as store, fresh() as other:
        submitted(store, old)
        submitted(other, old)

        change(store, new)
        change(store, old)

        assert faults(store) == {}
        assert shape(store) == shape(other)
        assert {p for p in phases(store).values() if p != "dropped"} == {*phases(other).values()}


def test_a_reader_that_runs_again_asks_for_what_the_new_job_file_says() -> None:
    def two(script: str, memory: int | None, *, early: bool) -> JobSpec:
        merge = simple("merge", [InputSpec("s", required=False)], ["all"], memory=memory)
        merged = LineSpec("merge", (merge,), early_start=early)
        return job("first", stage(line(simple(script, [], ["s"]))), stage(merged, name="merge"))

    with fresh() as store, fresh() as other:
        submitted(store, two("old", None, early=False))
        submitted(other, two("new", 1000, early=True))
        Site.of(store, cpus=2).settle()

        change(store, two("new", 1000, early=True), again=True)

        assert faults(store) == {}
        assert what(shape(store), stays=False) == what(shape(other), stays=False)


def test_packages_whose_removed_outputs_are_read_again_are_planned() -> None:
    def three(script: str) -> JobSpec:
        return job(
            "first",
            stage(line(simple("gen", [], ["g"])), line(simple("other", [], ["o"]))),
            stage(line(simple("sim", ["g"], ["s"])), name="sim"),
            stage(line(simple(script, ["s"], ["all"])), name="merge"),
        )

    with fresh() as store:
        submitted(store, three("merge"))
        Site.of(store, cpus=2).settle()
        store.connection.execute("update file set present = 0")

        outline = change(store, three("sort"), again=True)

        assert [place.path for place in outline.remade.values()] == ["1/1/1", "2/1/1"]
        assert sorted(phases(store).values()) == ["done", "ready", "waiting", "waiting"]


@PAIRS
@given(jobs(), jobs(), st.lists(st.integers(0, 5), min_size=1, max_size=6),
       st.sampled_from(["leave", "again", "accept"]))  # fmt: skip
def test_packages_that_have_not_begun_are_as_new_and_the_job_ends(
    old: JobSpec, new: JobSpec, turns: list[int], how: str
) -> None:
    with fresh() as store, fresh() as other:
        submitted(store, old)
        submitted(other, new)
        site = Site.of(store, cpus=2)
        for number in turns:
            turn(site, failing=number)

        done = of_phase(store, "done")
        try:
            outline = change(store, new, again=how == "again", accept=how == "accept")
        except Refused as refusal:
            reasons = ("already made other files", "being made", "whose line is running")
            assert any(reason in str(refusal) for reason in reasons), refusal
            return

        assert faults(store) == {}
        planned = (outline.again & done) | outline.remade.keys()
        assert done - of_phase(store, "done", "dropped") == planned
        after = planning.plan(store, 1, new)
        assert not outline.accepted.keys() & (after.found.outdated.keys() | after.written)
        busy = outline.found.busy.keys()
        idle = [row[0] for row in store.connection.execute(
            "select id from package where phase in ('waiting', 'ready', 'failed')"
        ) if row[0] not in busy]  # fmt: skip
        stays = bool(busy or outline.found.outdated)
        whole = what(shape(other), stays=stays)
        for key, found in what(shape(store, idle), stays=stays).items():
            assert found == whole[key]
        settle(site)
        assert faults(store) == {}
        left = {*phases(store).values()} - {"done", "dropped", "failed"}
        assert not left or (left <= {"waiting", "running"} and "failed" in phases(store).values())


def of_phase(store: Store, *names: str) -> set[int]:
    """The ids of the packages that are in one of these phases."""
    rows = store.connection.execute("select id, phase from package")
    return {row["id"] for row in rows if row["phase"] in names}


def what(shapes: dict[Key, Shape], *, stays: bool) -> dict[Key, Shape]:
    """What packages are to do, without what they wait for and what of theirs is there.

    Whether the list of inputs of one that starts early is closed depends on what has run. Files
    go to results/ if nothing reads them, and what stays as it was may read others; those that were
    there are replaced when they are made again.
    """
    return {
        key: (
            found[0][1] > 0, found[0][2:], *found[1:4],
            [(*row[:2], None if stays else row[2], *row[3:6]) for row in found[4]], found[5],
        )
        for key, found in shapes.items()
    }  # fmt: skip


def turn(site: Site, failing: int) -> None:
    """Start what can start, and end some of it: well, but for one that fails."""
    site.schedule()
    site.carry()
    for node in site.nodes.values():
        site.hand_out(node)
        site.order(node)
        running = [attempt for attempt, state in node.attempts.items() if state == "running"]
        for attempt in running[1:] if failing > 3 else running:
            bad = attempt % 6 == failing
            node.end(attempt, "failed" if bad else "successful", "exit-code" if bad else None)
        site.deliver(node, node.spool)
    end_jobs(site)


def settle(site: Site) -> None:
    """Let everything come to its end, final stages too."""
    for _ in range(3):
        site.settle()
        end_jobs(site)
    site.settle()


def end_jobs(site: Site) -> None:
    """Let stages and jobs end that can't move."""
    with site.store.writing():
        placement.end_jobs(site.store, now=site.now)


def test_a_correction_compares_and_changes_all_that_a_job_file_says() -> None:
    settings = job_columns(job("one", [simple()]))
    definition = PackageRow._fields[PackageRow._fields.index("wall_time") :]

    for query, names in (
        ("correct_job", settings),
        ("standing_packages", definition),
        ("correct_package", definition),
    ):
        words = set(re.findall(r"\w+", queries()[query]))
        assert [name for name in names if name not in words] == [], query
