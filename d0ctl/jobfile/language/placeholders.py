"""Placeholders: which `{word}` of a text is replaced, and by which value.

A text is split once, when the job file is read, and rendered once for each combination of
loop values. Only `{known}` and `{known.attr}` are replaced, never after `$`; `{{known}}` is
the literal `{known}`; every other brace stays. `{known+1}` calculates, `{known:04}` formats.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import Struct, field

from d0ctl.jobfile.language.calculation import formatter
from d0ctl.jobfile.language.misspelt import SLIP, is_misspelt
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Faults, did_you_mean, near

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
    return path.rstrip("/").rpartition("/")[2]


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
    group of the patterns stands for all.
    """

    index: int
    columns: tuple[str, ...] | None = None
    values: Sequence[Any] | None = None
    is_group: bool = False
    are_files: bool = False
    is_late: bool = False
    is_open: bool = False


class Template(Struct, frozen=True):
    """A text with its placeholders resolved; `constant` where it has none.

    A `broken` template has a fault, so its results are not checked.
    """

    scalar: Scalar
    constant: str | None
    render: Getter
    broken: bool = False


class Scope(Struct, frozen=True):
    """The names that placeholders may use in one part of the job file."""

    loops: dict[str, LoopName] = field(default_factory=dict)
    parameters: dict[str, Template | None] = field(default_factory=dict)

    def names(self, words: Iterable[str] = ()) -> list[str]:
        """Return every known name."""
        return [*self.loops, *self.parameters, "parameters", *words]

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
            for value in loop.values:
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


def split(
    scalar: Scalar, scope: Scope, faults: Faults, words: tuple[str, ...] = (), strict: bool = False
) -> list[str | Placeholder]:
    """Split a text into literals and the placeholders of known names.

    A near miss of a known name is a fault; with `strict` every unknown name is.
    """
    if "{" not in scalar.text:
        return [scalar.text] if scalar.text else []
    text, names = scalar.text, scope.names(words)
    pieces: list[str | Placeholder] = []
    literal, end, counts = "", 0, dict[str, int]()
    for found in PLACEHOLDER.finditer(text):
        literal, end = literal + text[end : found.start()], found.end()
        name, form = found[4], found[6]
        if name is None or name not in names or (form and name in words):
            if found[1] in names:
                literal += found[0][1:-1]
                continue
            if name in names:
                message = f"`{found[0]}`: names of files are not calculated or formatted"
                faults.add(scalar.position_of(found[0], 0), message)
            elif name is not None and (strict or not form):
                _check(scalar, found[0], name, (names, faults, strict), counts)
            literal += found[0]
            continue
        if literal:
            pieces.append(literal)
        literal = ""
        attributes = tuple(found[5].split(".")[1:])
        pieces.append(Placeholder(name, attributes, found.start(), form))
    if literal + text[end:]:
        pieces.append(literal + text[end:])
    return pieces


def _check(
    scalar: Scalar,
    written: str,
    name: str,
    rules: tuple[list[str], Faults, bool],
    counts: dict[str, int],
) -> None:
    """Record a fault for an unknown name that is probably misspelt, or is not allowed at all."""
    names, faults, strict = rules
    if name in RUN_WORDS:
        faults.add(
            scalar.position_of(written, 0), f"`{written}` can only be used in `run` and `check`"
        )
        return
    nth = counts.get(written, 0)
    counts[written] = nth + 1
    is_slip = is_misspelt(name, tuple(names))
    if not is_slip and not strict:
        return
    message = f"`{written}` is not a known name"
    if is_slip:
        meant = near(name, names, SLIP)
        question = f"did you mean `{meant}`? " if meant else ""
        message += f" ({question}`{{{written}}}` gives a literal `{written}`)"
    faults.add(scalar.position_of(written, nth), message)


def resolve(scalar: Scalar, placeholder: Placeholder, scope: Scope, faults: Faults) -> Getter:
    """Return the getter of a placeholder; record a fault if it has no value."""
    try:
        return scope.getter(placeholder)
    except ValueError as error:
        nth = scalar.text[: placeholder.at].count(placeholder.text)
        faults.add(scalar.position_of(placeholder.text, nth), str(error))
        return lambda values: ""


def compile_text(scalar: Scalar, scope: Scope, faults: Faults, strict: bool = False) -> Template:
    """Compile a text whose values are inserted as they are, without quotes."""
    if "{" not in scalar.text:
        return constant(scalar)
    noted = faults.noted
    pieces = split(scalar, scope, faults, strict=strict)
    if all(isinstance(piece, str) for piece in pieces):
        text = "".join(str(piece) for piece in pieces)
        return Template(scalar, text, lambda values: text, faults.noted > noted)
    getters = [resolve(scalar, m, scope, faults) for m in pieces if isinstance(m, Placeholder)]
    layout = "".join(p.replace("%", "%%") if isinstance(p, str) else "%s" for p in pieces)
    if not any(_varies(m, scope) for m in pieces if isinstance(m, Placeholder)):
        fixed = layout % tuple([getter(()) for getter in getters])
        return Template(scalar, fixed, lambda values: fixed, faults.noted > noted)
    return Template(scalar, None, _renderer(layout, getters), faults.noted > noted)


def _varies(placeholder: Placeholder, scope: Scope) -> bool:
    """Return whether the value of a placeholder varies between lines."""
    if placeholder.name in scope.loops:
        return True
    template = scope.parameter(placeholder)
    return template is not None and template.constant is None


def constant(scalar: Scalar, text: str | None = None) -> Template:
    """Make the template of a text without placeholders."""
    fixed = scalar.text if text is None else text
    return Template(scalar, fixed, lambda values: fixed)


def _renderer(layout: str, getters: list[Getter]) -> Getter:
    if layout == "%s":
        return getters[0]
    if len(getters) == 1:
        only = getters[0]
        return lambda values: layout % only(values)
    return lambda values: layout % tuple([getter(values) for getter in getters])
