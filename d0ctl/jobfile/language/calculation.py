"""Placeholders that calculate or format: `{n+1}`, `{seed:04}`, `{energy:.1f}`."""

import re
from collections.abc import Callable

_PARTS = re.compile(r"(?:\s?([-+*/%])\s?([0-9]{1,15}))?(?::(.+))?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
_WHOLE_FORMAT = re.compile(r"0[0-9]{1,2}d?|d")
_FORMAT = re.compile(r"(?:0[0-9]{1,2})?(\.[0-9]{1,2})?[feg]")

_CALCULATIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}


def formatter(form: str) -> Callable[[str], str]:
    """Return a function that calculates and formats the text of a value.

    Raises ValueError for an unknown form; the function does so for a value that is
    not a number.
    """
    parts = _PARTS.fullmatch(form)
    sign, operand, layout = parts.group(1, 2, 3) if parts else (None, None, form)
    number = int(operand or 0)
    if sign in ("/", "%") and not number:
        raise ValueError(f"`{form.strip()}` divides by 0")
    if layout and _FORMAT.fullmatch(layout) and sign is None:
        return lambda text: format(_number(text), layout)
    if layout and not _WHOLE_FORMAT.fullmatch(layout):
        known = "`:04` for leading zeros, or without a calculation `:.2f`, `:.3e` or `:g`"
        raise ValueError(f"`:{layout}` is not one of the formats: {known}")
    layout = f"{(layout or '').removesuffix('d')}d"
    if sign is None:
        return lambda text: format(_whole(text), layout)
    calculate = _CALCULATIONS[sign]
    return lambda text: format(calculate(_whole(text), number), layout)


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is not a whole number")
    return int(text)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"`{text[:40]}` is not a number")
    return float(text)
