"""The database file of a home: made, opened for reading or for changes, upgraded, removed."""

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from d0ctl import access
from d0ctl.config import Home
from d0ctl.errors import DatabaseUnavailable, Refused
from d0ctl.store.connection import Store, file_of, read_queries
from d0ctl.store.locks import writer_lock
from d0ctl.store.sqlite_errors import database_errors, unavailable
from d0ctl_sql import migrations

ARCHIVE_MARK = 0x64306172
"""The application id of the database file of an archive; others have 0."""

BUSY_TIMEOUT_MS = 30_000
"""How long a statement waits for another process; with the write lock it hardly ever does."""

LARGEST_WAL = 64 * 1024 * 1024
"""The size in bytes to which the write-ahead log shrinks after a long read has let it grow."""

CACHE_KIB, RESIDENT_CACHE_KIB = 65536, 8192
"""How many KiB of the database a connection keeps in memory; a long-lived one keeps less.

A cache grows with the database until it is full, so a daemon's memory would look like a leak.
"""

STATEMENTS = 1024
"""How many compiled statements a connection keeps: all.

A turn has about 100, and compiling one takes 20 to 100 µs. Of the 128 that Python keeps by default
many would be evicted before the next turn.
"""


@contextmanager
def reader(home: Home) -> Iterator[Store]:
    """Open the store to read. Raises DatabaseUnavailable if there is no home."""
    with open_store(home, read_only=True) as store, database_errors(store.home):
        store.make_temporary_tables()
        yield store


@contextmanager
def writer(home: Home) -> Iterator[Store]:
    """Open the store to change something.

    Raises DatabaseUnavailable if there is no home, and Refused if a copy has taken over from it.
    """
    _refuse_superseded(home)
    with open_store(home) as store, database_errors(store.home):
        yield store


@contextmanager
def open_or_create(home: Home) -> Iterator[Store]:
    """Open the store; home and `localhost` are created if there are none. Raises Refused, too."""
    _refuse_superseded(home)
    from d0ctl.store.nodes import registry

    with open_store(home, create=True) as store, database_errors(store.home):
        if registry.is_untouched(store):
            registry.add_localhost(store)
        yield store


@contextmanager
def rehearsal(home: Home) -> Iterator[Store]:
    """Open the store for a dry run that may be the very first command: nothing is created."""
    if home.exists():
        _refuse_superseded(home)
        with reader(home) as store:
            yield store
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="d0ctl-", ignore_cleanup_errors=True) as folder:
        with open_or_create(Home(Path(folder, "home"))) as store:
            yield store


def _refuse_superseded(home: Home) -> None:
    from d0ctl.store.nodes.site import refuse_superseded  # late: only changes need it

    refuse_superseded(home)


def open_store(
    home: Home,
    *,
    create: bool = False,
    read_only: bool = False,
    patience_ms: int = BUSY_TIMEOUT_MS,
    resident: bool = False,
) -> Store:
    """Open the database of a home, creating or migrating it if needed and allowed.

    Raises DatabaseUnavailable if there is none, if it is empty, foreign or newer, or if the
    home cannot be used, and Refused for writing to an archive. A resident
    connection stays open for days and keeps little in memory.
    """
    if home.archive and not read_only:
        export = f"d0ctl --archive {shlex.quote(home.archive)} export JOB"
        raise Refused(
            f"`{home.archive}` is an archive, so it can only be read",
            hint=f"leave out --archive; to run a job of it again, submit what `{export}` prints",
        )
    cache_kib = RESIDENT_CACHE_KIB if resident else CACHE_KIB
    if not home.exists():
        if not create:
            raise no_home(home)
        home.create()
        _make_database(home)
    try:
        file = file_of(home)
        connection = _connect(home.database, read_only, patience_ms, cache_kib)
        version = schema_version(connection)
    except sqlite3.DatabaseError as error:
        raise unavailable(home, error) from error
    if version != newest_version():
        connection.close()
        refuse_newer(home.database, version)
        access.refuse_network_disk(home.root)
        _upgrade(home)
        connection = _connect(home.database, read_only, patience_ms, cache_kib)
    store = Store(home, connection, file)
    if not read_only:
        store.make_temporary_tables()
        store.run_script("temporary_sizes")
    return store


def no_home(home: Home) -> DatabaseUnavailable:
    """Return the error that there is no home."""
    return DatabaseUnavailable(f"there is no home at `{home.root}`", hint=access.MAKES_HOME)


def _make_database(home: Home) -> None:
    """Make a complete database beside its path, then link it there: nobody sees half of it."""
    from d0ctl.store.migrate import create

    aside = home.root / f".d0ctl.db.{os.getpid()}"
    try:
        create(aside)
        with suppress(FileExistsError):  # another process was faster
            os.link(aside, home.database)
    except sqlite3.DatabaseError as error:
        raise unavailable(home, error) from error
    finally:
        remove_database(aside)


def remove_database(path: Path) -> None:
    """Remove a database file that nobody uses, and SQLite's files beside it."""
    for ending in ("", "-journal", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _connect(
    database: Path, read_only: bool, patience_ms: int, cache_kib: int
) -> sqlite3.Connection:
    mode = "ro" if read_only else "rw"
    if read_only and access.is_read_only(database) and not Path(f"{database}-wal").exists():
        mode += "&immutable=1"  # SQLite would make files for locks, which are useless there
    connection = sqlite3.connect(
        f"{database.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=patience_ms / 1000,
        check_same_thread=False,
        cached_statements=STATEMENTS,
    )
    connection.row_factory = sqlite3.Row
    connection.create_function("likeness", 1, _likeness, deterministic=True)
    connection.execute("pragma foreign_keys = on")
    connection.execute("pragma temp_store = memory")
    if not read_only:
        connection.execute("pragma journal_mode = wal")
        connection.execute(f"pragma journal_size_limit = {LARGEST_WAL}")
        connection.execute("pragma synchronous = full")
        connection.execute(f"pragma cache_size = -{cache_kib}")
    return connection


def _likeness(text: str | None) -> str:
    from d0ctl.units import likeness  # late: few commands compare messages

    return likeness(text)


def schema_version(connection: sqlite3.Connection) -> str:
    """Return the name of the last migration that a database has."""
    return str(connection.execute(read_queries()["schema_version"]).fetchone()[0])


def newest_version() -> str:
    """Return the name of the last migration that this release has."""
    return max(migrations())


def refuse_newer(database: Path, version: str) -> None:
    """Raise DatabaseUnavailable for a migration that this release does not know."""
    if version > newest_version():
        raise DatabaseUnavailable(
            f"`{database}` was written by a newer d0ctl", hint="pip install --upgrade d0ctl"
        )


def _upgrade(home: Home) -> None:
    """Bring the database to the newest schema, each migration in its own transaction."""
    from d0ctl.store.migrate import keep_copy, migrate

    with writer_lock(home):
        try:
            with closing(sqlite3.connect(home.database)) as connection:
                version = schema_version(connection)
            if version != newest_version():  # else another process was faster
                keep_copy(home.database, version)
                migrate(home.database)
        except sqlite3.DatabaseError as error:
            raise unavailable(home, error) from error
