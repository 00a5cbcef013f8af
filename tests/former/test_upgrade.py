"""What the first release left is there in full today, and goes on to its end."""

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from d0ctl import daemon
from d0ctl.cli.app import app
from d0ctl.config import Home
from d0ctl.errors import DatabaseUnavailable
from d0ctl.store import open_store
from d0ctl.store.backup import back_up, restore
from d0ctl.store.checks import check
from d0ctl.store.holder import boot_id
from d0ctl_sql import migrations
from d0ctl_wrapper.relay import facts
from tests.support.jobs import phases

DUMP = Path(__file__).with_name("001_first.sql").read_text()

HERE = "/home/reco/d0ctl"
"""Where the home lay; the name of its machine is all ones."""

KEPT_BY_US = {"transition", "sqlite_sequence", "sqlite_stat1", "_sqlite_migrations"}
"""Tables that the migrations themselves are to change."""

Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """The home of the first release, at another place."""
    home = Home(tmp_path / "home")
    home.create()
    load(home.database, home.root)
    return home


def load(database: Path, root: Path) -> None:
    """Make a database of the dump."""
    machine = str(facts.gather(b"/")["machine_id"])
    text = DUMP.replace(HERE, str(root)).replace("1" * 32, machine)
    database.touch(mode=0o600)
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(text)


def columns(database: Path) -> dict[str, list[str]]:
    """The columns of each table, but for those that follow from others."""
    with closing(sqlite3.connect(database)) as connection:
        tables = connection.execute("select name from sqlite_master where type = 'table'")
        return {
            name: [f'"{row[1]}"' for row in connection.execute(f"pragma table_info({name})")]
            for (name,) in tables.fetchall()
            if name not in KEPT_BY_US
        }


def rows(database: Path, wanted: dict[str, list[str]]) -> Rows:
    """The content of these columns."""
    with closing(sqlite3.connect(database)) as connection:
        return {
            table: connection.execute(
                f"select {', '.join(names)} from {table} order by 1, 2"
            ).fetchall()
            for table, names in wanted.items()
        }


def migrate_to(database: Path, version: int) -> None:
    """Bring a database of the first release to a later one, as that did."""
    with closing(sqlite3.connect(database)) as connection:
        for number, (name, text) in enumerate(migrations().items(), start=1):
            if 1 < number <= version:
                connection.executescript(text)
                connection.execute(
                    "insert into _sqlite_migrations (migration_set, name, applied_at)"
                    " values ('d0ctl', ?, '')", [name],
                )  # fmt: skip
        connection.execute(f"pragma user_version = {version}")
        connection.commit()


def test_the_first_release_left_packages_in_every_phase(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as connection:
        lacking = connection.execute(
            "select name from phase except select phase from package"
        ).fetchall()
        assert connection.execute("pragma user_version").fetchone() == (1,)

    assert lacking == []


@pytest.mark.parametrize("version", range(1, len(migrations()) + 1))
def test_no_row_is_lost_on_the_way_from_any_release_to_today(home: Home, version: int) -> None:
    wanted = columns(home.database)
    before = rows(home.database, wanted)
    migrate_to(home.database, version)

    with open_store(home) as store:
        assert check.faults(store) == []

    assert rows(home.database, wanted) == before
    assert sum(len(table) for table in before.values()) > 300


def d0ctl(home: Home, *words: str) -> str:
    """Type a command."""
    done = CliRunner().invoke(app, ["--home", str(home.root), *words], prog_name="d0ctl")
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def workshop(home: Home) -> Iterator[Home]:
    """The same with what lay on the node of its machine."""
    with closing(sqlite3.connect(home.database)) as connection:
        for (path,) in connection.execute("select path from location where cluster_id = 1"):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(f"{Path(path).name}\n")
    (home.root / "step").write_text("exit 0\n")
    yield home
    shutil.rmtree(home.nodes)


def test_its_histories_are_told_by_todays_words(workshop: Home) -> None:
    status = d0ctl(workshop, "status", "first")
    assert "7 of 17 packages done" in status
    assert "1 line dropped" in status

    failures = d0ctl(workshop, "history", "first")
    assert "exit-code: binary 1 (gen) ended with exit code 3" in failures
    assert "new calibration" in d0ctl(workshop, "status", "first")
    assert "running -> done" in d0ctl(workshop, "history", "first/1/1/1").replace("→", "->")


def test_its_jobs_go_on_to_their_end(workshop: Home) -> None:
    assert boot_id() not in DUMP
    d0ctl(workshop, "release", "first/1/7/2")
    for line in ("first/1/4", "first/1/5:canceled"):
        d0ctl(workshop, "retry", line)

    for job in (1, 2, 4):
        daemon.drive(workshop, job, lambda counts: None, threading.Event())

    with open_store(workshop) as store:
        told = {path: phase for path, phase in phases(store).items() if path[:5] != "third"}
        assert check.faults(store) == []
    assert {path for path, phase in told.items() if phase != "done"} == {
        "first/1/6/1",
        "first/1/6/2",
    }
    all_of_it = (workshop.results / "second" / "plot").read_text()
    assert all_of_it.split() == ["7"]
    assert "restart" in {one["kind"] for one in attempts(workshop, "first/1/8/1")}


def attempts(home: Home, path: str) -> list[dict[str, str]]:
    """The attempts at a package, as a script reads them."""
    found: list[dict[str, str]] = json.loads(d0ctl(home, "status", path, "--json"))["attempts"]
    return found


def test_it_can_be_backed_up_and_gone_back_to(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    former = tmp_path / "former.db"
    load(former, other.root)

    restore(other, former, now=1.0)

    with open_store(other) as store:
        assert check.faults(store) == []
        assert len(phases(store)) == 28
        back_up(store, tmp_path / "again.db")
    restore(home, tmp_path / "again.db", now=2.0)
    with open_store(home) as store:
        assert check.faults(store) == []


def test_an_older_program_refuses_a_database_of_today(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(home).close()
    older = dict(list(migrations().items())[:-1])
    monkeypatch.setattr("d0ctl.store.connection.migrations", lambda: older)
    before = home.database.read_bytes()

    with pytest.raises(DatabaseUnavailable) as refused:
        open_store(home)

    assert str(refused.value) == f"`{home.database}` was written by a newer d0ctl"
    assert refused.value.hint == "pip install --upgrade d0ctl"
    assert home.database.read_bytes() == before
