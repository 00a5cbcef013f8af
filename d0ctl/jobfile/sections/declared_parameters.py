"""The section `template:` of a job file: a description of its parameters."""

from collections.abc import Mapping as AnyMapping

from msgspec import Struct

from d0ctl.jobfile.language.field_types import (
    FLAG,
    ONE_LINE,
    SIZE,
    TEXT,
    TIME,
    BadValueError,
    FieldType,
    matching,
    split_names,
    whole,
)
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import Position, did_you_mean, shown

TEMPLATE_KEYS = split_names("about parameters")
DECLARED_KEYS = split_names("type help one-of")

_NUMBER = matching(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


TYPES = {
    "text": TEXT,
    "integer": FieldType(whole(-(10**18), 10**18), "a whole number"),
    "number": FieldType(_NUMBER, "a number"),
    "size": SIZE,
    "time": TIME,
    "flag": FLAG,
}
"""The types that a parameter can have."""


class Declared(Struct, frozen=True):
    """The description of one parameter of a template."""

    name: str
    position: Position
    type: str = "text"
    help: str = ""
    choices: tuple[str, ...] = ()

    @property
    def is_typed(self) -> bool:
        """Whether it takes only certain values."""
        return bool(self.choices) or self.type != "text"

    def fault(self, value: str) -> str | None:
        """Return why a value does not fit; None if it does."""
        if self.choices and value not in self.choices:
            known = ", ".join(f"`{choice}`" for choice in self.choices)
            hint = did_you_mean(value, self.choices)
            return f"parameter `{self.name}` takes one of {known}, not {shown(value)}{hint}"
        try:
            TYPES[self.type].convert(value)
        except BadValueError as error:
            return f"parameter `{self.name}`: {error}"
        except ValueError:
            expected = TYPES[self.type].expected
            return f"parameter `{self.name}` takes {expected}, not {shown(value)}"
        return None


class Declaration(Struct, frozen=True):
    """The description of a template."""

    about: str = ""
    parameters: tuple[Declared, ...] = ()


def read_declaration(level: Level) -> Declaration:
    """Read `template:` of a job; empty if it has none."""
    node = level.mapping("template")
    if node is None:
        return Declaration()
    inner = Level(node, "`template`", TEMPLATE_KEYS, level.reading)
    about = inner.scalar("about")
    listed = inner.mapping("parameters")
    parameters = [
        _declared(key, value, level.reading)
        for key, value in (listed.items.values() if listed else ())
    ]
    if about is not None and not about.text.isprintable():
        level.reading.fault(about.position, f"`about` takes {ONE_LINE.expected}")
    return Declaration(about.text if about else "", tuple(parameters))


def _declared(key: Scalar, node: Node, reading: Reading) -> Declared:
    if isinstance(node, Scalar):
        return Declared(key.text, key.position, help="" if node.is_nothing else node.text)
    if not isinstance(node, Mapping):
        reading.fault(node.position, f"a parameter takes a help text or keys, not {kind_of(node)}")
        return Declared(key.text, key.position)
    level = Level(node, "a parameter", DECLARED_KEYS, reading)
    kind, help = level.scalar("type"), level.scalar("help")
    if kind is not None and kind.text not in TYPES:
        known = ", ".join(f"`{name}`" for name in TYPES)
        hint = did_you_mean(kind.text, TYPES)
        reading.fault(kind.position, f"`type` takes one of {known}, not {shown(kind.text)}{hint}")
        kind = None
    return Declared(
        key.text,
        key.position,
        type=kind.text if kind else "text",
        help=help.text if help else "",
        choices=_choices(level),
    )


def _choices(level: Level) -> tuple[str, ...]:
    node = level.get("one-of")
    if node is None:
        return ()
    if not isinstance(node, Sequence) or not node.items:
        level.reading.fault(node.position, f"`one-of` takes a list of texts, not {kind_of(node)}")
        return ()
    items = [level.reading.scalar(item, "an element of `one-of`") for item in node.items]
    return tuple(item.text for item in items if item is not None)


def check_values(declared: Declaration, level: Level, replaced: AnyMapping[str, str]) -> None:
    """Record faults for declared parameters that are missing, empty, or of the wrong type."""
    node = level.mapping("parameters")
    items = node.items if node is not None else {}
    for parameter in declared.parameters:
        if parameter.name not in items:
            message = (
                f"`template` declares parameter {shown(parameter.name)}, which `parameters` lacks"
            )
            level.reading.fault(
                parameter.position, f"{message}{did_you_mean(parameter.name, items)}"
            )
            continue
        value = items[parameter.name][1]
        if not isinstance(value, Scalar):
            continue
        if parameter.name not in replaced and value.is_nothing:
            message = f"parameter `{parameter.name}` needs a value: --set {parameter.name}=VALUE"
            level.reading.fault(items[parameter.name][0].position, message)
        elif fault := parameter.fault(replaced.get(parameter.name, value.text)):
            level.reading.fault(value.position, fault)
    typed = {parameter.name for parameter in declared.parameters if parameter.is_typed}
    for name, text in replaced.items():
        old = items[name][1] if name in items and name not in typed else None
        if isinstance(old, Scalar) and old.plain and _is_number(old.text) > _is_number(text):
            message = f"parameter {shown(name)} is the number {old.text}, and --set makes it"
            level.reading.faults.warnings.add(old.position, f"{message} {shown(text)}")


def _is_number(text: str) -> bool:
    try:
        return bool(_NUMBER(text))
    except ValueError:
        return False
