"""The only place that reads when a site mistrusts nodes: `bad-nodes:` and `exclusion:`."""

from collections.abc import Mapping
from typing import Any

from d0ctl.jobfile.language.field_types import COUNT, FRACTION, TIME, Kind, whole
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node
from d0ctl.sitefile.defaults import BAD_NODES
from d0ctl.sitefile.fields import values
from d0ctl.units import format_time


def _burnt(value: str) -> int:
    return 0 if value == "no" else whole(1, 10_000_000)(value)


BURNT = Kind(_burnt, "a whole number, 1 or more, or `no`")

BAD_NODE_KEYS: Mapping[str, Kind] = {
    "burnt": BURNT, "pause": TIME, "minimum-run": TIME, "try-again": TIME, "longest": TIME,
}  # fmt: skip

EXCLUSION_KEYS: Mapping[str, Kind] = {
    "completed": COUNT, "successful": COUNT, "rate": FRACTION, "failed": COUNT,
}  # fmt: skip


def read_bad_nodes(node: Node, reading: Reading) -> dict[str, Any]:
    """Read how much nodes may burn, and what follows."""
    level = _level(node, "bad-nodes", BAD_NODE_KEYS, reading)
    if level is None:
        return {}
    found = _values(level, BAD_NODE_KEYS)
    for shorter, longer in (("pause", "minimum-run"), ("try-again", "longest")):
        _judge(level, {**BAD_NODES, **found}, shorter, longer)
    return found


def read_exclusion(node: Node, reading: Reading) -> dict[str, Any]:
    """Read when a job keeps what failed on a node off it."""
    level = _level(node, "exclusion", EXCLUSION_KEYS, reading)
    return {} if level is None else _values(level, EXCLUSION_KEYS)


def _level(node: Node, what: str, keys: Mapping[str, Kind], reading: Reading) -> Level | None:
    if isinstance(node, MappingNode):
        return Level(node, f"`{what}`", tuple(keys), reading)
    first = next(iter(keys))
    reading.fault(node.place, f"`{what}` takes keys such as `{first}`, not {kind_of(node)}")
    return None


def _values(level: Level, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    return {key.replace("_", "-"): one for key, one in values(level, dict(kinds)).items()}


def _judge(level: Level, whole: Mapping[str, Any], shorter: str, longer: str) -> None:
    """Note a bound that lies below what it bounds."""
    if whole[shorter] > whole[longer]:
        place = level.place(longer if longer in level else shorter)
        told = format_time(whole[longer])
        message = f"`{shorter}` must not be longer than `{longer}`, which is {told}"
        level.reading.fault(place, message)
