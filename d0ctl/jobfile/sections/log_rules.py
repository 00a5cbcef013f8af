"""Keys that verify a binary: lines of its log, its check, and the range of its events."""

from typing import Any

from d0ctl.jobfile.language.field_types import (
    FLAG,
    PATTERN,
    TIME,
    BadValueError,
    FieldType,
    accepting,
    whole,
)
from d0ctl.jobfile.language.file_names import output_name
from d0ctl.jobfile.language.values import Fields, ListValue, TextValue, mapping_value
from d0ctl.jobfile.sections.level import Level, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl_wrapper.protocol.message import LOG_REASON

MAX_EVENTS = 10**15
"""The largest number of events, and the largest number of an event."""


REASON = FieldType(
    accepting(LOG_REASON.match), "`log-message`, or `site:NAME` with a name that the site chooses"
)

LOG_RULE_TYPES = {"match": PATTERN, "reason": REASON, "passive": FLAG, "required": FLAG}
EVENT_TYPES = {
    "of": FieldType(whole(1, MAX_EVENTS), "a whole number of events, 1 or more"),
    "first": FieldType(whole(0, MAX_EVENTS), "the number of the first event, 0 or more"),
    "part": FieldType(output_name, "the name of a file"),
}


def read_verification(level: Level, fields: Fields) -> None:
    """Add `log-rules`, `events` and `check-timeout`."""
    level.fields({"check-timeout": TIME}, fields)
    if "check-timeout" in level and "check" not in level:
        level.reading.fault(level.position("check-timeout"), "`check-timeout` needs `check`")
    _log_rules(level, fields)
    _events(level, fields)


def _log_rules(level: Level, fields: Fields) -> None:
    node = level.get("log-rules")
    if node is None:
        return
    items = node.items if isinstance(node, Sequence) else [node]
    rules = [rule for item in items if (rule := _log_rule(item, level)) is not None]
    fields.set("log_rules", ListValue(node.position, tuple(rules)), level.reading.faults)


def _log_rule(node: Node, level: Level) -> ListValue | None:
    reading = level.reading
    if isinstance(node, Scalar):
        return mapping_value(node.position, {"match": reading.text_value("match", node, PATTERN)})
    if not isinstance(node, Mapping):
        message = f"a log rule takes a regular expression or keys, not {kind_of(node)}"
        reading.fault(node.position, message)
        return None
    rule = Level(node, "a log rule", LOG_RULE_TYPES, reading)
    if "match" not in rule:
        reading.fault(node.position, "a log rule needs `match`")
        return None
    cells = _cells(rule, LOG_RULE_TYPES)
    if _is_on(cells.get("required")):
        for other in ("passive", "reason"):
            if other in rule and not (other == "passive" and not _is_on(cells.get(other))):
                reading.fault(rule.position(other), f"`required` can't be combined with `{other}`")
    return mapping_value(node.position, cells)


def _is_on(text_value: TextValue | None) -> bool:
    """Return whether a flag is set for all lines."""
    if text_value is None or not text_value.fixed:
        return False
    try:
        return bool(text_value.get(()))
    except BadValueError:
        return False


def _cells(level: Level, types: dict[str, FieldType]) -> dict[str, TextValue]:
    values = {name: level.value(name, field_type) for name, field_type in types.items()}
    return {name: value for name, value in values.items() if isinstance(value, TextValue)}


def _events(level: Level, fields: Fields) -> None:
    node = level.mapping("events")
    if node is None:
        return
    inner = Level(node, "`events`", EVENT_TYPES, level.reading)
    for name in ("of", "part"):
        if name not in inner:
            level.reading.fault(node.position, f"`events` needs `{name}`: {_MEANINGS[name]}")
            return
    cells = _cells(inner, EVENT_TYPES)
    if len(cells) < len(inner.keys):
        return

    def combine(values: list[Any]) -> dict[str, Any]:
        events = dict(zip(cells, values, strict=True))
        first = events.get("first", 1)
        return {"first": first, "last": first + events["of"] - 1, "part": events["part"]}

    fields.set(
        "events", ListValue(node.position, tuple(cells.values()), combine), level.reading.faults
    )


_MEANINGS = {"of": "the number of events", "part": "the file that holds the finished ones"}
