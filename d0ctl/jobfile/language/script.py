"""The programs that a node executes, `run:` and `check:`, with values inserted."""

import re
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from operator import itemgetter
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.jobfile.language.compiled_text import resolve, split
from d0ctl.jobfile.language.placeholders import RUN_WORDS, Getter, LoopValues, Placeholder, Scope
from d0ctl.jobfile.language.quoting import UNSAFE, group_of, is_plain, quote
from d0ctl.jobfile.language.shell import Context, contexts
from d0ctl.jobfile.spec import GROUP, INPUTS
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Faults, Position, shown

MOST_LISTS = 100
"""How many times a text may name all inputs, outputs or files of a group."""

_PATH_SIGNS = re.compile(r"^-|[/:]").search


class FileWords(Protocol):
    """The files that a text may name, as words for a command line."""

    def inputs(self) -> Sequence[str]:
        """Return the names of the inputs."""

    def outputs(self) -> Sequence[str]:
        """Return the names of the outputs."""

    def local_names(self, members: Sequence[str]) -> Sequence[str] | None:
        """Return the local names of a group's files; None unless all are inputs."""

    def word(self, value: str) -> str:
        """Return a value, or the local name of the input whose path it is."""


class Insertion(Struct, frozen=True):
    """A placeholder of a script or an argument list, which a value replaces.

    `getter` is None for `{inputs}`, `{outputs}` and a group, whose loop value has the index
    `group`. `direct` means that the value is taken whole:
    where it is the path of an input, the local name of that input replaces it. `index` is that of
    a whole loop value, `constant` a value that is the same for all lines.
    """

    scalar: Scalar
    placeholder: Placeholder
    getter: Getter | None = None
    direct: bool = False
    index: int | None = None
    constant: str | None = None
    group: int | None = None
    context: Context = Context.BARE

    def replacements(self, values: LoopValues, files: FileWords) -> Sequence[str]:
        """Return the value, or the values for `{inputs}`, `{outputs}` and groups."""
        if self.group is not None:
            members = values[self.group].members
            names = files.local_names(members)
            return members if names is None else (group_of(names),)
        if self.getter is None:
            return (INPUTS,) if self.is_inputs else files.outputs()
        value = self.getter(values)
        if self.direct and _PATH_SIGNS(value):
            value = files.word(value)
        return (value,)

    def fill(self, values: LoopValues, files: FileWords) -> str:
        """Return the text that replaces the placeholder in a script."""
        replacements = self.replacements(values, files)
        is_group = self.group is not None
        if self.context is Context.BARE and not self.is_inputs:
            if len(replacements) == 1 and not is_group:
                return quote(replacements[0])
            return " ".join(
                [
                    word if is_group and word.startswith(GROUP) else quote(word)
                    for word in replacements
                ]
            )
        return " ".join(replacements)

    def fixed_text(self, plain: Collection[int]) -> str | None:
        """Return the text in its place in the layout of all lines; None if there is none.

        That is `%s` for a value whose index is in `plain`.
        """
        if self.group is not None:
            return None
        if self.is_inputs:
            return INPUTS
        if self.index is not None:
            return "%s" if self.index in plain else None
        if self.constant is None or not is_plain(self.constant):
            return None
        return _escaped(self.constant)

    @property
    def is_inputs(self) -> bool:
        """Return whether it is `{inputs}`, whose names are filled in at launch."""
        return self.getter is None and self.group is None and self.placeholder.name == "inputs"

    @property
    def written(self) -> str:
        """The placeholder as it is written."""
        return self.placeholder.text

    @property
    def position(self) -> Position:
        """Its position in the job file."""
        return self.scalar.position_at(self.written, self.placeholder.at)


class Script(Struct, frozen=True):
    """A text for a shell; `layout` has `%s` for each insertion."""

    layout: str
    insertions: list[Insertion]
    shell: str
    scalars: tuple[Scalar, ...]

    @property
    def guarded(self) -> bool:
        """Return whether a placeholder is inside quotes."""
        return any(insertion.context is not Context.BARE for insertion in self.insertions)

    def check(self, values: LoopValues, files: FileWords, faults: Faults) -> None:
        """Record a fault for values with characters that could end the quotes around them."""
        for insertion in self.insertions:
            if insertion.context is Context.BARE:
                continue
            replacements = (
                files.inputs() if insertion.is_inputs else insertion.replacements(values, files)
            )
            if insertion.group is not None:
                members = values[insertion.group].members
                replacements = files.local_names(members) or members
            value = " ".join(replacements)
            if UNSAFE(value):
                message = (
                    f"`{insertion.written}` is inside quotes or a here-document, where its value "
                    f"{shown(value)} is not safe; outside of them d0ctl quotes it"
                )
                faults.add_similar(insertion.position, "quotes", message)

    def plain_text(self, plain: Collection[int]) -> Callable[[LoopValues], str] | None:
        """Return a function that makes the text of a line from its loop values alone.

        It is None if files or quotes may be needed; the values whose indexes are in `plain` need
        none.
        """
        fixed = [part.fixed_text(plain) for part in self.insertions]
        texts = [text for text in fixed if text is not None]
        if len(texts) < len(fixed):
            return None
        layout = self.layout.replace("%%", "%%%%") % tuple(texts)
        return _filler(layout, self.insertions)

    def text(self, values: LoopValues, files: FileWords) -> str:
        """Return the text with all values filled in."""
        return self.layout % tuple([part.fill(values, files) for part in self.insertions])


class Arguments(Struct, frozen=True):
    """A program and its arguments, executed without a shell."""

    elements: list[list[str | Insertion]]
    scalars: tuple[Scalar, ...]
    guarded: bool = False

    @property
    def insertions(self) -> Sequence[Insertion]:
        """Its insertions."""
        return [p for element in self.elements for p in element if isinstance(p, Insertion)]

    def check(self, values: LoopValues, files: FileWords, faults: Faults) -> None:
        """Do nothing: without a shell every value is safe."""

    def plain_text(self, plain: Collection[int]) -> Callable[[LoopValues], tuple[str, ...]] | None:
        """Return a function that makes the arguments of a line from its loop values alone."""
        fillers = []
        literals = tuple([part for part in chain(*self.elements) if isinstance(part, str)])
        if len(literals) == len(self.elements) == sum(map(len, self.elements)):
            return lambda values: literals
        for element in self.elements:
            fixed = [_escaped(p) if isinstance(p, str) else p.fixed_text(plain) for p in element]
            texts = [text for text in fixed if text is not None]
            if len(texts) < len(fixed):
                return None
            insertions = [part for part in element if isinstance(part, Insertion)]
            fillers.append(_filler("".join(texts), insertions))
        return lambda values: tuple([fill(values) for fill in fillers])

    def text(self, values: LoopValues, files: FileWords) -> tuple[str, ...]:
        """Return the arguments; `{inputs}` as an element of its own becomes several."""
        arguments: list[str] = []
        for element in self.elements:
            if len(element) == 1 and isinstance(element[0], Insertion):
                arguments.extend(element[0].replacements(values, files))
            else:
                parts = [
                    p if isinstance(p, str) else p.replacements(values, files)[0] for p in element
                ]
                arguments.append("".join(parts))
        return tuple(arguments)


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def _filler(layout: str, insertions: Sequence[Insertion]) -> Callable[[LoopValues], str]:
    """Return a function that inserts loop values into a layout."""
    indexes = [part.index for part in insertions if part.index is not None]
    if not indexes:
        text = layout % ()
        return lambda values: text
    pick = itemgetter(*indexes)
    return pick if layout == "%s" else lambda values: layout % pick(values)


Run = Script | Arguments
"""The program of a binary, with placeholders."""


def compile_script(scalar: Scalar, scope: Scope, faults: Faults, shell: str = "bash") -> Script:
    """Compile a text for the shell."""
    pieces = _insertions(split(scalar, scope, faults, RUN_WORDS), scalar, scope, faults)
    spans = [piece.placeholder.span for piece in pieces if isinstance(piece, Insertion)]
    contexts_left = iter(contexts(scalar.text, spans, shell) if spans else ())
    placed = [
        p if isinstance(p, str) else _in_context(p, next(contexts_left), faults) for p in pieces
    ]
    layout = "".join(_escaped(p) if isinstance(p, str) else "%s" for p in placed)
    insertions = [piece for piece in placed if isinstance(piece, Insertion)]
    if len(lists := [part for part in insertions if part.getter is None]) > MOST_LISTS:
        message = f"{len(lists):,} lists of files are more than a text may have ({MOST_LISTS})"
        faults.add(lists[MOST_LISTS].position, message)
    return Script(layout, insertions, shell, (scalar,))


def compile_arguments(elements: list[Scalar], scope: Scope, faults: Faults) -> Arguments:
    """Compile a list under `run:`."""
    compiled = []
    for scalar in elements:
        pieces = _insertions(split(scalar, scope, faults, RUN_WORDS), scalar, scope, faults)
        for insertion in pieces:
            if isinstance(insertion, Insertion) and insertion.getter is None:
                written = f"`{insertion.written}`"
                if insertion.placeholder.attributes:
                    message = f"{written} needs a shell: write `run` as a text"
                    faults.add(insertion.position, message)
                elif len(pieces) > 1:
                    faults.add(insertion.position, f"{written} must be an element of its own")
        compiled.append(pieces or [""])
    return Arguments(compiled, tuple(elements))


def _insertions(
    pieces: list[str | Placeholder], scalar: Scalar, scope: Scope, faults: Faults
) -> list[str | Insertion]:
    return [p if isinstance(p, str) else _insertion(p, scalar, scope, faults) for p in pieces]


def _insertion(placeholder: Placeholder, scalar: Scalar, scope: Scope, faults: Faults) -> Insertion:
    if placeholder.name in RUN_WORDS:
        insertion = Insertion(scalar, placeholder)
        if placeholder.attributes and placeholder.text != "{inputs.list}":
            known = "`{inputs}`, `{inputs.list}` and `{outputs}`"
            faults.add(insertion.position, f"`{placeholder.text}` is not one of {known}")
        return insertion
    loop = scope.loops.get(placeholder.name)
    is_whole = not placeholder.attributes and not placeholder.form
    if loop is not None and loop.is_group and is_whole:
        return Insertion(scalar, placeholder, group=loop.index)
    if loop is None:
        named = placeholder.name == "parameters"
    else:
        named = loop.columns is not None or placeholder.attributes[:1] in (("first",), ("last",))
    direct = len(placeholder.attributes) == (1 if named else 0) and not placeholder.form
    getter = resolve(scalar, placeholder, scope, faults)
    index = loop.index if loop is not None and is_whole else None
    return Insertion(scalar, placeholder, getter, direct, index, scope.constant(placeholder))


def _in_context(insertion: Insertion, context: Context, faults: Faults) -> str | Insertion:
    """Add its context to an insertion; `{inputs.list}` becomes a shell variable."""
    if insertion.getter is None and insertion.placeholder.attributes:
        if context is Context.LITERAL:
            reason = "can't be used where the shell does not expand variables"
            faults.add(insertion.position, f"`{insertion.written}` {reason}")
        return '"$D0CTL_INPUTS"' if context is Context.BARE else "${D0CTL_INPUTS}"
    return replace(insertion, context=context)
