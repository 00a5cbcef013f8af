"""The section `shares:` of a site file: who gets which part of the CPUs."""

import re
from typing import Any

from d0ctl.jobfile.language.field_types import COUNT, TEXT, words
from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node
from d0ctl.jobfile.yaml.faults import shown
from d0ctl.sitefile.fields import list_value, named, value

SHARE_KEYS = words("share researchers jobs")

PATH = r"[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)*"
"""The name of a share; `/` separates it from those above it."""


def read_shares(node: Node, reading: Reading) -> dict[str, dict[str, Any]]:
    """Read the shares by their paths; what is above one has to be there, too."""
    found: dict[str, dict[str, Any]] = {}
    entries = list(named(node, "shares", reading))
    names = {key.text for key, _ in entries}
    for key, entry in entries:
        above = key.text.rpartition("/")[0]
        if not re.fullmatch(PATH, key.text, re.ASCII):
            message = f"{shown(key.text)} is not a name such as `physics` or `physics/higgs`"
            reading.fault(key.position, message)
        elif above and above not in names:
            reading.fault(key.position, f"there is no share {shown(above)} above it")
        elif isinstance(entry, MappingNode):
            found[key.text] = _share(Level(entry, key.text, SHARE_KEYS, reading))
        else:
            scalar = MappingNode(entry.position, items={"share": (key, entry)})
            found[key.text] = _share(Level(scalar, key.text, SHARE_KEYS, reading))
    return found


def _share(level: Level) -> dict[str, Any]:
    share = value(level, "share", COUNT)
    lists = {key: list(list_value(level, key, TEXT)) for key in ("researchers", "jobs")}
    return {"share": 1 if share is None else share, **{k: v for k, v in lists.items() if v}}
