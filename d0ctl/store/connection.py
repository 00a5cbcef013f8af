"""One connection to the database: how it is read and written."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain, islice
from types import TracebackType
from typing import Any, Self

from d0ctl.config import Home
from d0ctl.errors import DatabaseMoved, Refused
from d0ctl.store.locks import writer_lock
from d0ctl.store.sqlite_errors import unavailable
from d0ctl_sql import ROWS, of_first_columns, of_many_rows, queries

LEAST_SHRUNK = 1024 * 1024
"""How many free bytes a database must have before it is made smaller."""

Row = sqlite3.Row
"""A row, by column name or number."""

PACKAGES, FILES = SELECTED = "selected_package", "selected_file"
"""The temporary tables with the packages and the files of a selection."""

read_queries = cache(queries)


class Queries:
    """The named queries, run on a connection. Reads fetch everything at once and end."""

    def __init__(self, home: Home, connection: sqlite3.Connection) -> None:
        self.home = home
        self.connection = connection
        self._queries: Mapping[str, str] = read_queries()

    def _query(self, name: str) -> str:
        """Return the text of a query."""
        return self._queries[name]

    def rows(self, name: str, /, **parameters: Any) -> list[Row]:
        """Return all rows of the named query."""
        return self.connection.execute(self._query(name), parameters).fetchall()

    def row(self, name: str, /, **parameters: Any) -> Row | None:
        """Return the first row of the named query."""
        row: Row | None = self.connection.execute(self._query(name), parameters).fetchone()
        return row

    def value(self, name: str, /, **parameters: Any) -> Any:
        """Return the first column of the first row of the named query; None if there is no row."""
        row = self.row(name, **parameters)
        return None if row is None else row[0]

    def change(self, name: str, /, **parameters: Any) -> int:
        """Run the named query for its changes; return the number of rows that changed."""
        return self.connection.execute(self._query(name), parameters).rowcount

    def empty(self, *tables: str) -> None:
        """Remove all rows of temporary tables."""
        for table in tables:
            self.connection.execute(f"delete from temp.{table}")

    def change_many(self, name: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run the named query once per row; inserts take many rows at a time."""
        self._run_many(self._query(name), rows)

    def insert_many(self, name: str, rows: Sequence[tuple[Any, ...]], width: int) -> None:
        """Insert rows; those with nulls only after the first columns by a statement for these.

        A null costs Python's sqlite3 0.5 µs, more than all other values of a row together.
        """
        query = self._query(name)
        nulls = (None,) * (len(rows[0]) - width) if rows else ()
        short = (row[:width] for row in rows if row[width:] == nulls)
        self._run_many(of_first_columns(query, width), short)
        self._run_many(query, (row for row in rows if row[width:] != nulls))

    def _run_many(self, query: str, rows: Iterable[tuple[Any, ...]]) -> None:
        rest = iter(rows)
        if (wide := of_many_rows(query)) is not None:
            while len(batch := list(islice(rest, ROWS))) == ROWS:
                self.connection.execute(wide, tuple(chain.from_iterable(batch)))
            rest = iter(batch)
        self.connection.executemany(query, rest)


class Store(Queries):
    """A connection to the database, used by one thread. Writes go through `writing()`."""

    def __init__(
        self,
        home: Home,
        connection: sqlite3.Connection,
        file: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(home, connection)
        self._file = file
        """Device and inode of the open database; None if it is not that of the home."""
        self._remembered: dict[str, Any] | None = None
        self._selections: dict[str, _Selected] = {}

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
        """Close the connection."""
        self.connection.close()

    def select(self, packages: Iterable[int] = ()) -> "Selection":
        """Select packages; the selection before this one can't be used any more."""
        selected = Selection(self, PACKAGES)
        selected.add(packages)
        return selected

    def select_files(self) -> "FileSelection":
        """Begin a selection of files, also in a connection that only reads."""
        self.run_script("temporary_choice")
        return FileSelection(self, FILES)

    def begin(self, selection: "_Selected") -> None:
        """Empty the table of a selection; the one before it can't be used any more."""
        self.empty(selection.table)
        self._selections[selection.table] = selection

    def holds(self, selection: "_Selected") -> bool:
        """Return whether a selection is still in its table."""
        return self._selections.get(selection.table) is selection

    def _query(self, name: str) -> str:
        """Return the text of a query; those that act on a selection are run by the selection."""
        query = super()._query(name)
        assert not any(table in query for table in SELECTED), f"`{name}` acts on a selection"
        return query

    @property
    def remembered(self) -> dict[str, Any]:
        """Return a value read in the transaction that writes; no other process can change it."""
        return {} if self._remembered is None else self._remembered

    def forget(self) -> None:
        """Forget remembered values: this transaction has changed them."""
        self.remembered.clear()

    def make_temporary_tables(self) -> None:
        """Make the temporary tables of this connection for a selection of packages, or a batch."""
        self.run_script("temporary_tables")

    def run_script(self, name: str) -> None:
        """Run each statement of the named query, which takes no parameters."""
        for statement in self._queries[name].split(";"):
            if statement.strip():
                self.connection.execute(statement)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run one transaction that writes: in turn, committed at the end, rolled back on error.

        Writers queue at `d0ctl.turn`: with SQLite's own lock, a steady writer starves the others.
        """
        with writer_lock(self.home):
            try:
                self.check_in_place()
                self.connection.execute("begin immediate")
                self._remembered = {}
                yield
                self.connection.execute("commit")
            except sqlite3.IntegrityError as error:
                self._roll_back()
                raise Refused(f"the database refuses it: {error}") from error
            except sqlite3.OperationalError as error:
                self._roll_back()
                raise unavailable(self.home, error) from error
            except sqlite3.DatabaseError as error:
                self._roll_back()
                if type(error) is sqlite3.DatabaseError:  # a damaged page; no fault of the data
                    raise unavailable(self.home, error) from error
                raise
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._remembered = None

    @contextmanager
    def reading(self, *, keep: bool = False) -> Iterator[None]:
        """Run several reads of the same state of the database.

        What they write into temporary tables is kept only on request.
        """
        self.connection.execute("begin")
        try:
            yield
            if keep:
                self.connection.execute("commit")
        finally:
            self._roll_back()

    def is_in_place(self) -> bool:
        """Return whether the open database is still the file at the home's path."""
        return self._file in (None, file_of(self.home))

    def check_in_place(self) -> None:
        """Raise DatabaseMoved if the database was moved, replaced or removed while open."""
        if not self.is_in_place():
            raise DatabaseMoved(
                f"the database `{self.home.database}` was moved or replaced while it was in use",
                hint="put it back, or type d0ctl restore FILE; then d0ctl daemon start",
            )

    def shrink(self) -> int:
        """Return free space to the disk if that is most of the file; return how many bytes.

        Other writers wait meanwhile, for as long as it takes to copy the rest.
        """
        pages, empty, size = (
            int(self.connection.execute(f"pragma {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        if empty * size < LEAST_SHRUNK or empty < pages // 2:
            return 0
        with writer_lock(self.home):
            self.connection.execute("vacuum")
            self.connection.execute("pragma wal_checkpoint(truncate)")
        return empty * size

    def version(self) -> tuple[int, int]:
        """Return a value that changes when another connection writes, or the file is replaced."""
        with suppress(OSError):
            inode = self.home.database.stat().st_ino
            return inode, int(self.connection.execute("pragma data_version").fetchone()[0])
        return 0, 0

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("rollback")
            self._selections.clear()


class _Selected(Queries):
    """Packages or files selected on a connection, and the queries that act on them.

    A connection holds one selection of each at a time. The use of a previous one is an
    AssertionError, so a function can never change others than those it was called for.
    """

    def __init__(self, store: Store, table: str) -> None:
        super().__init__(store.home, store.connection)
        self.store, self.table = store, table
        store.begin(self)

    def _query(self, name: str) -> str:
        assert self.store.holds(self), f"`{name}` acts on a selection that was replaced"
        return super()._query(name)


class FileSelection(_Selected):
    """Selected files."""


class Selection(_Selected):
    """Selected packages."""

    def add(self, packages: Iterable[int]) -> None:
        """Add packages to the selection."""
        self.change_many("choose_package", ((package,) for package in packages))

    def count(self) -> int:
        """Count the selected packages."""
        return int(self.value("count_selected"))


def file_of(home: Home) -> tuple[int, int] | None:
    """Return device and inode of the database file of a home; None if there is none."""
    try:
        status = home.database.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def as_json(value: Any) -> str | None:
    """Return a mapping or list as text, null if it is empty."""
    return json.dumps(value, separators=(",", ":"), default=dict) if value else None
