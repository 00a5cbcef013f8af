"""Submit descriptions of HTCondor: their commands, macros and arguments."""

import re
from collections.abc import Mapping

from msgspec import Struct, field

_COMMAND = re.compile(r"\s*\+?([A-Za-z_][\w.]*)\s*=\s*(.*)")
_QUEUE = re.compile(r"\s*queue\b\s*(.*)", re.IGNORECASE)
_MACRO = re.compile(r"(?<!\$)\$\(([A-Za-z_][\w.]*)(?::([^()]*))?\)")

_CHOICE = re.compile(r"\$CHOICE\(([^(),]*),([^()]*)\)", re.IGNORECASE)
_FUNCTION = re.compile(r"(?<!\$)\$([A-Za-z]\w*)\(")
_PLATFORM = {"iswindows": "0", "islinux": "1", "true": "1", "false": "0"}
"""Macros that HTCondor sets by the machine, as they are for d0ctl's nodes."""

MOST_NESTED = 20
"""How deeply macros may be nested."""

MOST_EXPANDED = 1_000_000
"""How many characters the macros of one command are replaced by; others stay as they are."""

MOST_STATEMENTS = 100
"""The most queue statements of one description."""

MOST_QUEUED = 10_000
"""The most processes of one description."""


class SubmitFile(Struct):
    """The commands of a submit description, in lower case, and how many processes it queues."""

    commands: dict[str, str] = field(default_factory=dict)
    count: str = "1"
    rest: str = ""
    """The rest of a queue statement after a number."""

    def command(self, name: str, macros: Mapping[str, str]) -> str | None:
        """Return the value of a command with its macros replaced."""
        text = self.commands.get(name)
        return None if text is None else self.expand(text, macros)

    def expand(self, text: str, macros: Mapping[str, str]) -> str:
        """Replace macros by the settings of a node, else by commands of this description."""

        length = 0

        def value(name: str, default: str) -> str:
            name = name.strip().lower()
            return macros.get(name, self.commands.get(name, _PLATFORM.get(name, default)))

        def replace(found: re.Match[str]) -> str:
            nonlocal length
            new = value(found[1], found[2] or "")
            length += len(new)
            return new if length <= MOST_EXPANDED else found[0]

        def choose(found: re.Match[str]) -> str:
            items = found[2].split(",")
            items = items if len(items) > 1 else value(items[0], items[0]).split(",")
            index = value(found[1], found[1]).strip()
            is_one = re.fullmatch("[0-9]{1,6}", index) and int(index) < len(items)
            return items[int(index)].strip() if is_one else found[0]

        for _ in range(MOST_NESTED):
            new = _CHOICE.sub(choose, _MACRO.sub(replace, text))
            if new == text:
                break
            text = new
        return text

    def used(self) -> set[str]:
        """Return the names of commands, in lower case, that others use as macros."""
        texts = " ".join(self.commands.values())
        branches = (name for found in _CHOICE.finditer(texts) for name in (found[1], found[2]))
        names = [*(found[1] for found in _MACRO.finditer(texts)), *branches]
        return {name.strip().lower() for name in names}

    def functions(self, name: str) -> set[str]:
        """Return the macro functions of a command that are not replaced; `$` for `$$()`."""
        text = self.commands[name].upper()
        attribute = {"$"} if "$$(" in text else set()
        return set(_FUNCTION.findall(text)) - {"CHOICE"} | attribute


def read(text: str) -> list[SubmitFile]:
    """Read a submit description: the commands for each of its queue statements, at least one.

    Reads one statement more than `MOST_STATEMENTS`, so that the caller sees that it has more.
    """
    queued: list[SubmitFile] = []
    submit_file = SubmitFile()
    for line in joined(text):
        if len(queued) > MOST_STATEMENTS:
            break
        if line.lstrip().startswith("#") or not line.strip():
            continue
        if queue := _QUEUE.fullmatch(line):
            number, _, rest = queue[1].strip().partition(" ")
            submit_file.count, submit_file.rest = (number or "1", rest.strip())
            if not (number or "1").isdigit() and not number.startswith("$("):
                submit_file.count, submit_file.rest = "1", queue[1].strip()
            queued.append(submit_file)
            submit_file = SubmitFile(dict(submit_file.commands))
        elif command := _COMMAND.fullmatch(line):
            submit_file.commands[command[1].lower()] = command[2].strip()
    return queued or [submit_file]


def joined(text: str) -> list[str]:
    """Return the lines of a text; a line that ends with a backslash is joined with the next."""
    return re.sub(r"\\\r?\n", " ", text).replace("\r\n", "\n").split("\n")


def split_arguments(text: str) -> list[str]:
    """Split arguments, in the old syntax or the new one in double quotes."""
    text = text.strip()
    if not (len(text) > 1 and text.startswith('"') and text.endswith('"')):
        return text.replace('\\"', '"').split()
    arguments: list[str] = []
    word: list[str] = []
    quoted, begun = False, False
    body = text[1:-1].replace('""', '"')
    at = 0
    while at < len(body):
        sign = body[at]
        if sign == "'" and quoted and body[at + 1 : at + 2] == "'":
            word.append("'")
            at += 1
        elif sign == "'":
            quoted, begun = not quoted, True
        elif sign.isspace() and not quoted:
            if begun:
                arguments.append("".join(word))
            word, begun = [], False
        else:
            word.append(sign)
            begun = True
        at += 1
    return [*arguments, "".join(word)] if begun else arguments


def variables(text: str) -> dict[str, str]:
    """Return the variables of an environment, in the old syntax or the new one."""
    quoted = text.strip().startswith('"')
    pairs = split_arguments(text) if quoted else [part.strip() for part in text.split(";")]
    return {
        name.strip(): value
        for name, equal, value in (pair.partition("=") for pair in pairs)
        if equal
    }


def size(text: str, unit: int) -> str | None:
    """Return a size in bytes; `unit` is that of a number without one."""
    found = re.fullmatch(r"\s*([0-9]{1,12})(?:\.[0-9]*)?\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE)
    if not found or not int(found[1]):
        return None
    sizes = {"": unit, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
    return str(int(found[1]) * sizes[found[2].upper()])
