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
from tests.support.site import Site

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
def site(store: Store, tmp_path: Path) -> Site:
    """A site with the job, whose first package has ended."""
    submitted(store, read_text(JOB, directory=tmp_path))
    site = Site.of(store, cpus=2)
    end_with(site, begun(store, site), *FILES)
    return site


def interrupted(site: Site, last: int) -> list[int]:
    """Make lines until the process ends at this step; how many lines there were at each step."""
    with open_store(site.store.home) as other:
        interrupter = Interrupter(other, last)
        with pytest.raises(Interruption):
            make_lines(other, lambda: site.now, interrupter, rows=ROWS)
    return interrupter.lines


def readers(store: Store, stage: int) -> list[tuple[str, str]]:
    """The lines of a stage, each with a file that it reads."""
    return [tuple(row) for row in store.connection.execute(
        "select line.name, file.name from line join package on package.line_id = line.id"
        "  join input on input.package_id = package.id join file on file.id = input.file_id"
        " where line.stage_id = ? and input.own = 0 order by line.seq, file.id", [stage],
    )]  # fmt: skip


def is_whole(site: Site) -> None:
    """Each file is read once, by the line of its group."""
    assert readers(site.store, 2) == [(f"p={n}", f"part-{n}") for n in range(1, 8)]
    assert readers(site.store, 3) == [(f"m={(n + 1) // 2}", f"m{n}") for n in range(1, 8)]
    assert [name for _, name in readers(site.store, 4)] == ["n1", "n2", "n3", "n4"]
    results = [row[0] for row in read(site.store, "file", "name", result=1)]
    assert results == ["all"]
    assert faults(site.store) == {}


def test_a_transaction_adds_a_few_lines(site: Site) -> None:
    lines = interrupted(site, 4)

    assert lines == [4, 6, 8, 10, 12]
    assert phases(site.store)["late/2/2/1"] == "ready"
    assert phases(site.store)["late/4/1/1"] == "waiting"
    assert faults(site.store) == {}


@pytest.mark.parametrize("last", range(5))
def test_an_interruption_loses_and_doubles_nothing(site: Site, last: int) -> None:
    interrupted(site, last)
    assert faults(site.store) == {}
    assert not is_settled(site.store, 1)
    with site.store.writing():
        assert placement.end_jobs(site.store, now=site.now) == []

    make_lines(site.store, lambda: site.now)

    is_whole(site)
    site.settle()
    assert set(phases(site.store).values()) == {"done"}


def test_packages_that_were_added_run_before_the_last_lines_are_made(site: Site) -> None:
    interrupted(site, 2)

    site.settle()

    is_whole(site)
    assert set(phases(site.store).values()) == {"done"}


def test_a_correction_in_between_is_taken_into_account(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(JOB.replace("by: 2", "by: 7"))
    update = request("update", parse("late"), file=str(path))

    def stops() -> bool:
        if stage_order.jobs_with_open_lines(site.store):
            apply(site.store, update, actor="me", note=None, now=site.now)
        return False

    with open_store(site.store.home) as other:
        make_lines(other, lambda: site.now, stops, rows=ROWS)
    site.settle()

    assert readers(site.store, 2) == [(f"p={n}", f"part-{n}") for n in range(1, 8)]
    assert {line for line, _ in readers(site.store, 3)} == {"m=1"}
    assert set(phases(site.store).values()) == {"done"}
    assert faults(site.store) == {}


def test_other_names_in_between_are_taken_into_account(site: Site) -> None:
    steps: list[int] = []

    def stops() -> bool:
        if not steps:
            lose(site.store, "part-1")
            end_with(site, begun(site.store, site), "part-1", "part-8")
        steps.append(1)
        return False

    with open_store(site.store.home) as other:
        make_lines(other, lambda: site.now, stops, rows=ROWS)
    assert len(read(site.store, "line", "id")) == 4
    make_lines(site.store, lambda: site.now)

    assert readers(site.store, 2) == [("p=1", "part-1"), ("p=2", "part-8")]
    assert faults(site.store) == {}
