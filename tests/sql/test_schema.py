"""The schema, the words of the state machine in it, in Python and in the docs: all the same."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from d0ctl.errors import Refused
from d0ctl.model import STATUS_OF, Phase, Reason
from d0ctl.store import Store
from d0ctl.store.lifecycle import PackageRequest
from d0ctl_sql import migrations, queries
from d0ctl_wrapper.protocol import message
from tests.support.jobs import job, submitted

STATES = Path(__file__).resolve().parents[2] / "docs" / "states.md"


def rows_under(heading: str) -> Iterator[list[str]]:
    """The cells of the table under a heading of docs/states.md."""
    section = STATES.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        if line.startswith("| ") and not line.startswith("| verb") and "| phase |" not in line:
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_all_tables_are_strict(store: Store) -> None:
    tables = store.connection.execute(
        "select name, strict from pragma_table_list"
        " where schema = 'main' and type = 'table' and name not like '%sqlite_%'"
    )

    assert [row["name"] for row in tables if not row["strict"]] == []


def test_every_table_view_and_index_has_a_sentence_before_it() -> None:
    making = re.compile(r"create (?:table|view|index|unique index) (\w+)")
    pairs = [pair for text in migrations().values() for pair in pairwise(text.splitlines())]
    made = {match[1]: before for before, line in pairs if (match := making.match(line))}

    assert len(made) > 100
    assert [name for name, before in made.items() if not before.startswith("-- ")] == []


def test_the_requests_of_packages_are_the_same_in_sql_and_python(store: Store) -> None:
    triggers = store.connection.execute("select sql from sqlite_master where type = 'trigger'")
    texts = [*queries().values(), *(row["sql"] for row in triggers)]
    written = {
        request
        for text in texts
        for request in re.findall(r"\brequest (?:=|is|is not) '([a-z ]+)'", text)
    }

    assert {"pause", "kill now", "resubmit"} <= written <= set(PackageRequest)


def test_the_phases_are_the_same_in_sql_python_and_the_docs(store: Store) -> None:
    rows = store.connection.execute("select name, status from phase")
    answer = {row["name"]: row["status"] for row in rows}
    documented = {
        phase.strip("`"): status.strip("`")
        for status, phases, _ in rows_under("Phases")
        for phase in phases.split(", ")
    }

    assert answer == {str(phase): str(status) for phase, status in STATUS_OF.items()}
    assert answer == documented
    assert set(Phase) == set(STATUS_OF)


def test_the_transitions_are_those_of_the_docs(store: Store) -> None:
    rows = store.connection.execute("select old, new, verb from transition")
    documented = [
        (old.strip("`"), new.strip("`"), verb)
        for verb, olds, news, _ in rows_under("Transitions")
        for old in olds.split(", ")
        for new in news.split(", ")
    ]

    assert sorted(tuple(row) for row in rows) == sorted(documented)


def test_the_status_of_a_package_is_that_of_its_phase(store: Store) -> None:
    submitted(store, job("one"))
    for phase, status in STATUS_OF.items():
        with store.writing():
            drop_guard = "drop trigger if exists package_refused"
            store.connection.execute(drop_guard)
            store.connection.execute("update package set phase = ?", [phase])
        assert store.connection.execute("select status from package").fetchone()[0] == status


def test_a_package_is_live_in_the_phases_that_the_table_says(store: Store) -> None:
    submitted(store, job("one"))
    store.connection.execute("drop trigger package_refused")
    live = dict(tuple(row) for row in store.connection.execute("select name, is_live from phase"))

    for phase in Phase:
        store.connection.execute("update package set phase = ?", [phase])
        assert store.connection.execute("select is_live from package").fetchone()[0] == live[phase]


def test_the_groups_of_phases_lie_within_each_other(store: Store) -> None:
    outside = store.connection.execute(
        "select name from phase where in_contact > is_active or is_active > has_attempt"
        " or has_attempt > is_live or is_idle > may_start or is_final + is_live > 1"
    )

    assert outside.fetchall() == []


def test_no_query_spells_out_a_path() -> None:
    assert [name for name, text in queries().items() if "stage.seq || '/'" in text] == []


def test_every_transition_that_is_not_in_the_table_is_refused(store: Store) -> None:
    submitted(store, job("one"))
    allowed = {tuple(row) for row in store.connection.execute("select old, new from transition")}
    text = store.connection.execute(
        "select sql from sqlite_master where name = 'package_refused'"
    ).fetchone()[0]

    for old in Phase:
        for new in set(Phase) - {old}:
            store.connection.execute("drop trigger package_refused")
            store.connection.execute("update package set phase = ?", [old])
            store.connection.execute(text)
            if (old, new) in allowed:
                store.connection.execute("update package set phase = ?", [new])
            else:
                with pytest.raises(Refused, match="not a transition"), store.writing():
                    store.connection.execute("update package set phase = ?", [new])


def test_the_reasons_are_the_same_for_the_node_and_for_us() -> None:
    assert tuple(Reason) == message.REASONS


def test_no_trigger_of_every_package_makes_a_table_for_each_row(store: Store) -> None:
    triggers = store.connection.execute(
        "select name, sql from sqlite_master"
        " where type = 'trigger' and sql like '%after update of phase on package%'"
    )
    heads = {row["name"]: row["sql"].partition("begin")[0] for row in triggers}
    rare = {name for name, head in heads.items() if "new.early > 0" in head}

    assert len(heads) > 5
    assert [name for name, head in heads.items() if re.search(r"in \([^)]*,[^)]*,", head)
            and name not in rare] == []  # fmt: skip
