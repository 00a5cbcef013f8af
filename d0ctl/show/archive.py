"""The list of archives."""

from d0ctl.show.drawing.sheet import Cell
from d0ctl.store.jobs.archive import Archive
from d0ctl.units import clean, count, size

NO_ARCHIVES = "no archives yet: d0ctl archive '*' --ended 90d creates one"

MOST_NAMED = 5
"""How many jobs of an archive are named; the rest are counted."""


def cells(archive: Archive) -> list[Cell]:
    """Return the row of an archive."""
    names = ", ".join(archive.jobs[:MOST_NAMED])
    more = len(archive.jobs) - MOST_NAMED
    return [
        (clean(archive.name), "strong"),
        count(archive.packages, "package"),
        size(archive.size),
        clean(f"{names} and {more} more" if more > 0 else names),
    ]
