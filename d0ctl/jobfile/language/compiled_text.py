"""Texts split at their placeholders, and compiled into templates of values."""

import re
from collections.abc import Sequence

from d0ctl.jobfile.language.misspelt import SLIP, Names
from d0ctl.jobfile.language.placeholders import (
    PLACEHOLDER,
    RUN_WORDS,
    Getter,
    Placeholder,
    Scope,
    Template,
)
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Faults, near


def split(
    scalar: Scalar,
    scope: Scope,
    faults: Faults,
    special_names: tuple[str, ...] = (),
    strict: bool = False,
) -> list[str | Placeholder]:
    """Split a text into literals and the placeholders of known names.

    A near miss of a known name is a fault; with `strict` every unknown name is.
    """
    if "{" not in scalar.text:
        return [scalar.text] if scalar.text else []
    text, names = scalar.text, scope.names(special_names)
    pieces: list[str | Placeholder] = []
    literals: list[str] = []
    end = 0
    for match in PLACEHOLDER.finditer(text):
        literals.append(text[end : match.start()])
        end = match.end()
        name, form = match[4], match[6]
        if name is None or name not in names or (form and name in special_names):
            if match[1] is not None and is_special(match[1], match[3], names, strict):
                literals.append(match[0][1:-1])
                continue
            if name in names:
                message = f"`{match[0]}`: file names can't be calculated or formatted"
                faults.add(scalar.position_at(match[0], match.start()), message)
            elif name is not None and (strict or not form):
                _check(scalar, match, names, faults, strict)
            literals.append(match[0])
            continue
        if before := "".join(literals):
            pieces.append(before)
        literals.clear()
        attributes = tuple(match[5].split(".")[1:])
        pieces.append(Placeholder(name, attributes, match.start(), form))
    if rest := "".join((*literals, text[end:])):
        pieces.append(rest)
    return pieces


def is_special(name: str, form: str, names: Names, strict: bool) -> bool:
    """Return whether a word in braces is replaced or a fault, so that doubled it is literal."""
    if strict or name in names:
        return True
    return not form and (name in RUN_WORDS or names.has_similar(name))


def literal(text: str, names: Sequence[str], strict: bool = False) -> str:
    """Return a text for a job file that is read as this one where these names are known."""
    if "{" not in text:
        return text
    known = Names(names)

    def escape(found: "re.Match[str]") -> str:
        name, form = (found[4], found[6]) if found[1] is None else (found[1], found[3])
        is_kept = name is None or not is_special(name, form, known, strict)
        return found[0] if is_kept else f"{{{found[0]}}}"

    return PLACEHOLDER.sub(escape, text)


def _check(
    scalar: Scalar, match: "re.Match[str]", names: Names, faults: Faults, strict: bool
) -> None:
    """Record a fault for an unknown name that is probably misspelt, or is not allowed at all."""
    written, name = match[0], match[4]
    if name in RUN_WORDS:
        message = f"`{written}` can only be used in `run` and `check`"
        faults.add(scalar.position_at(written, match.start()), message)
        return
    is_slip = names.has_similar(name)
    if not is_slip and not strict:
        return
    message = f"`{written}` is not a known name"
    if is_slip:
        meant = near(name, names, SLIP)
        question = f"did you mean `{meant}`? " if meant else ""
        message += f" ({question}`{{{written}}}` gives a literal `{written}`)"
    faults.add(scalar.position_at(written, match.start()), message)


def resolve(scalar: Scalar, placeholder: Placeholder, scope: Scope, faults: Faults) -> Getter:
    """Return the getter of a placeholder; record a fault if it has no value."""
    try:
        return scope.getter(placeholder)
    except ValueError as error:
        faults.add(scalar.position_at(placeholder.text, placeholder.at), str(error))
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
