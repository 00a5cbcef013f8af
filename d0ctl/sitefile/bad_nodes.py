"""The sections of a site file about bad nodes: `bad-nodes:` and `exclusion:`."""

from collections.abc import Mapping
from typing import Any

from d0ctl.jobfile.language.field_types import COUNT, FRACTION, TIME, FieldType, whole
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node
from d0ctl.sitefile.defaults import BAD_NODES
from d0ctl.sitefile.fields import values
from d0ctl.units import format_time


def _failures(value: str) -> int:
    return 0 if value == "no" else whole(1, 10_000_000)(value)


FAILURES = FieldType(_failures, "a whole number, 1 or more, or `no`")

BAD_NODE_KEYS: Mapping[str, FieldType] = {
    "failures": FAILURES, "pause": TIME, "minimum-run": TIME, "try-again": TIME, "longest": TIME,
}  # fmt: skip

EXCLUSION_KEYS: Mapping[str, FieldType] = {
    "completed": COUNT, "successful": COUNT, "rate": FRACTION, "failed": COUNT,
}  # fmt: skip


def read_bad_nodes(node: Node, reading: Reading) -> dict[str, Any]:
    """Read when a node that fails packages is paused and drained."""
    level = _level(node, "bad-nodes", BAD_NODE_KEYS, reading)
    if level is None:
        return {}
    found = _values(level, BAD_NODE_KEYS)
    for shorter, longer in (("pause", "minimum-run"), ("try-again", "longest")):
        _check(level, {**BAD_NODES, **found}, shorter, longer)
    return found


def read_exclusion(node: Node, reading: Reading) -> dict[str, Any]:
    """Read when a job keeps its failed packages off a node."""
    level = _level(node, "exclusion", EXCLUSION_KEYS, reading)
    return {} if level is None else _values(level, EXCLUSION_KEYS)


def _level(node: Node, what: str, keys: Mapping[str, FieldType], reading: Reading) -> Level | None:
    if isinstance(node, MappingNode):
        return Level(node, f"`{what}`", tuple(keys), reading)
    first = next(iter(keys))
    reading.fault(node.position, f"`{what}` takes keys such as `{first}`, not {kind_of(node)}")
    return None


def _values(level: Level, types: Mapping[str, FieldType]) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in values(level, dict(types)).items()}


def _check(level: Level, limits: Mapping[str, Any], shorter: str, longer: str) -> None:
    """Record a fault for a limit that is lower than the value it limits."""
    if limits[shorter] > limits[longer]:
        position = level.position(longer if longer in level else shorter)
        limit = format_time(limits[longer])
        message = f"`{shorter}` must not be longer than `{longer}`, which is {limit}"
        level.reading.fault(position, message)
