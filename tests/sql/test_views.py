"""The views for users: their columns and the examples are those of docs/sql.md."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.jobfile.spec import OutputSpec
from d0ctl.store import open_store
from tests.support.jobs import job, simple, stage, submitted

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "sql.md").read_text()

EXAMPLES = re.findall(r"```sql\n(.*?)```", DOCS, re.DOTALL)

HISTORY = """
insert into node (id, name, cluster_id, kind, cpus) values (9, 'n9', 1, 'ssh', 4);
update node set state = 'down', since = 500, last_error = 'timed out' where id = 9;
update node set state = 'up', since = 900, last_error = null where id = 9;
update package set phase = 'ready' where id <= 3;
update package set phase = 'assigned', node_id = 9 where id <= 3;
update package set phase = 'starting', attempts = 1 where id <= 3;
insert into attempt (package_id, number, node_id, node_name, launched) values
    (1, 1, 9, 'n9', 1000), (2, 1, 9, 'n9', 1000), (3, 1, 9, 'n9', 1000);
update attempt set started = 1010, ended = 1130, cpu = 60, rss = 1024, outcome = 'failed',
                   reason = 'exit-code', message = 'ended with exit code 3', exit_code = 3
 where package_id <= 2;
update package set phase = 'failed', changed = 1130 where id <= 2;
update package set phase = 'ready' where id = 2;
update package set phase = 'assigned' where id = 2;
update package set phase = 'starting', attempts = 2 where id = 2;
insert into attempt (package_id, number, node_id, node_name, launched, started, ended, cpu, outcome)
values (2, 2, 9, 'n9', 2000, 2000, 2060, 30, 'successful');
update package set phase = 'done', changed = 2060 where id = 2;
"""
"""One package that is failed, one that succeeded at the second attempt, one that runs."""


@pytest.fixture
def database(home: Home) -> Iterator[sqlite3.Connection]:
    """The database of a home with a history, opened as docs/sql.md says."""
    with open_store(home) as store:
        outputs = [OutputSpec(f"out{number}", result=True) for number in range(4)]
        make = stage(*(simple(outputs=[output]) for output in outputs), name="make")
        submitted(store, job("mc23a", make))
        store.connection.executescript(HISTORY)
    uri = f"file:{home.database}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        yield connection


def documented(view: str) -> list[str]:
    """The columns of a view as docs/sql.md has them."""
    section = DOCS.split(f"\n### `{view}`\n")[1].split("\n#")[0]
    return [
        name
        for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    ]


@pytest.mark.parametrize(
    "view", ["v_job", "v_package", "v_attempt", "v_failure", "v_outage", "v_file"]
)
def test_the_columns_of_a_view_are_those_of_the_docs(
    database: sqlite3.Connection, view: str
) -> None:
    columns = [row["name"] for row in database.execute(f"pragma table_info({view})")]

    assert sorted(columns) == sorted(documented(view))


@pytest.mark.parametrize("example", range(5))
def test_an_example_of_the_docs_finds_something(database: sqlite3.Connection, example: int) -> None:
    assert len(EXAMPLES) == 5
    assert database.execute(EXAMPLES[example]).fetchall() != []


def test_a_job_has_its_packages_by_status(database: sqlite3.Connection) -> None:
    row = dict(database.execute("select * from v_job").fetchone())

    counts = "packages", "unscheduled", "scheduled", "launched", "successful", "failed", "canceled"
    assert [row[name] for name in counts] == [4, 1, 0, 1, 1, 1, 0]
    assert row["job"] == "mc23a"
    assert row["ended"] is None


def test_a_package_has_its_last_attempt(database: sqlite3.Connection) -> None:
    rows = database.execute("select * from v_package order by package_id").fetchall()

    assert [(row["path"], row["status"], row["attempts"]) for row in rows] == [
        ("mc23a/1/1/1", "failed", 1),
        ("mc23a/1/2/1", "successful", 2),
        ("mc23a/1/3/1", "launched", 1),
        ("mc23a/1/4/1", "unscheduled", 0),
    ]
    assert (rows[0]["node"], rows[0]["reason"]) == ("n9", "exit-code")
    assert (rows[0]["ended"], rows[0]["ended_s"]) == ("1970-01-01T00:18:50Z", 1130.0)
    assert rows[1]["reason"] is None


def test_a_failure_of_a_package_that_succeeded_later_is_not_final(
    database: sqlite3.Connection,
) -> None:
    rows = database.execute("select path, is_final from v_failure order by path").fetchall()

    assert [tuple(row) for row in rows] == [("mc23a/1/1/1", 1), ("mc23a/1/2/1", 0)]


def test_an_attempt_has_its_times_and_what_it_used(database: sqlite3.Connection) -> None:
    rows = database.execute("select * from v_attempt order by path, number").fetchall()

    assert [(row["path"], row["number"], row["wall_time_s"]) for row in rows] == [
        ("mc23a/1/1/1", 1, 120.0),
        ("mc23a/1/2/1", 1, 120.0),
        ("mc23a/1/2/1", 2, 60.0),
        ("mc23a/1/3/1", 1, None),
    ]
    assert (rows[0]["cpu_time_s"], rows[0]["memory"], rows[0]["exit_code"]) == (60.0, 1024, 3)


def test_a_file_has_its_maker(database: sqlite3.Connection) -> None:
    rows = database.execute("select file, maker, is_present from v_file order by file").fetchall()

    assert tuple(rows[0]) == ("out0", "mc23a/1/1/1", 0)


def test_an_outage_has_its_times_and_cause(database: sqlite3.Connection) -> None:
    (row,) = database.execute("select * from v_outage").fetchall()

    assert (row["node"], row["began_s"], row["ended_s"]) == ("n9", 500.0, 900.0)
    assert (row["ended"], row["became"], row["error"]) == (
        "1970-01-01T00:15:00Z",
        "up",
        "timed out",
    )
