"""Reading one level of a job file: its keys, and nodes as scalars, lists and free mappings."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from d0ctl.jobfile.language.field_types import Kind, native
from d0ctl.jobfile.language.template import Scope, Template, compile_text
from d0ctl.jobfile.language.values import Cell, Fields, Many, Tree, Value
from d0ctl.jobfile.site_names import NOTHING_KNOWN, KnownNames
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import Faults, Place, did_you_mean, near, shown

_MEANT = dict.fromkeys(("command", "cmd", "script", "exec", "execute", "executable"), "run")
"""Words that other programs have for a key."""

_ORDER = re.compile(
    "(depends?|after|before|needs?|requires?|parents?|children|wait)([-_]?(on|for|stages?|jobs?))?"
    "|dependenc(y|ies)|upstream|downstream"
)
"""Words that other programs have for the order of work."""


def _hint(name: str, known: list[str]) -> str:
    """Say what a key that does not exist may have been meant to be."""
    is_work = not {"inputs", "lines", "packages", "binaries"}.isdisjoint(known)
    if is_work and _ORDER.fullmatch(name) and near(name, known, 0.8) is None:
        return ": order comes from files, so name the files that it reads under `inputs`"
    if _MEANT.get(name) in known:
        return f" (did you mean `{_MEANT[name]}`?)"
    return did_you_mean(name, known)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a level needs to be read: where faults go, what names are known, what lies beside."""

    faults: Faults
    directory: str
    scope: Scope
    known: KnownNames = NOTHING_KNOWN

    def within(self, scope: Scope) -> "Reading":
        """Return the same with other names known."""
        return replace(self, scope=scope)

    def fault(self, place: Place, message: str) -> None:
        """Note a fault."""
        self.faults.add(place, message)

    def scalar(self, node: Node, what: str) -> Scalar | None:
        """Return a node that has to be a text; otherwise that is a fault."""
        if isinstance(node, Scalar):
            return node
        hint = ""
        if isinstance(node, Mapping) and len(node.items) == 1:
            (key, (_, value)) = next(iter(node.items.items()))
            if isinstance(value, Scalar) and value.is_nothing:
                hint = f'; a text that begins with `{{` needs quotes: `"{{{key}}}..."`'
        self.fault(node.place, f"{what} takes a text, not {kind_of(node)}{hint}")
        return None

    def template(self, scalar: Scalar, strict: bool = False) -> Template:
        """Return a text with its placeholders resolved."""
        return compile_text(scalar, self.scope, self.faults, strict)

    def text(self, scalar: Scalar) -> str:
        """Return a text in which only parameters can stand, replaced."""
        template = self.template(scalar, strict=True)
        return template.constant if template.constant is not None else scalar.text

    def cell(self, key: str, scalar: Scalar, kind: Kind) -> Cell:
        """Return a text as the value of a field."""
        return Cell(key, self.template(scalar), kind)

    def many(
        self, key: str, node: Node, kind: Kind, gather: Callable[[list[Any]], Any] = tuple
    ) -> Many:
        """Return a list of texts, or a single one, as the value of a field."""
        items = node.items if isinstance(node, Sequence) else [node]
        scalars = [self.scalar(item, f"`{key}`") for item in items]
        cells = [self.cell(key, scalar, kind) for scalar in scalars if scalar is not None]
        return Many(node.place, tuple(cells), gather)

    def tree(self, node: Node, typed: bool) -> Tree:
        """Return a free mapping or list; `typed` reads numbers, true, false and null as such."""
        varying: list[Template] = []

        def build(item: Node) -> Any:
            if isinstance(item, Mapping):
                return {key: build(value) for key, (_, value) in item.items.items()}
            if isinstance(item, Sequence):
                return [build(value) for value in item.items]
            assert isinstance(item, Scalar)
            template = self.template(item)
            if template.constant is None:
                varying.append(template)
                return template
            text = template.constant
            return native(text, item.plain) if typed else text

        root = build(node)
        return Tree(node.place, root, not varying)


def kind_of(node: Node) -> str:
    """Say what a node is, as people call it."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list" if node.items else "an empty list"
    return f"{shown(node.text)}" if isinstance(node, Scalar) and node.text else "nothing"


class Level:
    """The keys of one record as written; those without a value count as absent."""

    def __init__(self, node: Mapping, what: str, known: Iterable[str], reading: Reading) -> None:
        self.node = node
        self.what = what
        self.reading = reading
        self.keys = {
            name: (key, value)
            for name, (key, value) in node.items.items()
            if not (isinstance(value, Scalar) and value.is_nothing)
        }
        names = list(known)
        for name, (key, _) in node.items.items():
            if name not in names:
                message = f"{what} has no key {shown(name)}{_hint(name, names)}"
                reading.fault(key.place, message)

    def __contains__(self, name: str) -> bool:
        return name in self.keys

    def get(self, name: str) -> Node | None:
        """Return a key's node."""
        return self.keys[name][1] if name in self.keys else None

    def place(self, name: str) -> Place:
        """Return where a key stands, or the record where it is absent."""
        return self.keys[name][0].place if name in self.keys else self.node.place

    def scalar(self, name: str) -> Scalar | None:
        """Return a key's text."""
        node = self.get(name)
        return None if node is None else self.reading.scalar(node, f"`{name}`")

    def value(self, name: str, kind: Kind) -> Value | None:
        """Return a key's text as a value that is yet to be read."""
        scalar = self.scalar(name)
        return None if scalar is None else self.reading.cell(name, scalar, kind)

    def fields(self, kinds: dict[str, Kind], into: Fields) -> None:
        """Add all keys that hold one text of a kind; a dash becomes `_`."""
        for name, kind in kinds.items():
            value = self.value(name, kind)
            if value is not None:
                into.set(name.replace("-", "_"), value, self.reading.faults)

    def lists(self, kinds: dict[str, Kind], into: Fields) -> None:
        """Add all keys that hold texts of a kind, or a single one."""
        for name, kind in kinds.items():
            node = self.get(name)
            if node is not None:
                value = self.reading.many(name, node, kind)
                into.set(name.replace("-", "_"), value, self.reading.faults)

    def trees(self, names: dict[str, bool], into: Fields) -> None:
        """Add all keys that hold a free mapping, typed or as text."""
        for name, typed in names.items():
            node = self.mapping(name)
            if node is not None:
                value = self.reading.tree(node, typed)
                into.set(name.replace("-", "_"), value, self.reading.faults)

    def mapping(self, name: str) -> Mapping | None:
        """Return a key's mapping."""
        node = self.get(name)
        if node is None or isinstance(node, Mapping):
            return node
        self.reading.fault(node.place, f"`{name}` takes a mapping, not {kind_of(node)}")
        return None

    def records(self, name: str) -> list[Mapping]:
        """Return the records of a list that has to be there and to hold some."""
        node = self.get(name)
        if node is None:
            self.reading.fault(self.place(name), f"{self.what} needs `{name}`")
            return []
        if not isinstance(node, Sequence) or not node.items:
            self.reading.fault(node.place, f"`{name}` takes a list of entries, not {kind_of(node)}")
            return []
        for item in node.items:
            if not isinstance(item, Mapping):
                message = f"an entry of `{name}` has keys, as in `- name: x`"
                self.reading.fault(item.place, f"{message}; this is {kind_of(item)}")
        return [item for item in node.items if isinstance(item, Mapping)]
