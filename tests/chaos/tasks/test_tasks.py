"""Three schedules of faults of agents; and their checks, which must see what they are there for."""

from collections.abc import Iterator

import pytest

from d0ctl.store import open_store
from tests.chaos.field import Field
from tests.chaos.plan import TASK_WEIGHTS, calm, schedule
from tests.chaos.play import play
from tests.chaos.tasks import checks, production
from tests.chaos.work import JOB
from tests.support.examples import first
from tests.support.rows import checkpoint
from tests.tasks.making import submit, work

SEEDS = (2993, 409, 22)
"""Schedules that have every kind of fault between them."""


@pytest.mark.parametrize("seed", first(1, SEEDS))
def test_after_any_faults_each_file_counts_once(seed: int) -> None:
    outcome = play(schedule(seed, tasks=True), None)

    again = f"make chaos SCHEDULES=1 SEED={seed} TASKS=yes"
    assert not outcome.problems, f"{again}\n{outcome.problems}\n{outcome.report}"


def test_these_schedules_have_every_kind_of_fault() -> None:
    strikes = [strike for seed in SEEDS for strike in schedule(seed, tasks=True).strikes]

    assert {strike.kind for strike in strikes} == TASK_WEIGHTS.keys()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """A site on which nothing runs, with a task whose packages were all successful."""
    field = Field(tmp_path_factory.mktemp("site"), calm(tasks=True))
    try:
        production.write(field)
        with open_store(field.home) as store:
            submit(store, name=JOB, inputs="{seeds: {list: [n1, n2]}}")
            work(store)
            ask = store.connection.execute
            for phase in ("ready", "assigned", "starting", "running", "done"):
                ask("update package set phase = ? where phase <> ?", [phase, phase])
            work(store)
            checkpoint(store)
        yield field
    finally:
        field.close()


@pytest.fixture
def field(site: Field) -> Iterator[Field]:
    """That site, whose database a test may spoil."""
    whole = site.home.database.read_bytes()
    yield site
    site.home.database.write_bytes(whole)


def seen(field: Field, spoil: str = "") -> Iterator[str]:
    """What the checks find wrong after a change of the database, one after the other."""
    with open_store(field.home) as store, store.writing():
        store.connection.execute("drop trigger content_refused")
        for query in filter(None, spoil.split(";")):
            store.connection.execute(query)
    return checks.check(field)


def test_the_checks_find_files_that_are_not_in_the_results(field: Field) -> None:
    answer = "\n".join(seen(field))

    assert "the task is done" in answer
    assert "in the results there are not once: {" in answer
    assert not any(what in answer for what in checks.QUERIES)


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (
            "update content set status = 'running' where name = 'n1'",
            "files whose package has ended, or that two hold",
        ),
        (
            "insert into content_attempt select content_id, 2, 2, 1, 2, 'finished' from"
            " content_attempt where content_id = 1",
            "files with other than one attempt that counts",
        ),
        (
            "insert into content_attempt select content_id, 2, 2, 1, 2, 'finished' from"
            " content_attempt where content_id = 1",
            "files in several packages that were successful",
        ),
        ("update content set attempts = 2 where name = 'n1'", "attempts that are not numbered"),
        ("update content_attempt set ended = null", "attempts without an end"),
        ("update dataset_count set n = 7 where status = 'finished'", "counts of files that are"),
        ("update task set made = 3", "packages that are not those that the task has counted"),
        ("delete from task_log where new = 'ready'", "statuses that do not follow each other"),
        ("update task_log set old = 'done' where new = 'ready'", "statuses that may not follow"),
        ("update content set status = 'running' where output = 1", "outputs that are not there"),
    ],
)
def test_the_checks_find_what_agents_must_never_do(field: Field, spoil: str, what: str) -> None:
    assert any(what in fault for fault in seen(field, spoil))
