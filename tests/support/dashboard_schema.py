"""The JSON Schema of the file with keys, columns and settings of the dashboard."""

import re

from d0ctl_tui import themes
from d0ctl_tui.commands import COMMANDS, Command
from d0ctl_tui.read import user_settings
from d0ctl_tui.terminal import CHOICES
from tests.support import schema_types as types
from tests.support.key_tables import of_level
from tests.support.schema_parts import described, one_or_list, record, ref
from tests.support.schema_types import Schema
from tests.support.schemas import DRAFT

LEVEL = "Your keys and columns"
"""The heading of the page, under which its table of settings is."""

KEY: Schema = {
    "type": types.ANY_SCALAR,
    "pattern": f"^(.|{'|'.join(map(re.escape, sorted(user_settings.KNOWN)))})$",
    "examples": ["f8", "ctrl+a", "pageup", "x"],
    "errorMessage": "takes a character, `f8`, `ctrl+a`, `pageup` or such",
}

SETTINGS: dict[str, Schema] = {
    "theme": types.words(themes.NAMES),
    "interval": {
        "type": types.NUMBER, "minimum": 0, "maximum": user_settings.LONGEST_S, "pattern": "[0-9]",
        "errorMessage": "takes seconds up to 3600",
    },
    "slow": types.FLAG, "read-only": types.FLAG, "notices": types.FLAG,
    "columns": {**one_or_list(types.words(CHOICES)), "uniqueItems": True,
                "errorMessage": f"takes columns, each of them once: {', '.join(CHOICES)}"},
}  # fmt: skip


def dashboard_schema() -> Schema:
    """The schema of the file."""
    keys = record({name: _keys_of(one) for name, one in COMMANDS.items()})
    schemas = described({**SETTINGS, "keys": keys}, of_level("tui", LEVEL))
    return {
        "$schema": DRAFT,
        "title": "d0ctl dashboard file",
        "description": "The keys, columns and settings of the dashboard.",
        **record({name: schemas[name] for name in user_settings.KEYS}),
        "$defs": {"keys": {**one_or_list(KEY), "minItems": 1}},
    }


def _keys_of(command: Command) -> Schema:
    title = f"{command.title[:1].upper()}{command.title[1:]} (default: {command.key})"
    return {"description": title, **ref("keys")}
