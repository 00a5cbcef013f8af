"""Lines of styled text as HTML, for notebooks."""

from collections.abc import Iterable
from html import escape

from d0ctl.show.drawing.spans import Line

_STYLES = {
    "good": "color:green", "bad": "color:firebrick", "warn": "color:darkorange",
    "live": "color:darkcyan", "faint": "opacity:0.6", "command": "opacity:0.6",
    "strong": "font-weight:bold", "title": "font-weight:bold",
}  # fmt: skip
"""The style of each role; the others are plain."""


def page(lines: Iterable[Line]) -> str:
    """Return lines as one block, in which no text from outside can be markup."""
    return "<pre>" + "\n".join("".join(map(_span, line)) for line in lines) + "</pre>"


def _span(span: tuple[str, str]) -> str:
    text, role = span
    style = _STYLES.get(role)
    return f'<span style="{style}">{escape(text)}</span>' if style else escape(text)
