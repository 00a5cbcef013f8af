"""The text that a binary runs, and the words in it that may name files."""

import re
from functools import cached_property

from msgspec import Struct

MAX_WORDS = 2000
"""How many words of one text are compared with file names."""

_SIGNS = re.compile(r"[\s;|&()<>\"'`=,:]+")
_BREAKS = re.compile(r"[\s;|&()<>\"'`]+")
"""Signs that no placeholder contains."""

_CALLED = re.compile(r"(?:(?<!\\\n)^|[;&|(])[ \t]*([^\s;|&()<>\"'`/]*/[^\s;|&()<>\"'`]+)", re.M)
"""A file that a text calls by `./NAME` or `FOLDER/NAME`."""

_SEARCHED = re.compile(r"(?:(?<!\\\n)^|[;&|(])[ \t]*([\w.+-]+)(?=[\s;&|<>]|$)", re.MULTILINE)
"""A command that a text calls by its name alone."""

_WRITTEN = re.compile(r">\s*[\"']?([^\s;|&()<>\"'`]+)")
_EXPANDED = re.compile(r"\$\{[^}]{0,100}\}|\$\([^)]{0,100}\)|\$\w+|\{[^}]{0,100}\}")


class CommandText(Struct, frozen=True, dict=True):
    """The text of one line, and `source`, the same as the job file has it, with placeholders."""

    text: str
    source: str

    @cached_property
    def possible_names(self) -> list[str]:
        """Return the words that may name files, each once."""
        texts = [text := self.text[:1_000_000]]
        if "$" in text or "{" in text:
            texts.append(_EXPANDED.sub("*", text))
        found = dict.fromkeys(word for part in texts for word in _SIGNS.split(part) if word)
        return list(found)[:MAX_WORDS]

    @cached_property
    def written(self) -> dict[str, str]:
        """Return the words that name written files, by the names of these."""
        return {name.removeprefix("./"): name for name in _WRITTEN.findall(self.text)}

    def as_in_file(self, word: str) -> str:
        """Return the name in a word as the job file has it; as it is if that can't be found."""
        parts, sources = (_BREAKS.split(text[:1_000_000]) for text in (self.text, self.source))
        is_found = len(parts) == len(sources) and word in parts
        name = sources[parts.index(word)] if is_found else word
        return name.removeprefix("./")


def called_by(text: str) -> tuple[dict[str, str], set[str]]:
    """Return what a text for a shell calls by a path, as written by its name, and by name alone."""
    text = text[:1_000_000]
    called = {word.removeprefix("./"): word for word in _CALLED.findall(text)}
    return called, set(_SEARCHED.findall(text))


def program_of(word: str) -> tuple[dict[str, str], set[str]]:
    """Return the same of a program that is started without a shell."""
    return {word.removeprefix("./"): word} if "/" in word else {}, {word}
