"""The tables of states of tasks, datasets, files and ranges of events, and their page."""

from itertools import product
from pathlib import Path

import pytest

from d0ctl.errors import Refused
from d0ctl.store import Store
from tests.tasks.making import submitted

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tasks.md"

CHARTS = [
    ("Statuses of a task", "task_status", "task_transition", "true"),
    ("Statuses of an input dataset", "dataset_status", "dataset_transition", "output = 0"),
    ("Statuses of an output dataset", "dataset_status", "dataset_transition", "output = 1"),
    ("Statuses of a file of an input dataset", "content_status", "content_transition",
     "output = 0"),
    ("Statuses of a file of an output dataset", "content_status", "content_transition",
     "output = 1"),
    ("Statuses of a range of events", "event_range_status", "event_range_transition", "true"),
]  # fmt: skip


def rows_under(heading: str) -> list[list[str]]:
    """The cells of the tables under a heading of the page."""
    section = PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] not in ("status", "verb")]


@pytest.mark.parametrize(("heading", "statuses", "transitions", "which"), CHARTS)
def test_the_page_has_the_tables_of_the_database(
    store: Store, heading: str, statuses: str, transitions: str, which: str
) -> None:
    ask = store.connection.execute
    meanings = dict(ask(f"select name, meaning from {statuses} where {which}").fetchall())
    known = sorted(tuple(row) for row in ask(
        f"select verb, old, new from {transitions} where {which}"))  # fmt: skip
    rows = rows_under(heading)

    assert {row[0].strip("`"): row[1] for row in rows if len(row) == 2} == meanings
    assert sorted(
        (verb, old.strip("`"), new.strip("`"))
        for verb, olds, new in (row for row in rows if len(row) == 3)
        for old in olds.split(", ")
    ) == known  # fmt: skip
    assert {name for _, old, new in known for name in (old, new)} <= set(meanings)


@pytest.mark.parametrize(
    ("table", "chart", "which"),
    [
        ("task", "task", "true"),
        ("dataset", "dataset", "output = 0"),
        ("dataset", "dataset", "output = 1"),
        ("content", "content", "output = 0"),
        ("content", "content", "output = 1"),
        ("event_range", "event_range", "true"),
    ],
)
def test_only_the_transitions_of_the_tables_are_possible(
    store: Store, table: str, chart: str, which: str
) -> None:
    submitted(store, contents=1)
    ask = store.connection.execute
    names = [row[0] for row in ask(f"select name from {chart}_status where {which}")]
    allowed = {tuple(row) for row in ask(f"select old, new from {chart}_transition where {which}")}
    guard = ask("select sql from sqlite_master where name = ?", [f"{table}_refused"]).fetchone()[0]

    for old, new in product(names, names):
        ask(f"drop trigger {table}_refused")
        ask(f"update {table} set status = ? where {which}", [old])
        ask(guard)
        if old == new or (old, new) in allowed:
            ask(f"update {table} set status = ? where {which}", [new])
        else:
            with pytest.raises(Refused, match="not a transition"), store.writing():
                ask(f"update {table} set status = ? where {which}", [new])


def test_every_status_but_the_first_can_be_reached_and_every_passing_one_left(
    store: Store,
) -> None:
    ask = store.connection.execute
    for _, statuses, transitions, which in CHARTS:
        pairs = [tuple(row) for row in ask(f"select old, new from {transitions} where {which}")]
        names = {row[0] for row in ask(f"select name from {statuses} where {which}")}
        first = {"task_status": "defined", "event_range_status": "ready"}.get(statuses)
        assert names - {new for _, new in pairs} <= {first or "defined"} | {"ready", "defined"}
    passing = {row[0] for row in ask("select name from task_status where is_ended = 0")}
    assert passing <= {row[0] for row in ask("select old from task_transition")}
