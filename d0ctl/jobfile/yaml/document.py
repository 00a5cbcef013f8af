"""The tree of a YAML text: scalars that know their positions.

Every scalar stays the text that its author wrote (`no`, `1e3`, `012`, `12:30`); the fields
convert it. `parser`, the only user of the YAML library, reads it; a daemon that reads no file
does not import that.
"""

from collections.abc import Iterator

from msgspec import Struct, field

from d0ctl.jobfile.yaml.faults import Position

_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


class Weighted(Struct, kw_only=True, gc=False):
    """The number of nodes in a node of the tree, itself among them."""

    weight: int = 1


class Node(Weighted, gc=False):
    """A node of the tree, with its position."""

    position: Position


class ScanProgress(Struct, gc=False):
    """How far the parts of a scalar have been looked for, so that the next one is found from there.

    `line` is the number of newlines in its source up to there, `begin` where that line begins.
    """

    text: int = 0
    source: int = 0
    line: int = 0
    begin: int = 0
    is_lost: bool = False


class Scalar(Node, gc=False):
    """A piece of text; `plain` when it stood without quotes; `source` is how it was written."""

    text: str
    plain: bool = False
    source: str = ""
    progress: ScanProgress | None = None

    @property
    def is_nothing(self) -> bool:
        """Return whether it stands for an absent value."""
        return self.plain and self.text in _NOTHING

    def position_at(self, part: str, at: int) -> Position:
        """Return the position of the `part` that begins there in the text, else of the scalar.

        One pass over a text costs its length, however many parts it asks for.
        """
        progress = self.progress
        if progress is None or at < progress.text:
            progress = self.progress = ScanProgress()
        found = begin = progress.source
        for _ in range(self.text.count(part, progress.text, at) + 1):
            found = -1 if progress.is_lost else self.source.find(part, begin)
            if found < 0:
                progress.text, progress.is_lost = at, True
                return self.position
            begin = found + len(part)
        newlines = self.source.count("\n", progress.source, found)
        if newlines:
            progress.line += newlines
            progress.begin = self.source.rindex("\n", progress.source, found) + 1
        progress.text, progress.source = at, found
        column = found - progress.begin + (1 if progress.line else self.position.column)
        return Position(self.position.line + progress.line, column)


class Sequence(Node, gc=False):
    """A list."""

    items: list[Node] = field(default_factory=list)


class Mapping(Node, gc=False):
    """Keys and values in the order written; keys are different."""

    items: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    merged: list["Mapping"] = field(default_factory=list)

    @property
    def quotes_hint(self) -> str:
        """Return how to write it if it was meant as a text with a placeholder; else nothing."""
        if len(self.items) != 1:
            return ""
        ((key, value),) = self.items.values()
        has_braces = key.position != self.position
        if not (has_braces and isinstance(value, Scalar) and value.is_nothing):
            return ""
        return f'; a text that begins with `{{` needs quotes: `"{{{key.text}}}..."`'


def texts(node: Node) -> Iterator[str]:
    """Yield all texts in a node, also the keys, and a placeholder that was read as a mapping."""
    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from texts(item)
    elif isinstance(node, Mapping):
        if node.quotes_hint:
            yield "{}"
        for key, (_, value) in node.items.items():
            yield key
            yield from texts(value)
