"""Whether the database obeys its own rules; each query of check.sql lists violations of one.

Every transaction is short: large tables are read in pages, each at a moment of its own, so that
nobody waits and the write-ahead log can't grow.
"""

import sqlite3
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator

from msgspec import Struct

from d0ctl.store.backup import GENERATION_BITS
from d0ctl.store.chunks import FIRST_CHUNK, next_size
from d0ctl.store.connection import Store
from d0ctl.store.files.copies import PARKED
from d0ctl_sql import schema

BY_TABLE = ("check_integrity", "check_foreign_keys")
"""Checked for each table by itself."""

BY_PACKAGE = (
    "check_missing",
    "check_early",
    "check_places",
    "check_attempts",
    "check_history",
    "check_strays",
    "check_needs",
    "check_dropped",
)
"""Checked for a page of packages at a time."""

BY_FILE = ("check_copies", "check_makers")
"""Checked for a page of files at a time."""

AT_ONCE = (
    "check_lines",
    "check_acknowledged",
    "check_ready",
    "check_staging",
    "check_streamed_inputs",
    "check_parked",
    "check_bad_nodes",
    "check_node_records",
    "check_transferring",
    "check_progress",
    "check_requests",
    "check_ids",
    "check_texts",
    "check_dataset_counts",
    "check_dataset_files",
    "check_event_ranges",
    "check_split_files",
)
"""Checked once: an index or a small table answers."""

LASTING = ("check_released", "check_ended")
"""Rules that a turn of the daemon restores: they are broken only if that lasts."""

CHECKS = (
    *BY_TABLE,
    "check_schema",
    "check_counts",
    *BY_PACKAGE,
    *BY_FILE,
    *AT_ONCE,
    *LASTING,
)
"""All rules that are checked in the database."""

MOST = 20
"""How many faults of a kind are reported."""


class Fault(Struct, frozen=True):
    """One thing that is wrong, by the name of the rule it breaks."""

    check: str
    subject: str
    detail: str


def faults(store: Store) -> list[Fault]:
    """Everything that is wrong with the database, a few of each kind; also a broken file."""
    return [*_file_faults(store), *rule_faults(store)]


def rule_faults(store: Store) -> list[Fault]:
    """Return the faults of the rows, in an intact file."""
    faults: list[Fault] = []
    for rule_check in _rule_checks(store):
        try:
            faults += rule_check()
        except sqlite3.DatabaseError as error:
            faults.append(Fault("integrity", "the database file", str(error)))
    return faults


def lasting(store: Store) -> list[Fault]:
    """Return the faults that no turn of the daemon is about to repair."""
    return [fault for name in LASTING for fault in _ask(store, name)]


def _file_faults(store: Store) -> list[Fault]:
    """Return the faults that SQLite finds, table by table, and differences from the migrations."""
    faults = []
    try:
        for row in store.rows("tables_to_check"):
            for name in BY_TABLE:
                faults += _ask(store, name, table=row["name"])
        faults += [Fault("schema", *drift) for drift in drifts(store)]
    except sqlite3.DatabaseError as error:
        faults.append(Fault("integrity", "the database file", str(error)))
    return faults


def _rule_checks(store: Store) -> Iterator[Callable[[], list[Fault]]]:
    """Yield a check for each rule; each reads by itself, so a damaged page hides no fault
    elsewhere.
    """
    yield lambda: [Fault("counts", *fault) for fault in wrong_counts(store)][:MOST]
    yield lambda: list(_by_pages(store, "package_page", BY_PACKAGE))
    yield lambda: list(_by_pages(store, "file_page", BY_FILE))
    for name in AT_ONCE:
        yield lambda name=name: _ask(store, name, bits=GENERATION_BITS, parked=PARKED)  # type: ignore[misc]


def _by_pages(store: Store, pages: str, names: tuple[str, ...]) -> Iterator[Fault]:
    """Yield the faults of one page after another; of each kind at most `MOST`."""
    yielded = dict.fromkeys(names, 0)
    after, size = 0, FIRST_CHUNK
    while True:
        began = time.monotonic()
        page = store.row(pages, after=after, size=size)
        if page is None or not page["n"]:
            return
        for name in names:
            for fault in _ask(store, name, after=after, upto=page["upto"]):
                yielded[name] += 1
                if yielded[name] <= MOST:
                    yield fault
        after, size = page["upto"], next_size(size, (time.monotonic() - began) / len(names))


def _ask(store: Store, name: str, **parameters: object) -> list[Fault]:
    check = name.removeprefix("check_")
    return [
        Fault(check, str(row["subject"]), str(row["detail"]))
        for row in store.rows(name, **parameters)
    ]


def drifts(store: Store) -> Iterator[tuple[str, str]]:
    """Return what is missing, changed, or was added by others."""
    wanted = {name: _plain(text) for name, text in schema().items()}
    defined = {f"{row['type']} {row['name']}": _plain(row["sql"]) for row in store.rows("defined")}
    for name in wanted.keys() | defined.keys():
        if name not in defined:
            yield name, "is missing"
        elif name not in wanted:
            if name.startswith("trigger"):
                yield name, "is not from d0ctl, and may change rows"
        elif wanted[name] != defined[name]:
            yield name, "differs from what the migrations made"


def _plain(text: str) -> str:
    return " ".join(text.split())


Counted = Counter[tuple[int, str]]
"""Packages by stage and phase."""


class Count:
    """A count in progress: the content of each page, and the last row of the history by then."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pages: list[tuple[int, int]] = []
        self.counted: Counted = Counter()
        with store.reading():
            self.began = int(store.value("last_event"))
            self.stages = {row[0] for row in store.rows("stages_to_count")}

    def take(self, after: int, size: int) -> int | None:
        """Count a page; return where it ends, None if it was the last."""
        with self._store.reading():
            page = self._store.row("package_page", after=after, size=size)
            if page is None or not page["n"]:
                return None
            for row in self._store.rows("count_page", after=after, upto=page["upto"]):
                self.counted[row["stage_id"], row["phase"]] += row["n"]
            self._pages.append((page["upto"], int(self._store.value("last_event"))))
            return int(page["upto"])

    def settle(self) -> Iterator[tuple[str, str]]:
        """Add the changes since then, and return which stages have other counts now."""
        with self._store.reading():
            for row in self._store.rows("moves_since", event=self.began):
                if row["id"] > self._seen(row["package_id"]):
                    self.counted[row["stage_id"], row["old"]] -= 1
                    self.counted[row["stage_id"], row["new"]] += 1
            counted = self._store.rows("counts_kept")
        for row in counted:
            really = self.counted[row["stage_id"], row["phase"]]
            if row["stage_id"] in self.stages and row["n"] != really:
                yield row["path"], f"{row['n']} counted as {row['phase']}, really {really}"

    def _seen(self, package: int) -> int:
        """Return the newest row of history when the page of this package was counted."""
        at = bisect_left(self._pages, (package,))
        return self._pages[at][1] if at < len(self._pages) else 0


def wrong_counts(store: Store) -> list[tuple[str, str]]:
    """Return the stages whose counts differ from their packages, and by what."""
    count = Count(store)
    after: int | None = 0
    size = FIRST_CHUNK
    while after is not None:
        began = time.monotonic()
        after = count.take(after, size)
        size = next_size(size, time.monotonic() - began)
    return list(count.settle())
