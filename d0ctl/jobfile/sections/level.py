"""One level of a job file: its keys, and their values as texts, lists and mappings."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.jobfile.language.compiled_text import compile_text
from d0ctl.jobfile.language.field_types import FieldType, native
from d0ctl.jobfile.language.key_hints import key_hint
from d0ctl.jobfile.language.placeholders import Scope, Template
from d0ctl.jobfile.language.values import Fields, ListValue, TextValue, TreeValue, Value
from d0ctl.jobfile.recipe import StageRecipe
from d0ctl.jobfile.site_names import NOTHING_KNOWN, KnownNames
from d0ctl.jobfile.spec import reserved_character
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence, texts
from d0ctl.jobfile.yaml.faults import Faults, Position, shown
from d0ctl.units import LEAST_BYTES, time_without_unit, without_unit


class Reading(Struct, frozen=True):
    """The context of reading: a list of faults, the known names, and the folder of the file."""

    faults: Faults
    directory: str
    scope: Scope
    known: KnownNames = NOTHING_KNOWN
    stages: list[StageRecipe] = field(default_factory=list)
    """The stages read so far."""
    grouped: dict[str, Any] = field(default_factory=dict)
    """The outputs of stages from which groups have been made; many lines may group the same."""
    sources: dict[tuple[str, str], Any] = field(default_factory=dict)
    """What is read once: the files of globs and tables, and the names of outputs, indexed."""
    listed: Counter[str] = field(default_factory=Counter)
    """How many values all loops list, as `values`: 10^5 lines may list the same file each."""
    is_flat: bool = False
    """Whether inputs lose their folders in the working directory."""

    def within(self, scope: Scope) -> "Reading":
        """Return the same with other known names."""
        return replace(self, scope=scope)

    def fault(self, position: Position, message: str) -> None:
        """Record a fault."""
        self.faults.add(position, message)

    def refuse_reserved(
        self, position: Position, texts: Iterable[str], where: Callable[[int], str]
    ) -> None:
        """Record a fault for each value from outside with a character that d0ctl reserves."""
        for number, text in enumerate(texts, 1):
            if character := reserved_character(text):
                message = f"{where(number)} has the character {character!a}"
                self.fault(position, f"{message}, which d0ctl needs for itself")

    def scalar(self, node: Node, what: str) -> Scalar | None:
        """Return a node that must be a text; record a fault if it is not."""
        if isinstance(node, Scalar):
            return node
        hint = node.quotes_hint if isinstance(node, Mapping) else ""
        self.fault(node.position, f"{what} takes a text, not {kind_of(node)}{hint}")
        return None

    def template(self, scalar: Scalar, strict: bool = False) -> Template:
        """Compile a text with placeholders."""
        return compile_text(scalar, self.scope, self.faults, strict)

    def text(self, scalar: Scalar) -> str:
        """Return a text that may have parameters, with their values."""
        template = self.template(scalar, strict=True)
        return template.constant if template.constant is not None else scalar.text

    def text_value(self, key: str, scalar: Scalar, field_type: FieldType) -> TextValue:
        """Return a text as the value of a field."""
        return TextValue(key, self.template(scalar), field_type)

    def list_value(
        self,
        key: str,
        node: Node,
        field_type: FieldType,
        combine: Callable[[list[Any]], Any] = tuple,
    ) -> ListValue:
        """Return a list of texts, or a single one, as the value of a field."""
        items = node.items if isinstance(node, Sequence) else [node]
        scalars = [self.scalar(item, f"`{key}`") for item in items]
        cells = [
            self.text_value(key, scalar, field_type) for scalar in scalars if scalar is not None
        ]
        return ListValue(node.position, tuple(cells), combine)

    def tree_value(self, node: Node, typed: bool) -> TreeValue:
        """Return a mapping or list of any content; `typed` converts numbers, true, false, null."""
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
        return TreeValue(node.position, root, not varying)


def kind_of(node: Node) -> str:
    """Name the kind of a node."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list" if node.items else "an empty list"
    return f"{shown(node.text)}" if isinstance(node, Scalar) and node.text else "an empty value"


_WITH_OUTPUTS = {"a stage", "a line", "a package", "a binary", "an output"}
"""The records in which a misspelt key can hide an output."""


@cache
def _set_of(known: tuple[str, ...]) -> frozenset[str]:
    """Return the known keys of a level as a set: there are few such lists, and many records."""
    return frozenset(known)


class Level:
    """The keys of one record as written; those without a value count as absent."""

    def __init__(self, node: Mapping, what: str, known: Iterable[str], reading: Reading) -> None:
        self.node = node
        self.what = what
        self.reading = reading
        self.keys = {
            name: entry
            for name, entry in node.items.items()
            if not (type(entry[1]) is Scalar and entry[1].is_nothing)
        }
        unknown = node.items.keys() - _set_of(tuple(known))
        self.has_unknown = bool(unknown)
        for name in unknown:
            key = node.items[name][0]
            hint = node.quotes_hint or key_hint(name, list(known), node.items)
            reading.fault(key.position, f"{what} has no key {shown(name)}{hint}")
            if what in _WITH_OUTPUTS:
                entry = node if what == "an output" else node.items[name][1]
                reading.faults.hidden.add(key.position, texts(entry))

    def __contains__(self, name: str) -> bool:
        return name in self.keys

    def get(self, name: str) -> Node | None:
        """Return the value of a key."""
        return self.keys[name][1] if name in self.keys else None

    def position(self, name: str) -> Position:
        """Return the position of a key, or of the record if the key is absent."""
        return self.keys[name][0].position if name in self.keys else self.node.position

    def scalar(self, name: str) -> Scalar | None:
        """Return the text of a key."""
        node = self.get(name)
        return None if node is None else self.reading.scalar(node, f"`{name}`")

    def value(self, name: str, field_type: FieldType) -> Value | None:
        """Return the text of a key as a value that is converted later."""
        scalar = self.scalar(name)
        return None if scalar is None else self.reading.text_value(name, scalar, field_type)

    def fields(self, types: dict[str, FieldType], into: Fields) -> None:
        """Add the keys that hold one text; a dash becomes `_`."""
        for name in self.keys:
            if name in types and (value := self.value(name, types[name])) is not None:
                into.set(name.replace("-", "_"), value, self.reading.faults)

    def warn_of_seconds(self, name: str, unit: str | None = None) -> None:
        """Warn of short times without a unit in the text or list of a key; it is likely `unit`."""
        node = self.get(name)
        for item in node.items if isinstance(node, Sequence) else [node]:
            if isinstance(item, Scalar) and (meant := time_without_unit(item.text, unit)):
                self.reading.faults.warnings.add(item.position, f"`{name}` is {meant}")

    def warn_of_bytes(self, name: str) -> None:
        """Warn of a small size without a unit in the text of a key."""
        node = self.get(name)
        if not isinstance(node, Scalar):
            return
        digits = node.text.strip()
        is_short = digits.isascii() and digits.isdigit() and len(digits) < len(str(LEAST_BYTES))
        if is_short and (meant := without_unit(int(digits))):
            self.reading.faults.warnings.add(node.position, f"`{name}` is {meant}")

    def lists(self, types: dict[str, FieldType], into: Fields) -> None:
        """Add the keys that hold a list of texts, or a single one."""
        for name, field_type in types.items():
            node = self.get(name)
            if node is not None:
                value = self.reading.list_value(name, node, field_type)
                into.set(name.replace("-", "_"), value, self.reading.faults)

    def trees(self, names: dict[str, bool], into: Fields) -> None:
        """Add the keys that hold a mapping of any content, typed or as text."""
        for name, typed in names.items():
            node = self.mapping(name)
            if node is not None:
                value = self.reading.tree_value(node, typed)
                into.set(name.replace("-", "_"), value, self.reading.faults)

    def mapping(self, name: str) -> Mapping | None:
        """Return the mapping of a key."""
        node = self.get(name)
        if node is None or isinstance(node, Mapping):
            return node
        self.reading.fault(node.position, f"`{name}` takes a mapping, not {kind_of(node)}")
        return None

    def records(self, name: str) -> list[Mapping]:
        """Return the records of a list that is needed and not empty."""
        node = self.get(name)
        if node is None:
            self.reading.fault(self.position(name), f"{self.what} needs `{name}`")
            self.reading.faults.hidden.has_all |= not self.has_unknown  # else one is misspelt
            return []
        if not isinstance(node, Sequence) or not node.items:
            self.reading.fault(
                node.position, f"`{name}` takes a list of entries, not {kind_of(node)}"
            )
            self.reading.faults.hidden.add(node.position, texts(node))
            return []
        for item in node.items:
            if not isinstance(item, Mapping):
                message = f"an entry of `{name}` takes keys, as in `- name: x`, not {kind_of(item)}"
                self.reading.fault(item.position, message)
                self.reading.faults.hidden.add(item.position, texts(item))
        return [item for item in node.items if isinstance(item, Mapping)]
