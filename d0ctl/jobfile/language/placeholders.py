"""Placeholders: which `{word}` of a text is replaced, and by which value.

A text is split once, when the job file is read, and rendered once for each combination of
loop values. Only `{known}` and `{known.attr}` are replaced, never after `$`; `{{known}}` is
the literal `{known}`; every other brace stays. `{known+1}` calculates, `{known:04}` formats.
"""

import re
from collections import ChainMap
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct, field

from d0ctl.jobfile.language.calculation import formatter
from d0ctl.jobfile.language.file_names import base_name
from d0ctl.jobfile.language.misspelt import Names
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import did_you_mean

LoopValues = tuple[Any, ...]
"""The loop values of one line: a text for each name, a tuple of columns for a csv row, or a
`LoopGroup`."""


class LoopGroup(NamedTuple):
    """Several files or values that are one value of a loop name, with its number from 1."""

    number: str
    members: tuple[str, ...]


Getter = Callable[[LoopValues], str]
"""Returns the text that replaces a placeholder, from the loop values."""

_WORD = r"([A-Za-z_]\w*)((?:\.[\w-]+)*)"
_FORM = r"((?:\s?[-+*/%]\s?\d{1,15})?(?::[^{}\s]{1,16})?)"
PLACEHOLDER = re.compile(rf"\$\{{+|\{{\{{{_WORD}{_FORM}\}}\}}|\{{{_WORD}{_FORM}\}}", re.ASCII)
"""Matches a possible placeholder; group 1 is the name of a doubled one, 4 of a single one."""

RUN_WORDS = ("inputs", "outputs")
"""Words that are known only in `run:` and `check:`."""

RESERVED = (*RUN_WORDS, "parameters", "zip")


class Placeholder(NamedTuple):
    """One placeholder of a text: its name, its attributes, and its index in the text."""

    name: str
    attributes: tuple[str, ...]
    at: int
    form: str = ""
    """A calculation, a format, or both."""

    @property
    def text(self) -> str:
        """The placeholder as it is written."""
        return "{" + ".".join((self.name, *self.attributes)) + self.form + "}"

    @property
    def span(self) -> tuple[int, int]:
        """Its begin and end in the text."""
        return self.at, self.at + len(self.text)


def _name(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    return base_name(path.rstrip("/")) if ":" in name else name  # of another job: `JOB:NAME`


def _suffix(path: str) -> str:
    name = _name(path)
    dot = name.rfind(".")
    return name[dot:] if 0 < dot < len(name) - 1 else ""


def _stem(path: str) -> str:
    name, suffix = _name(path), _suffix(path)
    return name[: -len(suffix)] if suffix else name


def _parent(path: str) -> str:
    head, slash, _ = (path.rstrip("/") or path).rpartition("/")
    return head or slash or "."


PATH_PARTS: dict[str, Callable[[str], str]] = {
    "name": _name,
    "parent": _parent,
    "stem": _stem,
    "suffix": _suffix,
}
"""The attributes that every value has, as parts of a path."""


class LoopName(Struct, frozen=True):
    """The index of a name among the loop values, the columns of a csv row, and all its values.

    `is_group` means that its values are groups, `are_files` that they are certainly files.
    Groups of late outputs have `is_late`; `is_open` too while the names are not known, and one
    group of the patterns stands for all. `are_numbers` means that one format fits all or none.
    """

    index: int
    columns: tuple[str, ...] | None = None
    values: Sequence[Any] | None = None
    is_group: bool = False
    are_files: bool = False
    is_late: bool = False
    is_open: bool = False
    are_numbers: bool = False


class Template(Struct, frozen=True):
    """A text with its placeholders resolved; `constant` where it has none.

    A `broken` template has a fault, so its results are not checked.
    """

    scalar: Scalar
    constant: str | None
    render: Getter
    broken: bool = False


class Parameters(ChainMap[str, Template | None]):
    """The parameters that a part of the job file may use: its own, and those above it.

    Nothing is copied, as a file may have many parameters and many parts.
    """

    def __init__(
        self, own: dict[str, Template | None] | None = None, above: "Parameters | None" = None
    ) -> None:
        super().__init__({} if own is None else own, *(above.maps if above is not None else ()))
        self.names: Names = Names(self.maps[0], above.names if above is not None else None)
        """Their names."""


class Scope(Struct, frozen=True, dict=True):
    """The names that placeholders may use in one part of the job file."""

    loops: dict[str, LoopName] = field(default_factory=dict)
    parameters: Parameters = field(default_factory=Parameters)

    def names(self, special_names: tuple[str, ...] = ()) -> Names:
        """Return every known name."""
        return self._names_with_words if special_names == RUN_WORDS else self._names

    @cached_property
    def _names(self) -> Names:
        return Names((*self.loops, "parameters"), self.parameters.names)

    @cached_property
    def _names_with_words(self) -> Names:
        return Names((*self.loops, "parameters", *RUN_WORDS), self.parameters.names)

    def getter(self, placeholder: Placeholder) -> Getter:
        """Return the getter of a placeholder. Raises ValueError if it has no value, or one that its
        format does not fit.
        """
        getter = self._getter(placeholder)
        if not placeholder.form:
            return getter
        try:
            formatted = _then(getter, formatter(placeholder.form))
            self._try_all(placeholder, formatted)
        except ValueError as error:
            raise ValueError(f"`{placeholder.text}`: {error}") from None
        return formatted

    def _try_all(self, placeholder: Placeholder, getter: Getter) -> None:
        """Format every value. Raises ValueError at the first that can't be formatted."""
        loop = self.loops.get(placeholder.name)
        if loop is None:
            template = self.parameter(placeholder)
            if template is not None and template.constant is not None:
                getter(())
        elif loop.values is None:
            raise ValueError("nothing can be calculated or formatted here")
        else:
            before = (None,) * loop.index
            values = loop.values
            for value in (values[0], values[-1]) if loop.are_numbers else values:
                getter((*before, value))

    def _getter(self, placeholder: Placeholder) -> Getter:
        if placeholder.name in self.loops:
            return self._loop(placeholder, self.loops[placeholder.name])
        if placeholder.name == "parameters":
            if not placeholder.attributes or placeholder.attributes[0] not in self.parameters:
                raise ValueError(self._no_parameter(placeholder))
            name, rest = placeholder.attributes[0], placeholder.attributes[1:]
        else:
            name, rest = placeholder.name, placeholder.attributes
        template = self.parameters[name]
        if template is None:
            raise ValueError(
                f"parameter `{name}` is not a text, so `{placeholder.text}` can't be replaced by it"
            )
        return _parts(placeholder, template.render, rest)

    def constant(self, placeholder: Placeholder) -> str | None:
        """Return the text of a parameter that is the same for all lines."""
        if placeholder.name in self.loops:
            return None
        template = self.parameter(placeholder)
        if template is None or template.constant is None:
            return None
        with suppress(ValueError):
            return self.getter(placeholder)(())
        return None

    def parameter(self, placeholder: Placeholder) -> Template | None:
        """Return the parameter that a placeholder names."""
        is_named = placeholder.name == "parameters" and bool(placeholder.attributes)
        return self.parameters.get(placeholder.attributes[0] if is_named else placeholder.name)

    def _no_parameter(self, placeholder: Placeholder) -> str:
        if not placeholder.attributes:
            return "`{parameters}` needs the name of a parameter, as in `{parameters.energy}`"
        hint = did_you_mean(placeholder.attributes[0], self.parameters)
        return f"there is no parameter `{placeholder.attributes[0]}`{hint}"

    def _loop(self, placeholder: Placeholder, loop: LoopName) -> Getter:
        value = itemgetter(loop.index)
        if loop.is_group:
            return _of_group(placeholder, loop.index)
        if loop.columns is None:
            return _parts(placeholder, value, placeholder.attributes)
        if not loop.columns:  # the rows have a fault already
            return lambda values: ""
        if not placeholder.attributes or placeholder.attributes[0] not in loop.columns:
            column = placeholder.attributes[0] if placeholder.attributes else ""
            hint = did_you_mean(column, loop.columns)
            columns = ", ".join(f"`{column}`" for column in loop.columns[:10])
            raise ValueError(f"`{placeholder.text}` needs a column, one of {columns}{hint}")
        index, column_of = loop.index, loop.columns.index(placeholder.attributes[0])
        return _parts(
            placeholder, lambda values: str(values[index][column_of]), placeholder.attributes[1:]
        )


def _of_group(placeholder: Placeholder, index: int) -> Getter:
    """Return the number of a group, how many members it has, its first or its last."""
    if placeholder.attributes == ("index",):
        return lambda values: str(values[index].number)
    if placeholder.attributes == ("count",):
        return lambda values: str(len(values[index].members))
    if placeholder.attributes[:1] in (("first",), ("last",)):
        at = 0 if placeholder.attributes[0] == "first" else -1
        return _parts(
            placeholder,
            lambda values: str((values[index].members or ("",))[at]),
            placeholder.attributes[1:],
        )
    name = placeholder.name
    if placeholder.attributes and placeholder.attributes[0] in PATH_PARTS:
        first = placeholder._replace(attributes=("first", *placeholder.attributes))
        raise ValueError(
            f"`{{{name}}}` stands for several files, so it has no `{placeholder.attributes[0]}`; "
            f"`{first.text}` is that of the first"
        )
    raise ValueError(
        f"`{placeholder.text}` stands for several files, which only `run`, `check` and `inputs` "
        f"take; a group has `{{{name}.index}}`, its number, `{{{name}.count}}`, "
        f"`{{{name}.first}}` and `{{{name}.last}}`"
    )


def _parts(placeholder: Placeholder, value: Getter, attributes: tuple[str, ...]) -> Getter:
    """Apply path attributes such as `.stem` to a value."""
    for attribute in attributes:
        if attribute not in PATH_PARTS:
            known = ", ".join(f"`.{part}`" for part in PATH_PARTS)
            hint = did_you_mean(attribute, PATH_PARTS)
            raise ValueError(f"`{placeholder.text}`: a value has {known}, not `.{attribute}`{hint}")
        value = _then(value, PATH_PARTS[attribute])
    return value


def _then(first: Getter, second: Callable[[str], str]) -> Getter:
    return lambda values: second(first(values))
