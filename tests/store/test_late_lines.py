"""Lines of groups of late outputs are added step by step, and an interruption does no harm."""

from pathlib import Path

import pytest

from d0ctl.actions import apply, request
from d0ctl.jobfile.reader import read_text
from d0ctl.select import parse
from d0ctl.store import Store, open_store, stage_order
from d0ctl.store.jobs.correction.late_lines import make_lines
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.standstill import is_settled
from tests.store.test_files import lose
from tests.store.test_late import begun, end_with
from tests.support.homes import faults
from tests.support.jobs import phases, submitted
from tests.support.rows import read
from tests.support.world import World

JOB = """
job: late
stages:
  - name: split
    lines:
      - {run: split, outputs: {file: "part-*", late: yes}}
  - name: one
    lines:
      - {for: {p: {from: split, by: 1}}, run: "cat {p} > m{p.index}", inputs: "{p}",
         outputs: "m{p.index}"}
  - name: two
    lines:
      - {for: {m: {from: one, by: 2}}, run: "cat {m} > n{m.index}", inputs: "{m}",
         outputs: "n{m.index}"}
  - name: all
    lines:
      - {run: "cat {inputs} > all", inputs: {from: two}, outputs: all}
"""
FILES = [f"part-{number}" for number in range(1, 8)]
ROWS = 4
"""The rows of two lines: package, input and output are more than this."""


class Interruption(Exception):
    """The process ends here."""


class Interrupter:
    """Ends the making of lines at its nth step, and knows how many lines there were at each."""

    def __init__(self, store: Store, last: int) -> None:
        self.store, self.last = store, last
        self.lines: list[int] = []

    def __call__(self) -> bool:
        self.lines.append(len(read(self.store, "line", "id")))
        if len(self.lines) > self.last:
            raise Interruption
        return False


@pytest.fixture
def world(store: Store, tmp_path: Path) -> World:
    """A site with the job, whose first package has ended."""
    submitted(store, read_text(JOB, directory=tmp_path))
    world = World(store)
    end_with(world, begun(store, world), *FILES)
    return world


def interrupted(world: World, last: int) -> list[int]:
    """Make lines until the process ends at this step; how many lines there were at each step."""
    with open_store(world.store.home) as other:
        interrupter = Interrupter(other, last)
        with pytest.raises(Interruption):
            make_lines(other, lambda: world.now, interrupter, rows=ROWS)
    return interrupter.lines


def readers(store: Store, stage: int) -> list[tuple[str, str]]:
    """The lines of a stage, each with a file that it reads."""
    return [tuple(row) for row in store.connection.execute(
        "select line.name, file.name from line join package on package.line_id = line.id"
        "  join input on input.package_id = package.id join file on file.id = input.file_id"
        " where line.stage_id = ? and input.own = 0 order by line.seq, file.id", [stage],
    )]  # fmt: skip


def is_whole(world: World) -> None:
    """Each file is read once, by the line of its group."""
    assert readers(world.store, 2) == [(f"p={n}", f"part-{n}") for n in range(1, 8)]
    assert readers(world.store, 3) == [(f"m={(n + 1) // 2}", f"m{n}") for n in range(1, 8)]
    assert [name for _, name in readers(world.store, 4)] == ["n1", "n2", "n3", "n4"]
    results = [row[0] for row in read(world.store, "file", "name", result=1)]
    assert results == ["all"]
    assert faults(world.store) == {}


def test_a_transaction_adds_a_few_lines(world: World) -> None:
    lines = interrupted(world, 4)

    assert lines == [4, 6, 8, 10, 12]
    assert phases(world.store)["late/2/2/1"] == "ready"
    assert phases(world.store)["late/4/1/1"] == "waiting"
    assert faults(world.store) == {}


@pytest.mark.parametrize("last", range(5))
def test_an_interruption_loses_and_doubles_nothing(world: World, last: int) -> None:
    interrupted(world, last)
    assert faults(world.store) == {}
    assert not is_settled(world.store, 1)
    with world.store.writing():
        assert placement.end_jobs(world.store, now=world.now) == []

    make_lines(world.store, lambda: world.now)

    is_whole(world)
    world.settle()
    assert set(phases(world.store).values()) == {"done"}


def test_packages_that_were_added_run_before_the_last_lines_are_made(world: World) -> None:
    interrupted(world, 2)

    world.settle()

    is_whole(world)
    assert set(phases(world.store).values()) == {"done"}


def test_a_correction_in_between_is_taken_into_account(world: World, tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(JOB.replace("by: 2", "by: 7"))
    update = request("update", parse("late"), file=str(path))

    def stops() -> bool:
        if stage_order.jobs_with_open_lines(world.store):
            apply(world.store, update, actor="me", note=None, now=world.now)
        return False

    with open_store(world.store.home) as other:
        make_lines(other, lambda: world.now, stops, rows=ROWS)
    world.settle()

    assert readers(world.store, 2) == [(f"p={n}", f"part-{n}") for n in range(1, 8)]
    assert {line for line, _ in readers(world.store, 3)} == {"m=1"}
    assert set(phases(world.store).values()) == {"done"}
    assert faults(world.store) == {}


def test_other_names_in_between_are_taken_into_account(world: World) -> None:
    steps: list[int] = []

    def stops() -> bool:
        if not steps:
            lose(world.store, "part-1")
            end_with(world, begun(world.store, world), "part-1", "part-8")
        steps.append(1)
        return False

    with open_store(world.store.home) as other:
        make_lines(other, lambda: world.now, stops, rows=ROWS)
    assert len(read(world.store, "line", "id")) == 4
    make_lines(world.store, lambda: world.now)

    assert readers(world.store, 2) == [("p=1", "part-1"), ("p=2", "part-8")]
    assert faults(world.store) == {}
