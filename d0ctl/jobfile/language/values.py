"""Values of fields that may hold placeholders: read once where they have none, else per line."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from d0ctl.jobfile.language.field_types import Kind, WrongError
from d0ctl.jobfile.language.template import Env, Template
from d0ctl.jobfile.yaml.faults import Faults, Place, shown


class Value(Protocol):
    """What a field is worth for given loop values; get raises WrongError with the fault's text."""

    @property
    def place(self) -> Place: ...
    @property
    def fixed(self) -> bool: ...
    def get(self, env: Env, /) -> Any: ...
    def wrong(self, env: Env, /) -> Iterator[tuple[Place, str]]: ...


@dataclass(frozen=True, slots=True)
class Cell:
    """One text of a kind."""

    key: str
    template: Template
    kind: Kind

    @property
    def place(self) -> Place:
        """Where the text stands."""
        return self.template.scalar.place

    @property
    def fixed(self) -> bool:
        """Tell whether it is the same for each line."""
        return self.template.constant is not None

    def get(self, env: Env) -> Any:
        """Read the text; raises WrongError where it is not of the kind."""
        text = self.template.render(env)
        try:
            return self.kind.convert(text)
        except WrongError as error:
            raise WrongError(f"`{self.key}`: {error}") from None
        except ValueError:
            expected = self.kind.expected
            raise WrongError(f"`{self.key}` takes {expected}, not {shown(text)}") from None

    def wrong(self, env: Env) -> Iterator[tuple[Place, str]]:
        """Tell what is wrong, and where."""
        try:
            self.get(env)
        except WrongError as error:
            yield self.place, str(error)


@dataclass(frozen=True, slots=True)
class Many:
    """A list of values, put together by `gather`."""

    place: Place
    cells: tuple[Value, ...]
    gather: Callable[[list[Any]], Any] = tuple

    @property
    def fixed(self) -> bool:
        """Tell whether it is the same for each line."""
        return all(cell.fixed for cell in self.cells)

    def get(self, env: Env) -> Any:
        """Read all; raises WrongError at the first that is not of the kind."""
        return self.gather([cell.get(env) for cell in self.cells])

    def wrong(self, env: Env) -> Iterator[tuple[Place, str]]:
        """Tell what is wrong with each, and where."""
        for cell in self.cells:
            yield from cell.wrong(env)


def gathered(place: Place, cells: dict[str, Cell]) -> Many:
    """Make a mapping of values that are read each by its kind."""
    names = tuple(cells)
    return Many(place, tuple(cells.values()), lambda values: dict(zip(names, values, strict=True)))


@dataclass(frozen=True, slots=True)
class Tree:
    """A free mapping or list, whose texts may have placeholders."""

    place: Place
    root: Any
    fixed: bool

    def get(self, env: Env) -> Any:
        """Return it as plain dicts, lists and texts."""
        return _filled(self.root, env)

    def wrong(self, env: Env) -> Iterator[tuple[Place, str]]:
        """Tell nothing: every text will do."""
        del env
        return iter(())


def _filled(item: Any, env: Env) -> Any:
    if isinstance(item, Template):
        return item.render(env)
    if isinstance(item, dict):
        return {key: _filled(value, env) for key, value in item.items()}
    if isinstance(item, list):
        return [_filled(value, env) for value in item]
    return item


@dataclass(slots=True)
class Fields:
    """The fields of one record: those that never change, and those that do from line to line."""

    fixed: dict[str, Any] = field(default_factory=dict)
    varying: dict[str, Value] = field(default_factory=dict)

    def set(self, name: str, value: Value, faults: Faults) -> None:
        """Add a field; one that never changes is read and judged now."""
        if not value.fixed:
            self.varying[name] = value
            return
        wrong = list(value.wrong(()))
        for place, message in wrong:
            faults.add(place, message)
        if not wrong:
            self.fixed[name] = value.get(())

    def get(self, env: Env) -> Mapping[str, Any]:
        """Return the fields for given loop values."""
        if not self.varying:
            return self.fixed
        return {**self.fixed, **{name: value.get(env) for name, value in self.varying.items()}}

    def check(self, env: Env, faults: Faults) -> None:
        """Note the fields that the loop values make wrong."""
        for name, value in self.varying.items():
            for place, message in value.wrong(env):
                faults.alike(place, f"value of {name}", partial(str, message))
