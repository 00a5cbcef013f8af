"""The JSON documents that commands print, compared with the schemas that they promise."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from d0ctl.cli.schemas.by_command import DOCUMENTS


def names_of(words: Sequence[str]) -> list[str]:
    """The documents that a command may print, as `d0ctl schema` names them."""
    words = list(words)
    while words[:1] == ["--home"]:
        words = words[2:]
    found = []
    for name in DOCUMENTS:
        command = [word for word in name.split() if word.islower() and word[0] != "-"]
        if command == words[: len(command)]:
            found.append(name)
    return found


def fault(name: str, document: Any) -> str:
    """What a document has that its type has not, or the other way round; empty if nothing."""
    try:
        read = msgspec.to_builtins(msgspec.convert(document, DOCUMENTS[name]))
    except msgspec.ValidationError as error:
        return f"{name}: {error}"
    return "" if read == document else f"{name}: keys that it does not declare"


def check(words: Sequence[str], text: str) -> None:
    """Compare what a command printed with what its document promises."""
    if "--json" not in words or "--help" in words or not text.startswith("{"):
        return
    document = json.loads(text)
    faults = [fault(name, document) for name in names_of(words)]
    assert "" in faults, "\n".join([f"{' '.join(words)} printed another document", *faults])
