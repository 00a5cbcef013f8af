"""The only place that reads YAML: a text becomes a tree of scalars with their places.

Every scalar stays the text that its author wrote (`no`, `1e3`, `012`, `12:30`); the fields
convert it. JSON is a part of YAML and comes the same way.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.yaml.faults import Faults, Place, did_you_mean, shown

MOST_CHARACTERS = 64_000_000
"""How large a file may be."""

MOST_IN_A_VALUE = 1_000_000
"""How long one scalar may be."""

MOST_BY_ALIASES = 100_000
"""How many nodes the aliases of a file may stand for."""

MOST_DEPTH = 40

_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x85\u2028\u2029]"
)
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)")
_CORE = ("str", "int", "float", "bool", "null", "map", "seq")
_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in _CORE)
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Node:
    """What all nodes have: a place to point at, and how many nodes lie within."""

    place: Place
    weight: int = field(default=1, kw_only=True)


@dataclass(slots=True)
class Scalar(Node):
    """A piece of text; `plain` when it stood without quotes; `source` is how it was written."""

    text: str
    plain: bool = False
    source: str = ""

    @property
    def is_nothing(self) -> bool:
        """Tell whether it stands for an absent value."""
        return self.plain and self.text in _NOTHING

    def place_of(self, part: str, nth: int) -> Place:
        """Return where the nth `part` of the text stands in the file, as well as can be told."""
        at = -1
        for _ in range(nth + 1):
            at = self.source.find(part, at + 1)
            if at < 0:
                return self.place
        before = self.source[:at]
        newlines = before.count("\n")
        column = at - before.rfind("\n") if newlines else self.place.column + at
        return Place(self.place.line + newlines, column)


@dataclass(slots=True)
class Sequence(Node):
    """A list."""

    items: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Mapping(Node):
    """Keys and values in the order written; keys are different."""

    items: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    merged: list["Mapping"] = field(default_factory=list)


def parse(text: str, faults: Faults) -> Node | None:
    """Return the tree of the one document in `text`; None for an empty one.

    Raises BadJobFile where the text is no YAML at all: there is nothing to go on with then.
    """
    if len(text) > MOST_CHARACTERS:
        message = f"{len(text):,} characters are more than {faults.what} may have"
        raise _fatal(faults, Place(1, 1), f"{message} ({MOST_CHARACTERS:,})")
    if found := _UNPRINTABLE.search(text):
        message = f"the character {found[0]!a} has no place in {faults.what}"
        raise _fatal(faults, _place_at(text, found.start()), message)
    try:
        return _Builder(_PAIR.sub(_one_escape, text), faults).build()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
        raise _fatal(faults, at, f"this is not YAML: {_problem(error, text)}") from error
    except yaml.YAMLError as error:
        raise _fatal(faults, Place(1, 1), "this is not YAML: " + str(error)) from error


def _fatal(faults: Faults, place: Place, message: str) -> BadJobFile:
    faults.add(place, message)
    return BadJobFile(faults.lines())


def _place_at(text: str, index: int) -> Place:
    before = text[:index]
    return Place(before.count("\n") + 1, index - before.rfind("\n"))


def _one_escape(pair: re.Match[str]) -> str:
    """Write a character that JSON escapes as two halves in the one way that YAML knows."""
    halves = bytes.fromhex(pair[2] + pair[3])
    return f"{pair[1]}\\U{ord(halves.decode('utf-16-be')):08x}"


def _problem(error: yaml.MarkedYAMLError, text: str) -> str:
    """Put the parser's problem into words, with what most often is the cause."""
    mark, problem = error.problem_mark, error.problem or "it can't be read"
    if mark and "\t" in text[text.rfind("\n", 0, mark.index) + 1 : mark.index + 1]:
        return f"{problem} (tabs can't indent, spaces do)"
    if "mapping values are not allowed" in problem:
        return f"{problem} (a text with `: ` in it needs quotes)"
    return problem


def _at(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)


class _Builder:
    """Turns the parser's events into nodes, without recursion and within bounds."""

    def __init__(self, text: str, faults: Faults) -> None:
        self._text = text
        self._faults = faults
        self._anchors: dict[str, Node] = {}
        self._open: list[tuple[Node, Scalar | None]] = []
        self._aliased = 0
        self._root: Node | None = None
        self._documents = 0

    def build(self) -> Node | None:
        """Read all events; return the tree."""
        for event in self._events():
            place = _at(event.start_mark)
            if isinstance(event, yaml.AliasEvent):
                self._place_node(self._alias(event, place))
            elif isinstance(event, yaml.ScalarEvent):
                self._place_node(self._anchored(event, self._scalar(event, place)))
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event, place)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._end()
            elif isinstance(event, yaml.DocumentStartEvent):
                self._documents += 1
                if self._documents == 2:
                    what = self._faults.what
                    self._faults.add(place, f"{what} is one document; a second begins here")
                    break
        return self._root

    def _events(self) -> Iterator[yaml.Event]:
        yield from yaml.parse(self._text, Loader=_LOADER)

    def _scalar(self, event: yaml.ScalarEvent, place: Place) -> Scalar:
        text = event.value
        if len(text) > MOST_IN_A_VALUE:
            message = f"a value of {len(text):,} characters is longer than {MOST_IN_A_VALUE:,}"
            self._faults.add(place, message)
            text = ""
        if "\0" in text or any("\ud800" <= c <= "\udfff" for c in _beyond_ascii(text)):
            self._faults.add(place, f"{shown(text)} has a character that no file name may have")
            text = ""
        plain = bool(event.implicit[0])
        begin, end = cast(Any, event.start_mark), cast(Any, event.end_mark)
        source = self._text[begin.index : end.index] if "{" in text or " " in text else ""
        return Scalar(place, text, plain, source)

    def _anchored(self, event: yaml.NodeEvent, node: Node) -> Node:
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        tag = getattr(event, "tag", None)
        if tag is not None and tag not in _TAGS:
            what = self._faults.what
            self._faults.add(node.place, f"the tag {shown(tag)} has no place in {what}")
        return node

    def _alias(self, event: yaml.AliasEvent, place: Place) -> Node:
        anchor = event.anchor or ""
        node = self._anchors.get(anchor)
        if node is None:
            message = f"there is no anchor `&{anchor}` above"
            raise self._stop(place, message + did_you_mean(anchor, self._anchors))
        if any(node is opened for opened, _ in self._open):
            raise self._stop(place, f"`*{anchor}` stands within itself")
        self._aliased += node.weight
        if self._aliased > MOST_BY_ALIASES:
            raise self._stop(place, f"aliases stand for more than {MOST_BY_ALIASES:,} values")
        return node

    def _begin(self, event: yaml.CollectionStartEvent, place: Place) -> None:
        if len(self._open) >= MOST_DEPTH:
            raise self._stop(place, f"more than {MOST_DEPTH} levels within each other")
        mapping = isinstance(event, yaml.MappingStartEvent)
        node: Node = Mapping(place) if mapping else Sequence(place)
        self._open.append((self._anchored(event, node), None))

    def _end(self) -> None:
        node, _ = self._open.pop()
        if isinstance(node, Mapping):
            for source in node.merged:
                node.items = {**source.items, **node.items}
        self._place_node(node)

    def _place_node(self, node: Node) -> None:
        if not self._open:
            self._root = None if isinstance(node, Scalar) and node.is_nothing else node
            return
        parent, key = self._open[-1]
        parent.weight += node.weight
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif isinstance(parent, Mapping) and key is None:
            self._open[-1] = parent, self._key(node)
        elif isinstance(parent, Mapping) and key is not None:
            self._open[-1] = parent, None
            self._add(parent, key, node)

    def _key(self, node: Node) -> Scalar:
        if isinstance(node, Scalar):
            return node
        self._faults.add(node.place, "a key is a word; a text that begins with `{` needs quotes")
        return Scalar(node.place, "")

    def _add(self, parent: Mapping, key: Scalar, node: Node) -> None:
        if key.plain and key.text == "<<":
            self._merge(parent, key, node)
        elif key.text in parent.items:
            first = parent.items[key.text][0].place
            self._faults.add(key.place, f"`{key.text}` stands twice, first in line {first.line}")
        elif key.text or not key.plain:
            parent.items[key.text] = key, node

    def _merge(self, parent: Mapping, key: Scalar, node: Node) -> None:
        sources = node.items if isinstance(node, Sequence) else [node]
        for source in sources:
            if isinstance(source, Mapping):
                parent.merged.append(source)
            else:
                self._faults.add(key.place, "`<<` takes a mapping, as in `<<: *defaults`")

    def _stop(self, place: Place, message: str) -> BadJobFile:
        return _fatal(self._faults, place, message)


def _beyond_ascii(text: str) -> str:
    return "" if text.isascii() else text
