"""Order without files: stages after stages, lines after lines, final stages."""

from pathlib import Path
from typing import Any

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import read_text
from d0ctl.model import Phase
from d0ctl.store import Store, lifecycle
from d0ctl.store.checks.check import faults
from d0ctl.store.jobs import retry
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.standstill import is_settled
from d0ctl.store.views import browse
from tests.support.jobs import phases, submitted
from tests.support.site import Site


class Slow(Site):
    """A site in which packages are run one round at a time."""

    def turn(self, *failing: str) -> list[str]:
        """Start what can start, end it, and settle the jobs; the paths of what ran."""
        self.schedule()
        ran = [path for path, phase in phases(self.store).items() if phase == "assigned"]
        node = self.node("localhost")
        self.hand_out(node)
        self.order(node)
        for attempt, state in list(node.attempts.items()):
            if state == "running":
                bad = self.path(attempt) in failing
                node.end(attempt, "failed" if bad else "successful", "exit-code" if bad else None)
        self.deliver(node, node.spool)
        self.carry()
        with self.store.writing():
            placement.end_jobs(self.store, now=self.now)
        assert [fault for fault in faults(self.store) if "waits" in str(fault)] == []
        return ran

    def path(self, attempt: int) -> str:
        """The path of the package of an attempt."""
        row = self.store.connection.execute(
            "select path from attempt join package_path using (package_id) where id = ?", [attempt]
        ).fetchone()
        return str(row[0])


def begin(store: Store, text: str) -> tuple[Slow, int]:
    """Submit a job of a text."""
    job = submitted(store, read_text("job: job\n" + text))
    return Slow.of(store, cpus=20), job


STAGES = """\
stages:
  - name: b
    after: a
    lines: [{for: {n: [1, 2]}, packages: [{run: "true"}, {run: "true"}]}]
  - name: a
    lines: [{for: {n: [1, 2]}, run: "true"}, {run: sleep 1}]
"""


def test_a_stage_begins_after_another_has_succeeded(store: Store) -> None:
    site, _ = begin(store, STAGES)

    assert site.turn("job/2/1/1") == ["job/2/1/1", "job/2/2/1", "job/2/3/1"]
    assert site.turn() == []
    with store.writing():
        selected = store.select([browse.in_phases(store, 1, [Phase.FAILED], 1)[0].id])
        retry.retry(selected, actor="me", note=None, now=site.now)
    assert site.turn() == ["job/2/1/1"]
    assert site.turn() == ["job/1/1/1", "job/1/2/1"]
    assert site.turn() == ["job/1/1/2", "job/1/2/2"]
    assert browse.job(store, "job").status == "successful"


def test_a_dropped_line_lets_the_stage_behind_it_begin(store: Store) -> None:
    site, job = begin(store, STAGES)
    site.turn("job/2/1/1")
    assert is_settled(store, job)

    with store.writing():
        selected = store.select([browse.in_phases(store, 1, [Phase.FAILED], 1)[0].id])
        lifecycle.drop(selected, lifecycle.line_ids(selected), actor="me", note=None, now=site.now)

    assert site.turn() == []
    assert not is_settled(store, job)
    assert site.turn() == ["job/1/1/1", "job/1/2/1"]


@pytest.mark.parametrize("after", ["a/=", "a/n={n}", "a/{n}"])
def test_a_line_begins_after_the_line_that_it_names(store: Store, after: str) -> None:
    site, _ = begin(
        store,
        f"""\
stages:
  - name: a
    lines: [{{for: {{n: [1, 2, 3]}}, packages: [{{run: "true"}}, {{run: "true"}}]}}]
  - name: b
    lines: [{{for: {{n: [1, 2, 3]}}, after: "{after}", run: "true"}}]
""",
    )
    assert site.turn("job/1/3/1") == ["job/1/1/1", "job/1/2/1", "job/1/3/1"]
    assert site.turn("job/1/2/2") == ["job/1/1/2", "job/1/2/2"]

    assert site.turn() == ["job/2/1/1"]
    assert [path for path, phase in phases(store).items() if phase == "waiting"] == [
        "job/1/3/2", "job/2/2/1", "job/2/3/1",
    ]  # fmt: skip
    with store.writing():
        selected = store.select([row.id for row in browse.in_phases(store, 1, [Phase.FAILED], 9)])
        selected = store.select([browse.in_phases(store, 1, [Phase.FAILED], 9)[0].id])
        lifecycle.drop(selected, lifecycle.line_ids(selected), actor="me", note=None, now=site.now)
    assert len(site.turn()) == 1


def test_lines_of_a_stage_follow_each_other_in_any_order(store: Store) -> None:
    site, _ = begin(
        store,
        """\
stages:
  - name: a
    lines:
      - {name: last, after: [a/first, a/second], run: "true"}
      - {name: second, after: a/first, run: "true"}
      - {name: first, run: "true"}
""",
    )

    assert [site.turn() for _ in range(3)] == [["job/1/3/1"], ["job/1/2/1"], ["job/1/1/1"]]


FINAL = """\
stages:
  - name: report
    final: yes
    lines: [{run: "cat {inputs}", inputs: {from: a}}]
  - name: a
    lines: [{for: {n: [1, 2]}, run: "touch {outputs}", outputs: "f{n}"}]
  - name: b
    lines: [{run: "cat {inputs}", inputs: f1}]
"""


@pytest.mark.parametrize(
    ("failing", "rounds", "state"),
    [
        ((), [["job/2/1/1", "job/2/2/1"], ["job/3/1/1"], ["job/1/1/1"]], "successful"),
        (("job/2/1/1",), [["job/2/1/1", "job/2/2/1"], ["job/1/1/1"]], "failed"),
        (("job/1/1/1",), [["job/2/1/1", "job/2/2/1"], ["job/3/1/1"], ["job/1/1/1"]], "successful"),
    ],
)
def test_a_final_stage_begins_when_nothing_else_can_move(
    store: Store, failing: tuple[str, ...], rounds: list[list[str]], state: str
) -> None:
    site, job = begin(store, FINAL)
    ran = []

    for _ in rounds[:-1]:
        ran.append(site.turn(*failing))
        assert browse.job(store, "job").status == "submitted"
        assert not is_settled(store, job)
    ran.append(site.turn(*failing))

    assert ran == rounds
    assert browse.job(store, "job").status == state
    assert is_settled(store, job)


def test_a_final_stage_waits_for_held_packages(store: Store) -> None:
    site, _ = begin(store, FINAL)
    with store.writing():
        selected = store.select([browse.in_phases(store, 1, [Phase.READY], 1)[0].id])
        lifecycle.hold(selected, actor="me", note=None, now=site.now)

    for _ in range(3):
        site.turn()

    assert phases(store)["job/1/1/1"] == "waiting"


@pytest.mark.parametrize(
    ("stages", "fault"),
    [
        ("[{name: a, after: x, lines: L}]", "`after`: there is no stage `x`"),
        ("[{name: a, after: a, lines: L}]", "stage `a` can't come after itself"),
        ("[{name: a, after: b, lines: L}, {name: b, after: a, lines: L}]",
         "packages `f/1/1/1`, `f/2/1/1` wait for each other in a circle"),
        ("[{name: a, final: yes, lines: L}]", "all stages are `final`"),
        ("[{name: a, final: yes, lines: L}, {name: b, after: a, lines: L}]",
         "packages `f/1/1/1`, `f/2/1/1` wait for each other in a circle"),
        ("[{name: a, lines: [{after: b/1, run: x}]}, {name: b, lines: [{after: a/1, run: x}]}]",
         "packages `f/1/1/1`, `f/2/1/1` wait for each other in a circle"),
        ("[{name: a, lines: [{after: a/1, run: x}]}]", "line 1 can't come after itself"),
        ("[{name: a, lines: [{after: a/2, run: x}]}]", "stage `a` has no line 2: it has 1 line"),
        ("[{name: a, lines: [{after: a/y, run: x}]}]", "stage `a` has no line `y`"),
        ("[{name: a, lines: [{after: a/z, run: x}, {name: z, run: x}, {name: z, run: x}]}]",
         "several lines of stage `a` have the name `z`"),
        ("[{name: a, lines: [{after: a, run: x}]}]", "`a` is not a line, such as `a/3`"),
        ("[{name: a, lines: L}, {name: b, after: a, lines: [{early-start: yes, run: x}]}]",
         "a line with `early-start` can't have `after`"),
    ],
)  # fmt: skip
def test_an_order_that_can_not_be_is_a_fault(tmp_path: Path, stages: str, fault: str) -> None:
    text = "job: f\nstages: " + stages.replace("L}", "[{run: x}]}")

    with pytest.raises(BadJobFile) as raised:
        read_text(text)

    assert fault in str(raised.value)


def test_many_lines_are_released_some_at_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d0ctl.store.stage_order.MOST", 2)
    site, _ = begin(
        store,
        """\
stages:
  - {name: a, lines: [{run: "true"}]}
  - {name: b, after: a, lines: [{for: {n: [1, 2, 3, 4, 5]}, run: "true"}]}
""",
    )

    ran: list[Any] = [len(site.turn()) for _ in range(5)]

    assert ran == [1, 2, 2, 1, 0]
