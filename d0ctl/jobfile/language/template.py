"""The only place that knows placeholders: which `{word}` of a text is replaced, and by what.

A text is split once, when the job file is read, and rendered once for each combination of
loop values. Only `{known}` and `{known.attr}` are replaced, never after `$`; `{{known}}` is
the literal `{known}`; every other brace stays.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Faults, did_you_mean, near

Env = tuple[Any, ...]
"""The loop values of one line: a text each, or a tuple of columns for a row of a csv file."""

Slot = Callable[[Env], str]
"""What a placeholder stands for, given the loop values."""

_WORD = r"([A-Za-z_]\w*)((?:\.[\w-]+)*)"
_FORM = r"(:[^{}\s]{1,16}|\s?[-+*/%]\s?\d{1,15})?"
_MARK = re.compile(rf"\$\{{+|\{{\{{{_WORD}{_FORM}\}}\}}|\{{{_WORD}{_FORM}\}}", re.ASCII)
_SLIP = 0.66
"""How near to a known name an unknown one must be to count as misspelt; `{rwa}` is, for `{raw}`."""

RUN_WORDS = ("inputs", "outputs")
"""Known under `run:` only."""

RESERVED = (*RUN_WORDS, "parameters", "zip")


class Mark(NamedTuple):
    """One placeholder of a text: the name, its attributes, and where in the text it begins."""

    name: str
    attributes: tuple[str, ...]
    at: int

    @property
    def text(self) -> str:
        """The placeholder as it is written."""
        return "{" + ".".join((self.name, *self.attributes)) + "}"


def _name(path: str) -> str:
    return path[path.rfind("/") + 1 :]


def _suffix(path: str) -> str:
    name = _name(path)
    dot = name.rfind(".")
    return name[dot:] if 0 < dot < len(name) - 1 else ""


def _stem(path: str) -> str:
    name, suffix = _name(path), _suffix(path)
    return name[: -len(suffix)] if suffix else name


def _parent(path: str) -> str:
    head, slash, _ = path.rpartition("/")
    return head or slash or "."


PATH_PARTS: dict[str, Callable[[str], str]] = {
    "name": _name,
    "parent": _parent,
    "stem": _stem,
    "suffix": _suffix,
}
"""The attributes that every value has, as those of a path."""


@dataclass(frozen=True, slots=True)
class LoopName:
    """Where the value of a loop name lies among the loop values, and its columns if it has any."""

    index: int
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """A text with its placeholders resolved; `constant` where it has none.

    A `broken` one has a fault already, so that what it makes is not worth a second.
    """

    scalar: Scalar
    constant: str | None
    render: Slot
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that placeholders may use at one place of the job file."""

    loops: dict[str, LoopName] = field(default_factory=dict)
    parameters: dict[str, Template | None] = field(default_factory=dict)

    def names(self, words: Iterable[str] = ()) -> list[str]:
        """Return every name known here."""
        return [*self.loops, *self.parameters, "parameters", *words]

    def slot(self, mark: Mark) -> Slot:
        """Return what a placeholder stands for; raises ValueError where it can't be told."""
        if mark.name in self.loops:
            return self._loop(mark, self.loops[mark.name])
        if mark.name == "parameters":
            if not mark.attributes or mark.attributes[0] not in self.parameters:
                raise ValueError(self._no_parameter(mark))
            name, rest = mark.attributes[0], mark.attributes[1:]
        else:
            name, rest = mark.name, mark.attributes
        template = self.parameters[name]
        if template is None:
            raise ValueError(f"parameter `{name}` is no text, so `{mark.text}` can't stand for it")
        return _parts(mark, template.render, rest)

    def _no_parameter(self, mark: Mark) -> str:
        if not mark.attributes:
            return "`{parameters}` needs the name of one, as in `{parameters.energy}`"
        hint = did_you_mean(mark.attributes[0], self.parameters)
        return f"there is no parameter `{mark.attributes[0]}`{hint}"

    def _loop(self, mark: Mark, loop: LoopName) -> Slot:
        value = itemgetter(loop.index)
        if loop.columns is None:
            return _parts(mark, value, mark.attributes)
        if not mark.attributes or mark.attributes[0] not in loop.columns:
            column = mark.attributes[0] if mark.attributes else ""
            hint = did_you_mean(column, loop.columns)
            columns = ", ".join(f"`{column}`" for column in loop.columns[:10])
            raise ValueError(f"`{mark.text}` names no column of {columns}{hint}")
        index, column_of = loop.index, loop.columns.index(mark.attributes[0])
        return _parts(mark, lambda env: str(env[index][column_of]), mark.attributes[1:])


def _parts(mark: Mark, value: Slot, attributes: tuple[str, ...]) -> Slot:
    """Follow path attributes such as `.stem` from a value."""
    for attribute in attributes:
        if attribute not in PATH_PARTS:
            known = ", ".join(f"`.{part}`" for part in PATH_PARTS)
            hint = did_you_mean(attribute, PATH_PARTS)
            raise ValueError(f"`{mark.text}`: a value has {known}, not `.{attribute}`{hint}")
        value = _then(value, PATH_PARTS[attribute])
    return value


def _then(first: Slot, second: Callable[[str], str]) -> Slot:
    return lambda env: second(first(env))


def split(
    scalar: Scalar, scope: Scope, faults: Faults, words: tuple[str, ...] = (), strict: bool = False
) -> list[str | Mark]:
    """Take a text apart into literals and the placeholders of known names.

    A near miss of a known name is a fault; with `strict` every unknown name is.
    """
    if "{" not in scalar.text:
        return [scalar.text] if scalar.text else []
    text, names = scalar.text, scope.names(words)
    pieces: list[str | Mark] = []
    literal, end, counts = "", 0, dict[str, int]()
    for found in _MARK.finditer(text):
        literal, end = literal + text[end : found.start()], found.end()
        name, form = found[4], found[6]
        if name is None or name not in names or form:
            if found[1] in names:
                literal += found[0][1:-1]
                continue
            if name in names:
                faults.add(scalar.place_of(found[0], 0), _formed(found[0], name, form))
            elif name is not None and (strict or not form):
                _judge(scalar, found[0], name, (names, faults, strict), counts)
            literal += found[0]
            continue
        if literal:
            pieces.append(literal)
        literal = ""
        attributes = tuple(found[5].split(".")[1:])
        pieces.append(Mark(name, attributes, found.start()))
    if literal + text[end:]:
        pieces.append(literal + text[end:])
    return pieces


def _formed(written: str, name: str, form: str) -> str:
    """Say that a placeholder takes neither a format nor a calculation."""
    itself = f"`{{{written}}}` stands for itself"
    if form.startswith(":"):
        told = "takes no format; zeros in front come with the values, as in `range: [001, 200]`"
    else:
        told = f"does not calculate; the shell does, as in `$(( {{{name}}} {form.strip()} ))`"
    return f"`{written}`: a placeholder {told} ({itself})"


def _judge(
    scalar: Scalar,
    written: str,
    name: str,
    rules: tuple[list[str], Faults, bool],
    counts: dict[str, int],
) -> None:
    """Note a fault for an unknown name that is most probably meant to be known."""
    names, faults, strict = rules
    if name in RUN_WORDS:
        faults.add(scalar.place_of(written, 0), f"`{written}` is known under `run` only")
        return
    nth = counts.get(written, 0)
    counts[written] = nth + 1
    meant = near(name, names, _SLIP)
    if meant:
        doubled = f"{{{written}}}"
        hint = f"(did you mean `{meant}`? `{doubled}` stands for itself)"
        faults.add(scalar.place_of(written, nth), f"`{written}` is no known name {hint}")
    elif strict:
        faults.add(scalar.place_of(written, nth), f"`{written}` is no known name")


def resolve(scalar: Scalar, mark: Mark, scope: Scope, faults: Faults) -> Slot:
    """Return what a placeholder stands for; where it can't be told that is a fault."""
    try:
        return scope.slot(mark)
    except ValueError as error:
        nth = scalar.text[: mark.at].count(mark.text)
        faults.add(scalar.place_of(mark.text, nth), str(error))
        return lambda env: ""


def compile_text(scalar: Scalar, scope: Scope, faults: Faults, strict: bool = False) -> Template:
    """Make the template of a text whose values are put in as they are, without quotes."""
    if "{" not in scalar.text:
        return constant(scalar)
    noted = faults.noted
    pieces = split(scalar, scope, faults, strict=strict)
    if all(isinstance(piece, str) for piece in pieces):
        text = "".join(str(piece) for piece in pieces)
        return Template(scalar, text, lambda env: text, faults.noted > noted)
    slots = [resolve(scalar, m, scope, faults) for m in pieces if isinstance(m, Mark)]
    layout = "".join(p.replace("%", "%%") if isinstance(p, str) else "%s" for p in pieces)
    if not any(m.name in scope.loops for m in pieces if isinstance(m, Mark)) and _fixed(
        pieces, scope
    ):
        return constant(scalar, layout % tuple([slot(()) for slot in slots]))
    return Template(scalar, None, _renderer(layout, slots), faults.noted > noted)


def _fixed(pieces: list[str | Mark], scope: Scope) -> bool:
    """Tell whether all placeholders are parameters that do not change from line to line."""
    for piece in pieces:
        if isinstance(piece, Mark):
            name = piece.attributes[0] if piece.name == "parameters" and piece.attributes else ""
            template = scope.parameters.get(name or piece.name)
            if template is not None and template.constant is None:
                return False
    return True


def constant(scalar: Scalar, text: str | None = None) -> Template:
    """Make the template of a text without placeholders."""
    fixed = scalar.text if text is None else text
    return Template(scalar, fixed, lambda env: fixed)


def _renderer(layout: str, slots: list[Slot]) -> Slot:
    if layout == "%s":
        return slots[0]
    if len(slots) == 1:
        only = slots[0]
        return lambda env: layout % only(env)
    return lambda env: layout % tuple([slot(env) for slot in slots])
