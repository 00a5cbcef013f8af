"""A database that an older release wrote is brought to today's schema, or stays as it was."""

import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

import d0ctl_sql
from d0ctl.config import Home
from d0ctl.errors import DatabaseUnavailable
from d0ctl.store import migrate, open_store, opening
from d0ctl.store.checks import check
from d0ctl.store.nodes import registry
from d0ctl_sql import migrations
from tests.support.jobs import job, submitted

FIRST = "001_initial"

SECOND = """
    alter table job add column color text not null default 'red';
    create table palette (color text primary key) strict;
    insert into palette (color) select distinct color from job;
"""

FAILING = SECOND + "insert into palette (color) values ('green'), ('green');"


def release(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    """Let the program have these migrations after the first."""
    known = {FIRST: migrations()[FIRST]}
    known |= {f"{number:03}_next": text for number, text in enumerate(texts, start=2)}
    monkeypatch.setattr(d0ctl_sql, "migrations", lambda: known)
    monkeypatch.setattr(opening, "migrations", lambda: known)
    monkeypatch.setattr(migrate, "migrations", lambda: known)


def ask(database: Path, question: str) -> list[tuple[object, ...]]:
    """What a database answers to another program."""
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(question).fetchall()


def version(database: Path) -> object:
    """The last migration of a database."""
    return ask(database, "select max(name) from _sqlite_migrations")[0][0]


@pytest.fixture
def old(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home of the first release, with a job."""
    release(monkeypatch)
    with open_store(home) as store:
        submitted(store, job("one"))
    return home


def test_migrations_are_numbered_without_gaps() -> None:
    assert [int(name[:3]) for name in migrations()] == list(range(1, len(migrations()) + 1))


def test_an_upgrade_keeps_all_rows(old: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ask(old.database, "select id, name, submitted from job")
    release(monkeypatch, SECOND)

    with open_store(old) as store:
        assert check.faults(store) == []

    assert version(old.database) == "002_next"
    assert ask(old.database, "select id, name, submitted from job") == before
    assert ask(old.database, "select color from palette") == [("red",)]


def test_the_database_from_before_an_upgrade_is_kept(
    old: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ask(old.database, "select * from job")
    release(monkeypatch, SECOND)

    open_store(old).close()
    open_store(old).close()

    kept = old.root / f"d0ctl.db.{FIRST}"
    assert version(kept) == FIRST
    assert ask(kept, "select * from job") == before
    assert kept.stat().st_mode & 0o077 == 0


def test_an_upgrade_by_two_at_once_is_done_once(old: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    release(monkeypatch, SECOND)
    both = [threading.Thread(target=lambda: open_store(old).close()) for _ in range(2)]

    for database in both:
        database.start()
    for database in both:
        database.join()

    assert ask(old.database, "select count(*) from _sqlite_migrations") == [(2,)]
    assert version(old.root / f"d0ctl.db.{FIRST}") == FIRST


def test_a_migration_that_fails_leaves_nothing_behind(
    old: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ask(old.database, "select name, sql from sqlite_master")
    release(monkeypatch, FAILING)

    with pytest.raises(DatabaseUnavailable, match="UNIQUE constraint failed"):
        open_store(old)

    assert version(old.database) == FIRST
    assert ask(old.database, "select name, sql from sqlite_master") == before


def test_after_a_failed_upgrade_the_next_release_takes_it_from_there(
    old: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(monkeypatch, "create table palette (color text) strict;", FAILING)
    with pytest.raises(DatabaseUnavailable):
        open_store(old)
    assert version(old.database) == "002_next"

    release(
        monkeypatch,
        "create table palette (color text) strict;",
        "alter table palette add column red text;",
    )
    open_store(old).close()

    assert version(old.database) == "003_next"
    assert version(old.root / "d0ctl.db.002_next") == "002_next"


def test_a_database_of_a_newer_release_is_refused(
    old: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(monkeypatch, SECOND)
    open_store(old).close()
    release(monkeypatch)
    before = old.database.read_bytes()

    with pytest.raises(DatabaseUnavailable) as refused:
        open_store(old)

    assert str(refused.value) == f"`{old.database}` was written by a newer d0ctl"
    assert refused.value.hint == "pip install --upgrade d0ctl"
    assert old.database.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_gets_no_tables(home: Home) -> None:
    home.database.unlink()
    with closing(sqlite3.connect(home.database)) as alien:
        alien.execute("create table job (name)")

    with pytest.raises(DatabaseUnavailable, match="it is not d0ctl's"):
        open_store(home)

    assert ask(home.database, "select name from sqlite_master") == [("job",)]


def test_a_second_migration_of_the_same_file_changes_nothing(home: Home) -> None:
    before = ask(home.database, "select name from site")

    migrate.migrate(home.database)

    assert re.fullmatch("[0-9a-f]{16}", str(before[0][0]))
    assert ask(home.database, "select name from site") == before


def test_a_database_whose_schema_is_of_another_version_is_named(home: Home) -> None:
    with closing(sqlite3.connect(home.database)) as other:
        other.execute("alter table cluster rename column name to title")

    with pytest.raises(DatabaseUnavailable) as refused, opening.reader(home) as store:
        registry.nodes(store)

    assert str(refused.value) == (
        f"the home `{home.root}` was made by another version of d0ctl: no such column: cluster.name"
    )
    assert refused.value.hint == (
        f"use that version, or begin a new home: mv {home.root} {home.root}.old"
    )
