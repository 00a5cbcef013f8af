"""The card of a file: its maker, size, disposition and locations, and why it exists or not."""

from collections.abc import Sequence

from msgspec import Struct

from d0ctl.config import Home
from d0ctl.model import Phase
from d0ctl.show.cards.file_lists import REMOVED, gone
from d0ctl.show.drawing.archived import replaced
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.explanation import answer
from d0ctl.show.why.common import Explanation
from d0ctl.store.files.selected_files import (
    CONTROL,
    REPLACED,
    FileRow,
    difference,
    is_missing,
    is_there,
    result_folder,
)
from d0ctl.units import listed, size


class FileLine(Struct, frozen=True):
    """The line of a file; `caches` are the nodes or clusters that have copies.

    `origin` is where a file from outside is.
    """

    path: str
    maker: str | None
    maker_phase: str | None
    origin: str | None
    size: int | None
    disposition: str
    is_present: bool
    is_dropped: bool
    is_result: bool
    in_results: str
    """How a result is in results/, or that it is missing there; empty for another file."""
    is_archived: bool
    """Whether it is read from an archive."""
    caches: Sequence[str]
    stored_at: Sequence[str]
    removed: float | None
    is_partial: bool = False


class File(Struct, frozen=True):
    """Everything on the card, read at one moment."""

    maker: str | None
    why: Explanation


def line_of(home: Home, row: FileRow) -> FileLine:
    """Return the line of a selected file; ask the disk whether a result is still there."""
    is_away = is_missing(home, row) or home.archive
    caches = [str(copy["node"] or copy["cluster"]) for copy in row.copies]
    return FileLine(
        f"{row.job}:{row.name}", row.maker, row.maker_phase,
        None if row.maker else _origin(row), row.size,
        row.disposition or row.dispositions, bool(row.present), bool(row.dropped),
        bool(row.result), _in_results(home, row), bool(home.archive),
        [name for name in caches if not (is_away and name == CONTROL)], row.stored,
        row.removed, bool(row.partial),
    )  # fmt: skip


def _in_results(home: Home, row: FileRow) -> str:
    if is_missing(home, row):
        return replaced(row.job) if difference(home, row) == REPLACED else "missing from results/"
    folder = result_folder(home, row.job, [row]).name
    is_there = row.result and row.present
    return f"in results/{f'{folder}/' * (folder != row.job)}" if is_there else ""


def _origin(row: FileRow) -> str:
    """Return the place of a file from outside, by its locator and how its readers get it."""
    if row.locator is not None:
        return f"at {row.locator}"
    ways = set(row.acquired)
    if ways == {"none"}:
        return "on the nodes, not checked"
    if ways == {"self"}:
        return "fetched by its readers"
    return "on this machine" if is_there(row) else "does not exist"


def cells(line: FileLine) -> list[Cell]:
    """Return the line of a file, in columns."""
    return [
        (line.path, "strong"),
        line.maker or "from outside",
        "" if line.size is None else size(line.size) + ", partial" * line.is_partial,
        line.disposition or "while it is needed",
        _locations(line),
    ]


def _locations(line: FileLine) -> str:
    places = [line.in_results] if line.in_results else []
    places += [line.origin] if line.origin else []
    caches = ["this machine" if name == CONTROL else name for name in line.caches]
    caches = [name for name in caches if f"on {name}" not in places]
    places += [f"on {', '.join(caches)}"] if caches else []
    places += [f"stored at {locator}" for locator in line.stored_at]
    if places:
        return listed(places)
    if line.is_dropped:
        return "dropped"
    if line.is_archived:
        return "not made" if line.size is None else REMOVED
    if line.maker_phase == Phase.DONE and not line.is_present:
        return gone(line.size, line.removed)
    if line.size is None:
        return "not made yet"
    return "to be made again" + "; the former one is in results/" * line.is_result


def draw(sheet: Sheet, file: File) -> None:
    """Draw the card."""
    answer(sheet, file.why)
