"""Read a YAML text as a tree; JSON is read as a subset of YAML."""

import re
from typing import Any, cast

import yaml

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.spec import reserved_character
from d0ctl.jobfile.yaml.causes import YamlError, likely_cause
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import Faults, Position, did_you_mean, shown

MAX_CHARACTERS = 64_000_000
"""The size of the largest file."""

MAX_VALUE_LENGTH = 1_000_000
"""The length of the longest scalar, in characters."""

MAX_ALIASED = 100_000
"""How many nodes the aliases of a file may stand for."""

MAX_DEPTH = 40
_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"

MAX_DIRECTIVES = 100
"""How many lines may begin with `%`: the parser compares each directive with all others."""

_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x85\u2028\u2029]"
)
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)")
_CORE = ("str", "int", "float", "bool", "null", "map", "seq")
_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in _CORE)
_NEW = tuple.__new__
"""Makes a position in half the time that its class takes: each value has one."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str, faults: Faults) -> Node | None:
    """Return the tree of the one document in `text`; None for an empty one.

    Raises BadJobFile if the text is not YAML.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"{len(text):,} characters are more than {faults.what} may have"
        raise _fatal(faults, Position(1, 1), f"{message} ({MAX_CHARACTERS:,})")
    if found := _UNPRINTABLE.search(text):
        message = f"the character {found[0]!a} is not allowed in {faults.what}"
        raise _fatal(faults, _position_at(text, found.start()), message)
    if (directives := text.count("\n%") + text.startswith("%")) > MAX_DIRECTIVES:
        message = f"{directives:,} lines begin with `%`, more than {faults.what} may have"
        raise _fatal(faults, Position(1, 1), f"{message} ({MAX_DIRECTIVES:,})")
    try:
        if "\\u" in text:
            text = _PAIR.sub(_one_escape, text)
        return _Builder(text, faults).build()
    except yaml.MarkedYAMLError as error:
        mark = _mark(error)
        at = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
        if "nesting depth" in str(error.problem):  # libyaml reads ahead and has its own limit
            raise _fatal(faults, at, _TOO_DEEP) from error
        raise _fatal(faults, at, f"this is not YAML: {_problem(error, text)}") from error
    except yaml.YAMLError as error:
        raise _fatal(faults, Position(1, 1), "this is not YAML: " + str(error)) from error


_NOTICED_LATE = ("could not find expected ':'", "found unexpected")
"""Errors that begin before the parser notices them: a key without its colon, an open quote."""


def _mark(error: yaml.MarkedYAMLError) -> Any:
    """Return where an error is."""
    if error.context_mark and any(text in (error.problem or "") for text in _NOTICED_LATE):
        return error.context_mark
    return error.problem_mark or error.context_mark


def _fatal(faults: Faults, position: Position, message: str) -> BadJobFile:
    faults.add(position, message)
    return BadJobFile(faults.lines())


def _position_at(text: str, index: int) -> Position:
    before = text[:index]
    return Position(before.count("\n") + 1, index - before.rfind("\n"))


def _position_of(event: Any) -> Position:
    mark = event.start_mark
    return _NEW(Position, (mark.line + 1, mark.column + 1))


def _one_escape(pair: re.Match[str]) -> str:
    """Convert the two escapes that JSON has for one character to the one of YAML."""
    halves = bytes.fromhex(pair[2] + pair[3])
    return f"{pair[1]}\\U{ord(halves.decode('utf-16-be')):08x}"


def _problem(error: yaml.MarkedYAMLError, text: str) -> str:
    """Return the parser's error with its most likely cause."""
    problem, mark = error.problem or "it can't be parsed", error.problem_mark
    if mark is None:
        return problem
    begin = error.context_mark or mark
    cause = likely_cause(YamlError(problem, error.context or "", text, begin.index, mark.index))
    return f"{problem} ({cause})" if cause else problem


class _Builder:
    """Builds nodes from the parser's events, within limits."""

    def __init__(self, text: str, faults: Faults) -> None:
        self._text = text
        self._faults = faults
        self._next = _LOADER(text).get_event
        self._anchors: dict[str, Node] = {}
        self._open: list[Node] = []
        self._aliased = 0

    def build(self) -> Node | None:
        """Read all events; return the tree."""
        root, documents = None, 0
        while (event := self._next()) is not None:
            if isinstance(event, yaml.NodeEvent):
                root = self._node(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents == 2:
                    message = f"{self._faults.what} must be one document; a second begins here"
                    self._faults.add(_position_of(event), message)
                    break
        return None if isinstance(root, Scalar) and root.is_nothing else root

    def _node(self, event: yaml.NodeEvent) -> Node:
        if type(event) is yaml.ScalarEvent:  # most are
            scalar = self._scalar(event)
            if event.anchor is not None or event.tag is not None:
                self._note_anchor(event, scalar)
            return scalar
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        position = _position_of(event)
        if len(self._open) >= MAX_DEPTH:
            raise self._stop(position, _TOO_DEEP)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        node = Mapping(position) if is_mapping else Sequence(position)
        self._note_anchor(event, node)
        self._open.append(node)
        if isinstance(node, Mapping):
            self._fill_mapping(node)
        else:
            self._fill_sequence(node)
        self._open.pop()
        return node

    def _fill_sequence(self, parent: Sequence) -> None:
        items, next_event, read = parent.items, self._next, self._node
        while type(event := next_event()) is not yaml.SequenceEndEvent:
            node = read(event)
            parent.weight += node.weight
            items.append(node)

    def _fill_mapping(self, parent: Mapping) -> None:
        items, next_event, read, read_scalar = parent.items, self._next, self._node, self._scalar
        while type(event := next_event()) is not yaml.MappingEndEvent:
            is_plain = type(event) is yaml.ScalarEvent and event.anchor is event.tag is None
            key = read_scalar(event) if is_plain else read(event)
            event = next_event()
            is_plain = type(event) is yaml.ScalarEvent and event.anchor is event.tag is None
            node = read_scalar(event) if is_plain else read(event)
            parent.weight += key.weight + node.weight
            if type(key) is Scalar and key.text not in items and key.text not in ("", "<<"):
                items[key.text] = key, node
            else:
                self._add(parent, self._key(key), node)
        if parent.merged:
            own, parent.items = parent.items, {}
            for source in reversed(parent.merged):
                parent.items.update(source.items)
            parent.items.update(own)

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        text, position = event.value, _position_of(event)
        if not (text.isascii() and text.isprintable() and len(text) <= MAX_VALUE_LENGTH):
            text = self._checked(text, position)
        if "{" not in text and " " not in text:
            return Scalar(position, text, event.implicit[0])
        begin, end = cast(Any, event.start_mark), cast(Any, event.end_mark)
        return Scalar(position, text, event.implicit[0], self._text[begin.index : end.index])

    def _checked(self, text: str, position: Position) -> str:
        """Record a fault for a value that is not allowed; return the value, or an empty one."""
        if len(text) > MAX_VALUE_LENGTH:
            message = (
                f"a value of {len(text):,} characters is too long (at most {MAX_VALUE_LENGTH:,})"
            )
            self._faults.add(position, message)
            text = ""
        if "\0" in text or any("\ud800" <= c <= "\udfff" for c in _beyond_ascii(text)):
            self._faults.add(position, f"{shown(text)} has a character that no file name may have")
            text = ""
        if character := reserved_character(text):
            self._faults.add(position, f"{shown(text)} has the character {character!a}, "
                                       "which d0ctl needs for itself")  # fmt: skip
            text = ""
        return text

    def _note_anchor(self, event: Any, node: Node) -> None:
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        if event.tag is not None and event.tag not in _TAGS:
            what = self._faults.what
            self._faults.add(node.position, f"the tag {shown(event.tag)} is not allowed in {what}")

    def _alias(self, event: yaml.AliasEvent) -> Node:
        anchor, position = event.anchor or "", _position_of(event)
        node = self._anchors.get(anchor)
        if node is None:
            message = f"there is no anchor `&{anchor}` above"
            raise self._stop(position, message + did_you_mean(anchor, self._anchors))
        if any(node is opened for opened in self._open):
            raise self._stop(position, f"`*{anchor}` contains itself")
        self._aliased += node.weight
        if self._aliased > MAX_ALIASED:
            raise self._stop(position, f"aliases stand for more than {MAX_ALIASED:,} values")
        return node

    def _key(self, node: Node) -> Scalar:
        if isinstance(node, Scalar):
            return node
        self._faults.add(
            node.position, "a key must be a word; a text that begins with `{` needs quotes"
        )
        return Scalar(node.position, "")

    def _add(self, parent: Mapping, key: Scalar, node: Node) -> None:
        if key.plain and key.text == "<<":
            self._merge(parent, key, node)
        elif key.text in parent.items:
            first = parent.items[key.text][0].position
            self._faults.add(
                key.position, f"`{key.text}` is given twice, first in line {first.line}"
            )
        elif key.text or not key.plain:
            parent.items[key.text] = key, node

    def _merge(self, parent: Mapping, key: Scalar, node: Node) -> None:
        sources = node.items if isinstance(node, Sequence) else [node]
        for source in sources:
            if isinstance(source, Mapping):
                parent.merged.append(source)
            else:
                self._faults.add(key.position, "`<<` takes a mapping, as in `<<: *defaults`")

    def _stop(self, position: Position, message: str) -> BadJobFile:
        return _fatal(self._faults, position, message)


def _beyond_ascii(text: str) -> str:
    return "" if text.isascii() else text
