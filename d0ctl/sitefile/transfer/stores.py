"""The section `stores:` of a site file: where files are stored, and the commands of each."""

import shlex
from collections.abc import Mapping
from typing import Any

from d0ctl.jobfile.language.field_types import TEXT, FieldType, split_names
from d0ctl.jobfile.sections.file_commands import check_command
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node
from d0ctl.jobfile.yaml.faults import shown
from d0ctl.sitefile.fields import named, value
from d0ctl_wrapper.protocol.locator import STORE_NAME

KINDS = split_names("directory rsync s3")
"""Kinds of stores with built-in commands."""

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "locate": ("name",), "fetch": ("name", "dest"), "store": ("source", "name"),
    "delete": ("name",), "check": (),
}  # fmt: skip
"""The commands of a store, with the file names that each needs."""

STORE_KEYS = (*KINDS, *COMMANDS)

_PROGRAM = {
    "locate": "{name}", "fetch": "{name} {dest}", "store": "{name} {source}",
    "delete": "{name}", "check": "",
}  # fmt: skip
"""The arguments of d0ctl's own program, by verb."""


def read_stores(node: Node, reading: Reading) -> dict[str, dict[str, str]]:
    """Read the stores, by name."""
    stores = {}
    for key, entry in named(node, "stores", reading):
        if not STORE_NAME.fullmatch(key.text):
            message = f"{shown(key.text)} is not a name for a store: letters, digits, `-` and `_`"
            reading.fault(key.position, message)
        elif isinstance(entry, MappingNode):
            stores[key.text] = _store(Level(entry, "a store", STORE_KEYS, reading))
        else:
            message = f"{shown(key.text)} takes keys such as `directory`, not {kind_of(entry)}"
            reading.fault(entry.position, message)
    return stores


def _store(level: Level) -> dict[str, str]:
    kinds = [key for key in KINDS if key in level]
    texts = [key for key in COMMANDS if key in level]
    if len(kinds) + bool(texts) != 1:
        message = "a store takes `directory`, `rsync`, `s3`, or commands such as `fetch`"
        level.reading.fault(level.node.position, message)
    for key in kinds:
        text = value(level, key, _PLACES[key])
        return {} if text is None else {key: text}
    commands_of = {}
    for key in texts:
        scalar = level.scalar(key)
        if scalar is not None:
            check_command(key, scalar, level.reading, COMMANDS[key])
            commands_of[key] = scalar.text
    return commands_of


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError("is not an absolute path")
    return text.rstrip("/") or "/"


def _bucket(text: str) -> str:
    scheme, _, rest = text.partition("://")
    if scheme not in ("http", "https") or not rest.partition("/")[2]:
        raise ValueError("is not a URL such as `https://HOST/BUCKET`")
    return text.rstrip("/")


_PLACES = {
    "directory": FieldType(_absolute, "an absolute path"),
    "rsync": TEXT,
    "s3": FieldType(_bucket, "a URL `https://HOST/BUCKET[/PREFIX]`"),
}


def commands(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the commands of a store; `{d0ctl}` in them is the program for nodes."""
    for kind in KINDS:
        if kind in entry:
            root = shlex.quote(entry[kind])
            return {verb: f"{{d0ctl}} store {kind} {verb} {root} {names}".rstrip()
                    for verb, names in _PROGRAM.items()}  # fmt: skip
    return dict(entry)


def for_nodes(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the commands to fetch and to store, for use on a node."""
    found = commands(entry)
    names = {"fetch": "{source}", "store": "{dest}"}
    return {way: found[way].replace("{name}", names[way]) for way in names if way in found}
