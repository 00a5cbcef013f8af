"""The sections `shares:` and `throttles:` of a site file: who gets how many CPUs."""

import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from d0ctl.jobfile.language.field_types import COUNT, LIMIT, TEXT, FieldType, split_names
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.sitefile.fields import list_value, named, value, values
from d0ctl.units import format_time, parse_time

SHARE_KEYS = split_names("share researchers jobs")

PATH = r"[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)*"
"""The name of a share; `/` separates it from those above it."""


def read_shares(node: Node, reading: Reading) -> dict[str, dict[str, Any]]:
    """Read the shares by their paths; the parents of each must be there, too."""
    shares: dict[str, dict[str, Any]] = {}
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
            shares[key.text] = _share(Level(entry, key.text, SHARE_KEYS, reading))
        else:
            scalar = MappingNode(entry.position, items={"share": (key, entry)})
            shares[key.text] = _share(Level(scalar, key.text, SHARE_KEYS, reading))
    return shares


def _share(level: Level) -> dict[str, Any]:
    share = value(level, "share", COUNT)
    lists = {key: list(list_value(level, key, TEXT)) for key in ("researchers", "jobs")}
    return {"share": 1 if share is None else share, **{k: v for k, v in lists.items() if v}}


def check_known(shares: Node, researchers: Mapping[str, Any], reading: Reading) -> None:
    """Record patterns of shares that match none of the researchers of the file."""
    names = {name for key in researchers for name in (key, f"{key}@")}
    names |= {entry["mail"] for entry in researchers.values() if "mail" in entry}
    for _, entry in shares.items.values() if isinstance(shares, MappingNode) else ():
        pair = entry.items.get("researchers") if isinstance(entry, MappingNode) else None
        items = () if pair is None else pair[1].items if isinstance(pair[1], Sequence) else pair[1:]
        for item in items:
            if isinstance(item, Scalar) and not _is_known(item.text, names):
                hint = did_you_mean(item.text, researchers)
                message = f"{shown(item.text)} is not one of the `researchers`{hint}"
                reading.faults.warnings.add(item.position, message)


def _is_known(pattern: str, names: Iterable[str]) -> bool:
    account = f"{pattern.partition('@')[0]}@"
    return any(fnmatchcase(name, pattern) or fnmatchcase(name, account) for name in names)


THROTTLE_KEYS = split_names("max-running max-launches")

KINDS = ("node", "researcher", "job")

THROTTLE = r"(node|researcher|job) \S+"
"""The subject of a throttle: a kind, and a name or a pattern."""

MOST_S = 31 * 86400.0
"""The longest time in which launches are counted."""


def _rate(text: str) -> str:
    number, slash, time = text.partition("/")
    seconds = parse_time(time) if slash else 0.0
    if not re.fullmatch(r"[1-9]\d{0,6}", number.strip(), re.ASCII) or not 1 <= seconds <= MOST_S:
        raise ValueError
    return f"{number.strip()}/{format_time(seconds)}"


RATE = FieldType(_rate, "a number and a time from 1s to 31d, such as `100/1m`")

THROTTLE_TYPES = {"max-running": LIMIT, "max-launches": RATE}


def read_throttles(node: Node, reading: Reading) -> dict[str, dict[str, Any]]:
    """Read the throttles by subject."""
    throttles: dict[str, dict[str, Any]] = {}
    for key, entry in named(node, "throttles", reading):
        name = " ".join(key.text.split())
        if not re.fullmatch(THROTTLE, name, re.ASCII):
            message = (
                f"{shown(key.text)} is not a throttle: begin with `node`, `researcher` or `job`,"
                " then a name or a pattern, such as `node farm*`"
            )
            reading.fault(key.position, message)
        elif isinstance(entry, MappingNode):
            level = Level(entry, "a throttle", THROTTLE_KEYS, reading)
            throttles[name] = {
                key.replace("_", "-"): value for key, value in values(level, THROTTLE_TYPES).items()
            }
            if not throttles[name]:
                reading.fault(entry.position, "a throttle needs `max-running` or `max-launches`")
        else:
            message = f"{shown(key.text)} takes keys of a throttle, not {kind_of(entry)}"
            reading.fault(entry.position, message)
    return throttles


def check_throttled(
    throttles: Node, researchers: Collection[str], nodes: Collection[str], reading: Reading
) -> None:
    """Warn of throttles of accounts that are named like researchers, but are not among them, and
    of those of nodes that the file does not have.
    """
    for key, _ in throttles.items.values() if isinstance(throttles, MappingNode) else ():
        kind, _, name = key.text.partition(" ")
        if kind == "node" and nodes and not any(fnmatchcase(node, name) for node in nodes):
            begins = any(node.startswith(name) for node in nodes)
            hint = f": did you mean `node {name}*`?" if begins else did_you_mean(name, nodes)
            message = f"no node of this file is {shown(name)}, so nothing is limited{hint}"
            reading.faults.warnings.add(key.position, message)
        if kind == "researcher" and name not in researchers and not set("@*?[") & set(name):
            hint = did_you_mean(name, researchers) or f": add it, or write `researcher {name}@*`"
            message = (f"{shown(name)} is not one of the `researchers`, so jobs of "
                       f"{shown(f'{name}@HOST')} are not limited{hint}")  # fmt: skip
            reading.faults.warnings.add(key.position, message)
