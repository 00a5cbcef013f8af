"""Count packages again while they change.

A stage of a million packages is counted in pages, each at a moment of its own. Changes
between that moment and the last one are in the history, and are added to the sum.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from d0ctl.store.chunks import FIRST_CHUNK, next_size
from d0ctl.store.connection import Store

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
