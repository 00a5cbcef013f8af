"""`timeouts` of a task file or site file: what happens to a task that keeps a status for long."""

from typing import Any

from d0ctl.jobfile.language.field_types import POSITIVE_TIME, FieldType, one_of, split_names
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.taskfile.split_rules import convert

TIMEOUT_KEYS = split_names("after action")

ACTIONS = split_names("pause finish kill look exhaust tell")
"""What may happen to a task."""

STATUSES = split_names("defined pending ready scouting running paused finishing prepared aborting")
"""The statuses in which a task may stay for too long."""


ACTION = FieldType(one_of(*ACTIONS), f"one of {', '.join(f'`{word}`' for word in ACTIONS)}")


def read_timeouts(node: Node, reading: Reading) -> dict[str, dict[str, Any]]:
    """Read `timeouts`: by status the time, and what happens then."""
    timeouts: dict[str, dict[str, Any]] = {}
    if not isinstance(node, Mapping):
        example = "`running: {after: 7d, action: finish}`"
        reading.fault(node.position, f"`timeouts` takes statuses of tasks, as in {example}, not"
                      f" {kind_of(node)}")  # fmt: skip
        return timeouts
    for status, (key, value) in node.items.items():
        if status not in STATUSES:
            hint = did_you_mean(status, STATUSES)
            reading.fault(key.position, f"{shown(status)} is no status that can time out{hint}")
        elif (entry := _timeout(status, value, reading)) is not None:
            timeouts[status] = entry
    return timeouts


def _timeout(status: str, value: Node, reading: Reading) -> dict[str, Any] | None:
    after: Scalar | None
    if isinstance(value, Mapping):
        level = Level(value, "a time-out", TIMEOUT_KEYS, reading)
        after, action = level.scalar("after"), level.scalar("action")
        if "after" not in level:
            reading.fault(value.position, "a time-out needs `after`, as in `after: 1d`")
    else:
        after, action = reading.scalar(value, f"`{status}`"), None
    if after is None:
        return None
    entry = {"after": convert(status, after, POSITIVE_TIME, reading)}
    if action is not None:
        entry["action"] = convert("action", action, ACTION, reading)
    return entry
