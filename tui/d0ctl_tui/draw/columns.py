"""How the columns of the tree share its width, by the needs of visible rows."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import astuple

from d0ctl.show.drawing.spans import Line, Span, pad
from d0ctl_tui.terminal import CHOICES

GAP = 2
BAR, LONG_BAR = 8, 16
NAME, TITLE, ENDING = 24, 20, 8
"""How many columns names and titles get before the other columns, and titles before details."""

SHORT, LONGER, ABOUT = 22, 30, 60
"""How many columns the details of a package get, one after another."""

COUNTS, LEAST = 84, 10
"""From this width on there are other counts, if they get so many columns."""

ROOMY = 90
"""From this width on, times have seconds, and there may be extra columns."""

FIRST = ("node", "ran", "memory", "cpu")
EXTRAS = (*FIRST, "researcher", "priority")
"""The extra columns from left to right, and as they are added while there is room."""

SORTED = {"duration": "ran", "CPU": "cpu"}
"""The extra columns that have other names than the orders of packages that they show."""

LEFT = ("node", "researcher")
"""Extra columns with words."""


class Need(Struct, frozen=True):
    """How many columns the visible rows need.

    `title` is a name with its description, `brief` a time without seconds, `remark` what there is
    to say about a package besides its node. The last ones are the extra columns.
    """

    name: int = 12
    title: int = 12
    state: int = 10
    count: int = 0
    tally: int = 0
    about: int = 0
    remark: int = 0
    time: int = 0
    brief: int = 0
    node: int = 0
    ran: int = 0
    memory: int = 0
    cpu: int = 0
    researcher: int = 0
    priority: int = 0

    def __or__(self, other: "Need") -> "Need":
        """Return the larger of each."""
        return Need(*map(max, astuple(self), astuple(other)))

    @property
    def extras(self) -> dict[str, int]:
        """How wide each extra column with any contents is, its name included."""
        widths = zip(EXTRAS, astuple(self)[-len(EXTRAS) :], strict=True)
        return {name: max(width, len(name)) for name, width in widths if width}


class Columns(Struct, frozen=True):
    """How the columns of the tree share the width of the screen; 0 is omitted."""

    name: int
    state: int
    bar: int
    count: int
    tally: int
    time: int
    extras: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(
        cls, columns: int, need: Need, choices: Sequence[str] = CHOICES, order: str = ""
    ) -> "Columns":
        """Return the columns for a width, of the chosen ones; the last one stays blank.

        The extra column that the rows are sorted by comes before all others.
        """
        time = (
            0
            if columns < 64 or "end" not in choices
            else need.time
            if columns >= ROOMY
            else need.brief
        )
        bar = BAR if columns >= 50 else 0
        taken = need.state + GAP + 1 + _taken((bar, need.count, time))
        name = max(12, min(need.name, NAME, columns - taken))
        left = max(0, columns - taken - name)
        rest, tally, extras = need.count + bar, 0, {}
        wanted = need.extras if columns >= ROOMY else {}
        first = SORTED.get(order, order)
        room = max(need.extras.get(first, left), len(first) + 1)  # its name has an arrow
        if first in choices and left >= room + GAP:
            extras[first] = room
            left -= room + GAP
        titled = min(need.title, need.name + TITLE)
        longer = LONGER if columns >= ROOMY else SHORT
        steps: tuple[tuple[int, int, tuple[str, ...]], ...] = (
            (SHORT, need.name, EXTRAS[:1]), (longer, min(titled, need.name + ENDING), FIRST),
            (longer, titled, EXTRAS), (ABOUT, need.title, ()),
        )  # fmt: skip
        has_others = columns >= COUNTS and need.tally > 0 and "others" in choices
        for about, called, added in steps:
            remark = need.remark if "node" in extras else need.about
            more = max(0, min(left, min(remark, about) - rest)) if bar else 0
            left, rest = left - more, rest + more
            if has_others and (tally or more > LEAST + GAP):
                others = min(need.tally, tally + more - (0 if tally else GAP))
                more -= others - tally + (0 if tally else GAP)
                tally = others
            bar += more
            more = max(0, min(left, called - name))
            name, left = name + more, left - more
            for extra in choices:
                if (
                    extra in added
                    and extra in wanted
                    and extra not in extras
                    and left >= wanted[extra] + GAP
                ):
                    extras[extra] = wanted[extra]
                    left -= wanted[extra] + GAP
            if has_others and called == titled and left > LEAST + GAP:
                others = min(need.tally, left - GAP if not tally else tally + left)
                left -= others - tally + (0 if tally else GAP)
                rest, tally = rest + others - tally + (0 if tally else GAP), others
        if bar and need.count:
            bar += max(0, min(left, LONG_BAR - bar))
        shown = tuple((extra, extras[extra]) for extra in choices if extra in extras)
        return cls(name, need.state, bar, need.count, tally, time, shown)

    @property
    def about(self) -> int:
        """Return how many columns are left for details of a package."""
        return max(0, _taken((self.bar, self.count, self.tally)) - GAP)

    def has(self, extra: str) -> bool:
        """Return whether there is an extra column."""
        return any(name == extra for name, _ in self.extras)


def _taken(parts: Iterable[int]) -> int:
    """Return how many columns the parts take that are not omitted, with the gaps after them."""
    return sum(part + GAP for part in parts if part)


def heading(columns: Columns, order: str = "", arrow: str = "") -> Line:
    """Return the names of the columns, with the order if it is not the usual one."""
    if columns.has(SORTED.get(order, order)):
        order = SORTED.get(order, order)
    cells = [("name".rjust(6), columns.name), ("status", columns.state)]
    if columns.bar:
        cells.append(("progress" if columns.count else "about", columns.bar))
    if columns.count:
        cells.append(("done".rjust(columns.count), columns.count))
    if columns.tally:
        cells.append(("others", columns.tally))
    cells += [(name if name in LEFT else name.rjust(room), room) for name, room in columns.extras]
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
