"""The tree of a YAML text: scalars that know their positions.

Every scalar stays the text that its author wrote (`no`, `1e3`, `012`, `12:30`); the fields
convert it. `parser`, the only user of the YAML library, reads it; a daemon that reads no file
does not import that.
"""

from msgspec import Struct, field

from d0ctl.jobfile.yaml.faults import Position

MOST_PLACED = 200
"""How many of the same parts of a scalar are looked for; a text may have 10^5 of them."""

MOST_SEARCHED = 50_000
"""In how many characters of a scalar the place of a fault is looked for."""

_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


class Weighted(Struct, kw_only=True, gc=False):
    """The number of nodes in a node of the tree, itself among them."""

    weight: int = 1


class Node(Weighted, gc=False):
    """A node of the tree, with its position."""

    position: Position


class Scalar(Node, gc=False):
    """A piece of text; `plain` when it stood without quotes; `source` is how it was written."""

    text: str
    plain: bool = False
    source: str = ""

    @property
    def is_nothing(self) -> bool:
        """Return whether it stands for an absent value."""
        return self.plain and self.text in _NOTHING

    def position_at(self, part: str, at: int) -> Position:
        """Return the position of the `part` that begins there in the text, else of the scalar."""
        if at > MOST_SEARCHED:
            return self.position
        return self.position_of(part, self.text.count(part, 0, at))

    def position_of(self, part: str, nth: int) -> Position:
        """Return the position of the nth `part` of the text, or else of the scalar."""
        if nth > MOST_PLACED:
            return self.position
        at = -1
        for _ in range(nth + 1):
            at = self.source.find(part, at + 1)
            if at < 0:
                return self.position
        before = self.source[:at]
        newlines = before.count("\n")
        column = at - before.rfind("\n") if newlines else self.position.column + at
        return Position(self.position.line + newlines, column)


class Sequence(Node, gc=False):
    """A list."""

    items: list[Node] = field(default_factory=list)


class Mapping(Node, gc=False):
    """Keys and values in the order written; keys are different."""

    items: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    merged: list["Mapping"] = field(default_factory=list)
