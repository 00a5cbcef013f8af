"""The only place that puts values into what a node executes: `run:` and `check:`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from d0ctl.jobfile.language.quoting import UNSAFE, quote
from d0ctl.jobfile.language.shell import Context, contexts
from d0ctl.jobfile.language.template import RUN_WORDS, Env, Mark, Scope, Slot, resolve, split
from d0ctl.jobfile.spec import INPUTS
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Faults, Place, shown

_PATH_SIGNS = re.compile(r"^-|[/:]").search


class Around(Protocol):
    """What a binary's text may name besides loop values: files, as words for a command line."""

    def inputs(self) -> Sequence[str]:
        """The inputs' names."""

    def outputs(self) -> Sequence[str]:
        """The outputs' names."""

    def word(self, value: str) -> str:
        """Return a value, or the name of the input of which it is the path."""


class Run(Protocol):
    """What a binary executes."""

    @property
    def guarded(self) -> bool:
        """Tell whether a value may be refused, so that every line has to be looked at."""

    @property
    def named(self) -> Sequence["Hole"]:
        """The placeholders that are filled."""

    def check(self, env: Env, around: Around, faults: Faults) -> None:
        """Note the values that can't stand where they would."""

    def render(self, env: Env, around: Around) -> dict[str, Any]:
        """Return the fields of a BinarySpec that say what runs."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A placeholder of a run text: `words` gives its value, or its values for `{inputs}`."""

    scalar: Scalar
    mark: Mark
    slot: Slot | None = None
    direct: bool = False
    context: Context = Context.BARE

    def words(self, env: Env, around: Around) -> Sequence[str]:
        """Return the value, which is an input's base name where it is that input's path."""
        if self.slot is None:
            return (INPUTS,) if self.is_inputs else around.outputs()
        value = self.slot(env)
        if self.direct and _PATH_SIGNS(value):
            value = around.word(value)
        return (value,)

    def fill(self, env: Env, around: Around) -> str:
        """Return what to write in its place in a script."""
        if self.context is Context.BARE and not self.is_inputs:
            return " ".join([quote(word) for word in self.words(env, around)])
        return " ".join(self.words(env, around))

    @property
    def is_inputs(self) -> bool:
        """Tell whether it stands for the inputs, which are named at launch."""
        return self.slot is None and self.mark.name == "inputs"

    @property
    def place(self) -> Place:
        """Where it stands in the job file."""
        text = self.mark.text
        return self.scalar.place_of(text, self.scalar.text[: self.mark.at].count(text))


@dataclass(frozen=True, slots=True)
class Script:
    """Text for a shell, with values quoted as they need: `layout` has `%s` for each hole."""

    layout: str
    holes: list[Hole]
    shell: str
    scalars: tuple[Scalar, ...]

    @property
    def named(self) -> Sequence[Hole]:
        """The placeholders that are filled."""
        return self.holes

    @property
    def guarded(self) -> bool:
        """Tell whether a placeholder stands inside quotes."""
        return any(hole.context is not Context.BARE for hole in self.holes)

    def check(self, env: Env, around: Around, faults: Faults) -> None:
        """Note values with characters that could end the quotes they stand in."""
        for hole in self.holes:
            if hole.context is Context.BARE:
                continue
            words = around.inputs() if hole.is_inputs else hole.words(env, around)
            value = " ".join(words)
            if UNSAFE(value):
                message = (
                    f"`{hole.mark.text}` stands inside quotes or a here-document, where its value "
                    f"{shown(value)} isn't safe; outside of them it is quoted by itself"
                )
                faults.alike(hole.place, "quotes", partial(str, message))

    def render(self, env: Env, around: Around) -> dict[str, Any]:
        """Return the text and the shell it is for."""
        return {"script": self.text(env, around), "shell": self.shell}

    def text(self, env: Env, around: Around) -> str:
        """Put the values in."""
        return self.layout % tuple([hole.fill(env, around) for hole in self.holes])


@dataclass(frozen=True, slots=True)
class Arguments:
    """A program and its arguments, executed without a shell."""

    elements: list[list[str | Hole]]
    scalars: tuple[Scalar, ...]
    guarded: bool = False

    @property
    def named(self) -> Sequence[Hole]:
        """The placeholders that are filled."""
        return [part for element in self.elements for part in element if isinstance(part, Hole)]

    def check(self, env: Env, around: Around, faults: Faults) -> None:
        """Find nothing: without a shell every value is safe."""

    def render(self, env: Env, around: Around) -> dict[str, Any]:
        """Put the values in; `{inputs}` as an element of its own becomes several."""
        arguments: list[str] = []
        for element in self.elements:
            if len(element) == 1 and isinstance(element[0], Hole):
                arguments.extend(element[0].words(env, around))
            else:
                parts = [p if isinstance(p, str) else p.words(env, around)[0] for p in element]
                arguments.append("".join(parts))
        return {"argv": tuple(arguments)}


@dataclass(frozen=True, slots=True)
class FromCatalogue:
    """What the software catalogue brings for the platform of the node, at launch."""

    guarded: bool = False

    @property
    def named(self) -> Sequence[Hole]:
        """The placeholders that are filled: none before the launch."""
        return ()

    def check(self, env: Env, around: Around, faults: Faults) -> None:
        """Find nothing: the catalogue was checked when it came."""

    def render(self, env: Env, around: Around) -> dict[str, Any]:
        """Return nothing: the software is named by a field of its own."""
        return {}


def compile_script(scalar: Scalar, scope: Scope, faults: Faults, shell: str = "bash") -> Script:
    """Make the recipe of a text for the shell."""
    pieces = _holes(split(scalar, scope, faults, RUN_WORDS), scalar, scope, faults)
    marks = [(p.mark.at, p.mark.at + len(p.mark.text)) for p in pieces if isinstance(p, Hole)]
    found = iter(contexts(scalar.text, marks, shell) if marks else ())
    placed = [p if isinstance(p, str) else _in_context(p, next(found), faults) for p in pieces]
    layout = "".join(p.replace("%", "%%") if isinstance(p, str) else "%s" for p in placed)
    holes = [piece for piece in placed if isinstance(piece, Hole)]
    return Script(layout, holes, shell, (scalar,))


def compile_arguments(elements: list[Scalar], scope: Scope, faults: Faults) -> Arguments:
    """Make the recipe of a list under `run:`."""
    compiled = []
    for scalar in elements:
        pieces = _holes(split(scalar, scope, faults, RUN_WORDS), scalar, scope, faults)
        for hole in pieces:
            if isinstance(hole, Hole) and hole.slot is None:
                if hole.mark.attributes:
                    faults.add(hole.place, f"`{hole.mark.text}` needs a shell: `run:` as a text")
                elif len(pieces) > 1:
                    faults.add(hole.place, f"`{hole.mark.text}` must be an element of its own")
        compiled.append(pieces or [""])
    return Arguments(compiled, tuple(elements))


def _holes(
    pieces: list[str | Mark], scalar: Scalar, scope: Scope, faults: Faults
) -> list[str | Hole]:
    return [p if isinstance(p, str) else _hole(p, scalar, scope, faults) for p in pieces]


def _hole(mark: Mark, scalar: Scalar, scope: Scope, faults: Faults) -> Hole:
    if mark.name in RUN_WORDS:
        if mark.attributes and (mark.name, *mark.attributes) != ("inputs", "list"):
            known = "`{inputs}`, `{inputs.list}` and `{outputs}`"
            faults.add(Hole(scalar, mark).place, f"`{mark.text}` is none of {known}")
        return Hole(scalar, mark)
    loop = scope.loops.get(mark.name)
    named = (loop is not None and loop.columns is not None) or (
        loop is None and mark.name == "parameters"
    )
    direct = len(mark.attributes) == (1 if named else 0)
    return Hole(scalar, mark, resolve(scalar, mark, scope, faults), direct)


def _in_context(hole: Hole, context: Context, faults: Faults) -> str | Hole:
    """Tell a placeholder where it stands; `{inputs.list}` becomes a variable of the shell."""
    if hole.slot is None and hole.mark.attributes:
        if context is Context.LITERAL:
            message = f"`{hole.mark.text}` can't stand where the shell expands nothing"
            faults.add(hole.place, message)
        return '"$D0CTL_INPUTS"' if context is Context.BARE else "${D0CTL_INPUTS}"
    return Hole(hole.scalar, hole.mark, hole.slot, hole.direct, context)
