"""Values of fields with placeholders: converted once if they have none, else for each line."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from d0ctl.jobfile.language.field_types import BadValueError, FieldType
from d0ctl.jobfile.language.placeholders import LoopValues, Template
from d0ctl.jobfile.yaml.faults import Faults, Position, shown


class Value(Protocol):
    """The value of a field for given loop values; `get` raises BadValueError with the fault."""

    @property
    def position(self) -> Position: ...
    @property
    def fixed(self) -> bool: ...
    def get(self, values: LoopValues, /) -> Any: ...
    def wrong(self, values: LoopValues, /) -> Iterator[tuple[Position, str]]: ...


class TextValue(Struct, frozen=True):
    """A text of a field type."""

    key: str
    template: Template
    field_type: FieldType

    @property
    def position(self) -> Position:
        """The position of the text."""
        return self.template.scalar.position

    @property
    def fixed(self) -> bool:
        """Return whether it is the same for all lines."""
        return self.template.constant is not None

    def get(self, values: LoopValues) -> Any:
        """Convert the text. Raises BadValueError if it does not fit the type."""
        text = self.template.render(values)
        try:
            return self.field_type.convert(text)
        except BadValueError as error:
            raise BadValueError(f"`{self.key}`: {error}") from None
        except ValueError:
            expected = self.field_type.expected
            raise BadValueError(f"`{self.key}` takes {expected}, not {shown(text)}") from None

    def wrong(self, values: LoopValues) -> Iterator[tuple[Position, str]]:
        """Return what is wrong, and where."""
        try:
            self.get(values)
        except BadValueError as error:
            yield self.position, str(error)


class ListValue(Struct, frozen=True):
    """A list of values, combined by `combine`."""

    position: Position
    cells: tuple[Value, ...]
    combine: Callable[[list[Any]], Any] = tuple

    @property
    def fixed(self) -> bool:
        """Return whether it is the same for all lines."""
        return all(text_value.fixed for text_value in self.cells)

    def get(self, values: LoopValues) -> Any:
        """Convert all. Raises BadValueError at the first that does not fit its type."""
        return self.combine([text_value.get(values) for text_value in self.cells])

    def wrong(self, values: LoopValues) -> Iterator[tuple[Position, str]]:
        """Return what is wrong with each, and where."""
        for text_value in self.cells:
            yield from text_value.wrong(values)


def mapping_value(position: Position, cells: dict[str, TextValue]) -> ListValue:
    """Make a mapping of values, each with a type of its own."""
    names = tuple(cells)
    return ListValue(
        position, tuple(cells.values()), lambda values: dict(zip(names, values, strict=True))
    )


class TreeValue(Struct, frozen=True):
    """A mapping or list of any content, whose texts may have placeholders."""

    position: Position
    root: Any
    fixed: bool

    def get(self, values: LoopValues) -> Any:
        """Return it as plain dicts, lists and texts."""
        return _filled(self.root, values)

    def wrong(self, values: LoopValues) -> Iterator[tuple[Position, str]]:
        """Return nothing: every text is accepted."""
        del values
        return iter(())


def _filled(item: Any, values: LoopValues) -> Any:
    if isinstance(item, Template):
        return item.render(values)
    if isinstance(item, dict):
        return {key: _filled(value, values) for key, value in item.items()}
    if isinstance(item, list):
        return [_filled(value, values) for value in item]
    return item


class Fields(Struct):
    """The fields of one record: those that are the same for all lines, and those that vary."""

    fixed: dict[str, Any] = field(default_factory=dict)
    varying: dict[str, Value] = field(default_factory=dict)

    def set(self, name: str, value: Value, faults: Faults) -> None:
        """Add a field; one that does not vary is converted and checked now."""
        if not value.fixed:
            self.varying[name] = value
            return
        try:
            self.fixed[name] = value.get(())
        except BadValueError:
            for position, message in value.wrong(()):
                faults.add(position, message)

    def inherit(self, other: "Fields") -> None:
        """Add the fields of another record that this one does not have."""
        for name, value in other.fixed.items():
            if name not in self.varying:
                self.fixed.setdefault(name, value)
        for name, varying in other.varying.items():
            if name not in self.fixed:
                self.varying.setdefault(name, varying)

    def get(self, values: LoopValues) -> Mapping[str, Any]:
        """Return the fields for given loop values."""
        if not self.varying:
            return self.fixed
        return {**self.fixed, **{name: value.get(values) for name, value in self.varying.items()}}

    def check(self, values: LoopValues, faults: Faults) -> None:
        """Record faults of the fields for these loop values."""
        for name, value in self.varying.items():
            for position, message in value.wrong(values):
                faults.add_similar(position, f"value of {name}", message)
