"""One connection to the database: how it is opened, read and written."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from d0ctl.config import Home, refuse_network_disk
from d0ctl.errors import DatabaseUnavailable, Refused
from d0ctl.store.turn import turn
from d0ctl_sql import migrations, queries

BUSY_TIMEOUT_MS = 30_000
"""How long a statement waits for another process; with the turn lock it hardly ever does."""

LARGEST_WAL = 64 * 1024 * 1024
"""To how many bytes the write-ahead log shrinks again, after a long look has let it grow."""

Row = sqlite3.Row
"""A row, by column name or number."""

read_queries = cache(queries)


class Store:
    """A connection to the database, used by one thread.

    Reads fetch what they need at once and end. Writes go through `writing()`.
    """

    def __init__(self, home: Home, connection: sqlite3.Connection) -> None:
        self.home = home
        self.connection = connection
        self._queries: Mapping[str, str] = read_queries()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connection back."""
        self.connection.close()

    def rows(self, name: str, /, **parameters: Any) -> list[Row]:
        """All rows of the named query."""
        return self.connection.execute(self._queries[name], parameters).fetchall()

    def row(self, name: str, /, **parameters: Any) -> Row | None:
        """The first row of the named query."""
        row: Row | None = self.connection.execute(self._queries[name], parameters).fetchone()
        return row

    def value(self, name: str, /, **parameters: Any) -> Any:
        """The first column of the first row of the named query; None when there is no row."""
        row = self.row(name, **parameters)
        return None if row is None else row[0]

    def change(self, name: str, /, **parameters: Any) -> int:
        """Run the named query for what it changes; the number of rows that changed."""
        return self.connection.execute(self._queries[name], parameters).rowcount

    def change_many(self, name: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run the named query once a row."""
        self.connection.executemany(self._queries[name], rows)

    def run_script(self, name: str) -> None:
        """Run each statement of the named query, which takes no parameters."""
        for statement in self._queries[name].split(";"):
            if statement.strip():
                self.connection.execute(statement)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction that writes: taken in turn, committed at the end, rolled back on error.

        Writers queue at `d0ctl.turn`: SQLite's own lock lets a steady writer starve the others.
        """
        with turn(self.home):
            try:
                self.connection.execute("begin immediate")
                yield
                self.connection.execute("commit")
            except sqlite3.IntegrityError as error:
                self._roll_back()
                raise Refused(f"the database refuses it: {error}") from error
            except sqlite3.OperationalError as error:
                self._roll_back()
                raise _unavailable(self.home, error) from error
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Several reads of one and the same state of the database."""
        self.connection.execute("begin")
        try:
            yield
        finally:
            self._roll_back()

    def version(self) -> tuple[int, int]:
        """Changes whenever another connection has written, or the file was replaced."""
        with suppress(OSError):
            inode = self.home.database.stat().st_ino
            return inode, int(self.connection.execute("pragma data_version").fetchone()[0])
        return 0, 0

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("rollback")


def open_store(
    home: Home,
    *,
    create: bool = False,
    read_only: bool = False,
    patience_ms: int = BUSY_TIMEOUT_MS,
) -> Store:
    """Open the database of a home, making or migrating it where that is needed and allowed.

    Raises DatabaseUnavailable when there is none, when it is not ours, or when it is newer.
    """
    if create and not home.exists():
        home.create()
        home.database.touch(mode=0o600)  # what SQLite makes, others may read
    elif not home.exists():
        raise DatabaseUnavailable(
            f"there is no home at `{home.root}`", hint="d0ctl run FILE makes one"
        )
    try:
        connection = _connect(home.database, read_only, patience_ms)
        version = int(connection.execute("pragma user_version").fetchone()[0])
    except sqlite3.DatabaseError as error:
        raise _unavailable(home, error) from error
    if version < len(migrations()):
        connection.close()
        refuse_network_disk(home.root)
        _migrate(home)
        connection = _connect(home.database, read_only, patience_ms)
    elif version > len(migrations()):
        connection.close()
        raise DatabaseUnavailable(
            f"`{home.database}` was written by a newer d0ctl", hint="pip install --upgrade d0ctl"
        )
    store = Store(home, connection)
    if not read_only:
        store.run_script("temporary_tables")
        store.run_script("temporary_sizes")
    return store


def _connect(database: Path, read_only: bool, patience_ms: int) -> sqlite3.Connection:
    mode = "ro" if read_only else "rwc"
    connection = sqlite3.connect(
        f"{database.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=patience_ms / 1000,
        check_same_thread=False,
    )
    connection.row_factory = sqlite3.Row
    connection.execute("pragma foreign_keys = on")
    connection.execute("pragma temp_store = memory")
    if not read_only:
        connection.execute("pragma journal_mode = wal")
        connection.execute(f"pragma journal_size_limit = {LARGEST_WAL}")
        connection.execute("pragma synchronous = full")
        connection.execute("pragma cache_size = -65536")
    return connection


def _migrate(home: Home) -> None:
    """Bring the database to the newest schema, each migration in its own transaction."""
    from d0ctl.store.migrate import migrate

    with turn(home):
        try:
            migrate(home.database)
        except sqlite3.DatabaseError as error:
            raise _unavailable(home, error) from error


def _unavailable(home: Home, error: sqlite3.Error) -> DatabaseUnavailable:
    return DatabaseUnavailable(f"can't use the database `{home.database}`: {error}")


def as_json(value: Any) -> str | None:
    """A mapping or list as text, null when it is empty."""
    return json.dumps(value, separators=(",", ":"), default=dict) if value else None
