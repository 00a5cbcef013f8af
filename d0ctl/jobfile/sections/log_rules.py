"""Reading how a binary is judged: by lines of its log, and by the events that it has done."""

from typing import Any

from d0ctl.jobfile.language.field_types import FLAG, PATTERN, TIME, Kind, WrongError, whole
from d0ctl.jobfile.language.file_names import output_name
from d0ctl.jobfile.language.values import Cell, Fields, Many, gathered
from d0ctl.jobfile.sections.level import Level, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl_wrapper.protocol.message import LOG_REASON

MOST_EVENTS = 10**15
"""How many events a binary may have, and how high their numbers may be."""


def _reason(value: str) -> str:
    if not LOG_REASON.match(value):
        raise ValueError
    return value


REASON = Kind(_reason, "`log-message`, or `site:NAME` with a name of the site's own")

LOG_RULE_KINDS = {"match": PATTERN, "reason": REASON, "passive": FLAG, "required": FLAG}
EVENT_KINDS = {
    "of": Kind(whole(1, MOST_EVENTS), "a whole number of events, 1 or more"),
    "first": Kind(whole(0, MOST_EVENTS), "the number of the first event, 0 or more"),
    "part": Kind(output_name, "the name of a file"),
}


def read_judges(level: Level, fields: Fields) -> None:
    """Add `log-rules`, `events` and `check-timeout`."""
    level.fields({"check-timeout": TIME}, fields)
    if "check-timeout" in level and "check" not in level:
        level.reading.fault(level.place("check-timeout"), "`check-timeout` goes with `check`")
    _log_rules(level, fields)
    _events(level, fields)


def _log_rules(level: Level, fields: Fields) -> None:
    node = level.get("log-rules")
    if node is None:
        return
    items = node.items if isinstance(node, Sequence) else [node]
    rules = [rule for item in items if (rule := _log_rule(item, level)) is not None]
    fields.set("log_rules", Many(node.place, tuple(rules)), level.reading.faults)


def _log_rule(node: Node, level: Level) -> Many | None:
    reading = level.reading
    if isinstance(node, Scalar):
        return gathered(node.place, {"match": reading.cell("match", node, PATTERN)})
    if not isinstance(node, Mapping):
        message = f"a log rule is a regular expression or has keys; this is {kind_of(node)}"
        reading.fault(node.place, message)
        return None
    rule = Level(node, "a log rule", LOG_RULE_KINDS, reading)
    if "match" not in rule:
        reading.fault(node.place, "a log rule needs `match`")
        return None
    cells = _cells(rule, LOG_RULE_KINDS)
    if _is_on(cells.get("required")):
        for other in ("passive", "reason"):
            if other in rule and not (other == "passive" and not _is_on(cells.get(other))):
                reading.fault(rule.place(other), f"`required` goes without `{other}`")
    return gathered(node.place, cells)


def _is_on(cell: Cell | None) -> bool:
    """Whether a flag is set, as far as that can be told before the lines are made."""
    if cell is None or not cell.fixed:
        return False
    try:
        return bool(cell.get(()))
    except WrongError:
        return False


def _cells(level: Level, kinds: dict[str, Kind]) -> dict[str, Cell]:
    values = {name: level.value(name, kind) for name, kind in kinds.items()}
    return {name: value for name, value in values.items() if isinstance(value, Cell)}


def _events(level: Level, fields: Fields) -> None:
    node = level.mapping("events")
    if node is None:
        return
    inner = Level(node, "`events`", EVENT_KINDS, level.reading)
    for name in ("of", "part"):
        if name not in inner:
            level.reading.fault(node.place, f"`events` needs `{name}`: {_WANTED[name]}")
            return
    cells = _cells(inner, EVENT_KINDS)

    def gather(values: list[Any]) -> dict[str, Any]:
        found = dict(zip(cells, values, strict=True))
        first = found.get("first", 1)
        return {"first": first, "last": first + found["of"] - 1, "part": found["part"]}

    fields.set("events", Many(node.place, tuple(cells.values()), gather), level.reading.faults)


_WANTED = {"of": "how many there are", "part": "the file that holds what is done of them"}
