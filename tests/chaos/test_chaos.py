"""Seven schedules of faults; and the harness itself, which must see what it is there to see."""

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos import checks, trap
from tests.chaos.checks import Results
from tests.chaos.faults import FAULTS
from tests.chaos.field import Field
from tests.chaos.orders import Orders
from tests.chaos.plan import SLURM_WEIGHTS, TASK_WEIGHTS, WEIGHTS, calm, schedule
from tests.chaos.play import play
from tests.support.examples import first

SEEDS = (427, 812, 3720, 11, 236, 554, 5585)
"""Schedules that have every kind of fault between them."""


@pytest.mark.parametrize("seed", first(3, SEEDS))
def test_after_any_faults_the_results_equal_those_of_an_undisturbed_run(
    undisturbed: Results, seed: int
) -> None:
    outcome = play(schedule(seed), undisturbed)

    again = f"make chaos SCHEDULES=1 SEED={seed}"
    assert not outcome.problems, f"{again}\n{outcome.problems}\n{outcome.report}"


def test_the_seven_schedules_have_every_kind_of_fault() -> None:
    kinds = {strike.kind for seed in SEEDS for strike in schedule(seed).strikes}

    assert kinds == WEIGHTS.keys()
    assert WEIGHTS.keys() | SLURM_WEIGHTS.keys() | TASK_WEIGHTS.keys() == FAULTS.keys()


def test_a_schedule_depends_only_on_its_number() -> None:
    assert schedule(5) == schedule(5)
    assert len({schedule(seed).strikes for seed in range(100)}) == 100


@pytest.fixture
def field(tmp_path: Path) -> Iterator[Field]:
    """A site on which nothing runs."""
    field = Field(tmp_path, calm())
    try:
        yield field
    finally:
        field.close()


def seen(field: Field, expected: Results | None = None) -> str:
    """All that the checks find wrong."""
    return "\n".join(checks.check(field, expected))


def test_the_checks_find_a_job_that_is_not_done(field: Field) -> None:
    answer = seen(field, {"all": b"1\n"})

    assert "the results are {}, those of an undisturbed run {'all': b'1\\n'}" in answer
    assert "packages are {}" in answer


def test_the_checks_find_packages_that_ran_twice(field: Field) -> None:
    lines = ["start storm/1/1/1 7 a", "start storm/1/1/1 7 a", "double storm/1/1/1 8 a"]
    field.journal.path.write_text("".join(f"{line}\n" for line in lines))

    answer = seen(field)

    assert "attempt 7 ran the binary of `a` 2 times" in answer
    assert "`storm/1/1/1` ran as attempt 7, which it never had" in answer
    assert "attempt 8 of `storm/1/1/1` ran beside another one" in answer


def test_the_checks_find_a_waiting_and_a_rejected_message(field: Field) -> None:
    (field.home.dropbox / "new" / "1.1").write_text("{}\n")
    for name in ("2.1.x", "2.1.x.reason"):
        (field.home.dropbox / "rejected" / name).write_text("it is good\n")

    answer = seen(field)

    assert "messages wait: ['1.1']" in answer
    assert "2.1.x was rejected: it is good" in answer
    assert "doctor is not content" in answer


def test_a_corrupted_message_may_be_rejected(field: Field) -> None:
    field.spoiled.append("half a mess")
    rejected = field.home.dropbox / "rejected"
    for name in ("2.1.x", "2.1.x.reason"):
        (rejected / name).write_text("half a")

    assert "rejected" not in seen(field)
    assert not list(rejected.iterdir())


@pytest.mark.parametrize(
    ("runs", "finished"),
    [
        ("start 7 a, end 7 a", True),
        ("start 5 a, end 5 a", True),
        ("start 5 a, end 5 a, start 7 b, end 7 b", True),
        ("start 7 a", False),
        ("start 5 a, end 5 a, start 7 a", False),
        ("start 5 a, end 5 a, start 7 b", False),
        ("start 7 a, start 9 a, end 9 a", False),
        ("", False),
    ],
)
def test_an_attempt_counts_once_all_its_binaries_have_ended_here_or_earlier(
    field: Field, runs: str, finished: bool
) -> None:
    notes = [run.split() for run in runs.split(", ") if run]
    lines = [f"{word} storm/1/1/1 {attempt} {output}\n" for word, attempt, output in notes]
    field.journal.path.write_text("".join(lines))

    assert bool([*checks.unfinished(field.journal, "storm/1/1/1", 7)]) != finished


LISTS = "from tests.chaos import trap; trap.lay(r'{}', 'call'); import d0ctl.units as units\n"


@pytest.mark.parametrize("deed", ["units.parse_rate('2/1h')", "units.parse_size('2 MB')"])
def test_a_process_is_killed_only_at_the_chosen_point(tmp_path: Path, deed: str) -> None:
    orders = Orders(tmp_path / "orders")
    order = '{"point": "parse_rate", "count": 2, "after": true}'
    (orders.folder / "call-001.json").write_text(order)
    text = f"{LISTS.format(orders.folder)}{deed}\n{deed}\nprint('lives')"

    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)

    is_point = "parse_rate" in deed
    assert (done.returncode, done.stdout) == ((-9, "") if is_point else (0, "lives\n"))
    assert orders.fired() == (["call parse_rate 2 1"] if is_point else [])


def test_an_order_is_obeyed_once(tmp_path: Path) -> None:
    orders = Orders(tmp_path / "orders")
    orders.kill("daemon", random.Random(1))

    assert trap.take(str(orders.folder), "relay") is None
    assert trap.take(str(orders.folder), "daemon") is not None
    assert trap.take(str(orders.folder), "daemon") is None
