"""The most likely causes of errors of the YAML parser."""

import re
from typing import NamedTuple

_OPENING = {"}": "{", "]": "["}
_NO_VALUE = "[]{},*&%@`|>"
"""The characters with which no text without quotes begins."""

_KEY = re.compile(r"[ -]*\w[\w.-]* *")
"""What is before the first colon of a line that sets a key."""

_PAIR = re.compile(r"[ -]*(\w[\w.-]*:) +(\w+)")
"""What is before the second colon of a line whose value begins with another key."""

_TYPOGRAPHIC = re.compile("^ *(\u00a0|[\u2012-\u2015\u2212] ).*:(?: |$)", re.MULTILINE)
"""A line with a key that begins with a space or a dash that pages have, and YAML does not."""

_SETS_KEY = re.compile(r": |:\s*$|^\s*$")
"""What a line has that sets a key, or that is empty."""

_SHELL_TEST = re.compile(r"[ -]*\w[\w.-]* *: *\[\[? .* \]\]? *(?:&&|\|\||;)")
"""A line whose value is a command that begins with a test of the shell."""


class YamlError(NamedTuple):
    """An error of the parser, and the indices in the text to which it refers.

    The parser could not go on at `at`. `context` is what it was reading, such as `while parsing a
    block mapping`; that begins at `begin`.
    """

    problem: str
    context: str
    text: str
    begin: int
    at: int

    @property
    def character(self) -> str:
        """The character at which the parser could not go on."""
        return self.text[self.at : self.at + 1]

    @property
    def first(self) -> str:
        """The first character of what the parser was reading."""
        return self.text[self.begin : self.begin + 1]

    @property
    def before(self) -> str:
        """The part of the line before the error."""
        return self.text[self.text.rfind("\n", 0, self.at) + 1 : self.at]

    @property
    def line(self) -> str:
        """The line of the error."""
        return self.before + self.text[self.at :].partition("\n")[0]

    @property
    def above(self) -> str:
        """The line above the error."""
        return self.text[: self.at - len(self.before)].rstrip("\n").rpartition("\n")[2]

    @property
    def has_tab(self) -> bool:
        """Whether the line is indented with tabs."""
        line = self.before + self.character
        return "\t" in line[: len(line) - len(line.lstrip())] or self.character == "\t"


def likely_cause(error: YamlError) -> str:
    """Return the most likely cause of an error; empty if none is likely."""
    problem, context = error.problem, error.context
    if error.has_tab:
        return "indent with spaces, not with tabs"
    if copied := _TYPOGRAPHIC.search(error.text, 0, error.at):
        line = error.text.count("\n", 0, copied.start()) + 1
        wrong = copied[1].strip(" ").replace("\u00a0", "a no-break space")
        return f"line {line} begins with {wrong}: type a plain {'space' if ' ' in wrong else '-'}"
    if _SHELL_TEST.match(error.line):
        return _begins_with("[")
    if "quoted scalar" in context:
        return _in_quotes(error)
    if "could not find expected ':'" in problem:
        return "does it lack `: ` or `- `, each with its space, or is it indented too little?"
    if "mapping values are not allowed" in problem:
        is_key = _KEY.fullmatch(error.before)
        if pair := _PAIR.fullmatch(error.before):
            braces = f"{pair[1]} {{{pair[2]}: ...}}"
            return f"a text with `: ` in it needs quotes, a mapping in one line braces: `{braces}`"
        if is_key and not _SETS_KEY.search(error.above):
            return (
                "does the line above lack `: `, with its space, or is this one indented too much?"
            )
        return _INDENTED if is_key else "a text with `: ` in it needs quotes"
    if "are not allowed" in problem:
        return _begins_with(f"{error.character} ")
    if "scanning a" in context and error.first in _NO_VALUE:  # such as an alias
        return _after(error.text[: error.begin]) or _begins_with(error.first)
    if "any token" in problem or "node content" in problem:
        is_extra = "flow" in context and error.character in ",]}"
        return "is there a comma too many?" if is_extra else _begins_with(error.character)
    if "flow" in context:
        return _in_brackets(error)
    return _in_block(error) if "expected" in problem else ""


_INDENTED = "is it indented like the lines above that it belongs to?"


def _begins_with(character: str) -> str:
    is_special = character[:1] in f"{_NO_VALUE}-?"
    return f"a text that begins with `{character}` needs quotes" if is_special else ""


def _after(before: str) -> str:
    """Return the cause of a text that goes on after a value that was complete; else nothing."""
    last = before[-1:]
    if last in ("'", '"'):
        return f"does a value have quotes around a part of it only, or is a {last} missing above?"
    return _begins_with(_OPENING[last]) if last in _OPENING else ""


def _in_quotes(error: YamlError) -> str:
    if "escape" in error.problem:
        return "in double quotes, write `\\\\` for `\\`; or use single quotes"
    return "the quote that begins here is never closed" if "unexpected" in error.problem else ""


def _in_brackets(error: YamlError) -> str:
    """Return the cause of an error in a list or mapping in brackets."""
    closing = {"[": "]", "{": "}"}.get(error.first, "")
    if not closing:
        return ""
    if error.character == "{" and error.before.strip():
        return f"a text with `{{` inside `{error.first}{closing}` needs quotes"
    line = error.text.count("\n", 0, error.begin) + 1
    lack = f"does the `{error.first}` in line {line} lack a comma or its `{closing}`?"
    return _after(error.before) or lack


def _in_block(error: YamlError) -> str:
    """Return the cause of an error among the keys of a mapping or the entries of a list."""
    if error.before.strip(" "):
        is_closing = error.character in _OPENING
        closes = f"this `{error.character}` closes nothing"
        return closes if is_closing else _after(error.before.rstrip(" "))
    is_dash = error.character == "-" and error.text[error.at + 1 : error.at + 2].isalnum()
    return "a `-` needs a space after it" if is_dash else _INDENTED
