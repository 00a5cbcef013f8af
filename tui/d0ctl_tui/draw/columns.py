"""How the columns of the tree share its width, by the needs of visible rows."""

from msgspec import Struct
from msgspec.structs import astuple

from d0ctl.show.drawing.spans import Line, Span, pad

GAP = 2
BAR, LONG_BAR = 8, 24
NAME, TITLE = 24, 20
"""How many columns names and titles get before the other columns."""

SHORT, ABOUT = 22, 60


class Need(Struct, frozen=True):
    """How many columns the visible rows need: `title` is a name with its description."""

    name: int = 12
    title: int = 12
    state: int = 10
    count: int = 4
    tally: int = 0
    about: int = 0
    time: int = 0

    def __or__(self, other: "Need") -> "Need":
        """Return the larger of each."""
        return Need(*map(max, astuple(self), astuple(other)))


class Columns(Struct, frozen=True):
    """How the columns of the tree share the width of the screen; 0 is omitted."""

    name: int
    state: int
    bar: int
    count: int
    tally: int
    time: int

    @classmethod
    def of(cls, columns: int, need: Need) -> "Columns":
        """Return the columns for a width; the last one stays blank."""
        time = need.time if columns >= 64 else 0
        bar = BAR if columns >= 50 else 0
        taken = need.state + need.count + 2 * GAP + 1
        taken += sum(part + GAP for part in (bar, time) if part)
        name = max(12, min(need.name, NAME, columns - taken))
        left = max(0, columns - taken - name)
        tally = min(need.tally, left - GAP) if columns >= 84 and left > 10 + GAP else 0
        left -= tally + GAP if tally else 0
        rest = need.count + sum(part + GAP for part in (bar, tally) if part)
        titled = min(need.title, need.name + TITLE)
        for about, called in ((SHORT, need.name), (SHORT, titled), (ABOUT, need.title)):
            more = max(0, min(left, min(need.about, about) - rest)) if bar else 0
            bar, rest, left = bar + more, rest + more, left - more
            more = max(0, min(left, called - name))
            name, left = name + more, left - more
        if bar:
            bar += max(0, min(left, LONG_BAR - bar))
        return cls(name, need.state, bar, need.count, tally, time)

    @property
    def about(self) -> int:
        """Return how many columns are left for details of a package."""
        return self.count + sum(part + GAP for part in (self.bar, self.tally) if part)


def heading(columns: Columns, order: str = "", arrow: str = "") -> Line:
    """Return the names of the columns, with the order if it is not the usual one."""
    cells = [("name".rjust(6), columns.name), ("status", columns.state)]
    if columns.bar:
        cells.append(("progress", columns.bar))
    cells.append(("done".rjust(columns.count), columns.count))
    if columns.tally:
        cells.append(("others", columns.tally))
    if columns.time:
        cells.append(("end".rjust(columns.time), columns.time))
    names = [word.strip() for word, _ in cells]
    at = names.index(order) if order in names else 0
    line: list[Span] = []
    for index, (word, room) in enumerate(cells):
        if arrow and index == at:
            by = f" by {order}" if order != names[at] else ""
            shown = f"{word}{by} {arrow}"
            short = f"{order} {arrow}" if len(order) + 2 <= room else f"{arrow}{order}"
            line.append((pad(shown if len(shown) <= room else short, room), "key"))
        else:
            line.append((pad(word, room), "faint"))
        line.append((" " * GAP, "faint"))
    return tuple(line)
