"""The section `policy:` of a site, of software, of a job and of a package."""

import re
from collections.abc import Callable
from typing import Any

from d0ctl.jobfile.language.field_types import (
    FLAG,
    PERCENT,
    SIZE,
    TIME,
    FieldType,
    flag,
    split_names,
    whole,
)
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.model import Reason

RULE_KEYS = split_names(
    "tries delay factor longest elsewhere escalate priority hold release passive"
)
NEVER_KEYS = split_names("attempt all-attempts memory tries")
ESCALATE_KEYS = split_names("memory wall-time")

SHORTEST_RELEASE_S = 300.0
"""A package is released at most once in five minutes (CRAB3, Automatic Restart Policies)."""

ONLY = "only"
JOB = "job"

_SITE = re.compile(r"site:[a-z0-9][a-z0-9-]*", re.ASCII)
_NUMBER = re.compile(r"\d{1,6}(\.\d{1,9})?", re.ASCII)
_AGAIN = split_names("delay factor longest elsewhere escalate priority")
"""Keys that have an effect only if there is a retry."""

REASONS_MEANT = {
    word: str(reason)
    for reason, others in {
        Reason.OUT_OF_MEMORY: "mem memory oom oom-kill oom-killed ram",
        Reason.WALL_TIME: "time time-limit timed-out timelimit timeout walltime",
        Reason.EXIT_CODE: "code error exit return-code status",
        Reason.SEG_FAULT: "crash segv sigsegv",
        Reason.DISK_FULL: "disk enospc no-space quota space",
        Reason.LOOPING: "hang hanging hung idle stalled stuck",
        Reason.STAGE_IN: "download",
        Reason.STAGE_OUT: "upload",
        Reason.VERIFICATION: "checksum",
    }.items()
    for word in others.split()
}
"""Other words for a reason, such as those of batch systems."""


def _factor(value: str) -> float:
    if not _NUMBER.fullmatch(value) or not 1 <= float(value) <= 1000:
        raise ValueError
    return float(value)


def _growth(value: str) -> float:
    if _factor(value) <= 1:
        raise ValueError
    return float(value)


def _or_no(field_type: FieldType) -> FieldType:
    def convert(value: str) -> Any:
        return None if value == "no" else field_type.convert(value)

    return FieldType(convert, f"{field_type.expected}, or `no`")


def _elsewhere(value: str) -> bool | str:
    return ONLY if value == ONLY else flag(value)


def _hold(value: str) -> bool | str:
    return JOB if value == JOB else flag(value)


HOLD = FieldType(_hold, "`yes`, `no` or `job`")
ELSEWHERE = FieldType(_elsewhere, "`yes`, `no` or `only`")
TRIES = FieldType(whole(0, 1_000_000), "a whole number, 0 or more")
FACTOR = FieldType(_factor, "a number from 1 on, such as `2` or `1.5`")
GROWTH = FieldType(_growth, "a number greater than 1, such as `1.5`")

_TYPES = {
    "tries": TRIES, "factor": FACTOR, "longest": TIME, "elsewhere": ELSEWHERE, "priority": PERCENT,
    "hold": HOLD, "release": TIME, "passive": FLAG,
}  # fmt: skip
_NEVER = {
    "attempt": _or_no(TIME), "all-attempts": _or_no(TIME), "memory": _or_no(SIZE),
    "tries": _or_no(TRIES),
}  # fmt: skip
_ESCALATE = {"memory": GROWTH, "wall-time": GROWTH}


def read_policy(node: Node, reading: Reading) -> dict[str, dict[str, Any]]:
    """Read the rule for each reason of failure, and the limits under `never`."""
    if not isinstance(node, Mapping):
        reading.fault(node.position, f"`policy` takes a mapping, not {kind_of(node)}")
        return {}
    rules: dict[str, dict[str, Any]] = {}
    for name, (key, value) in node.items.items():
        if name == "never":
            rules[name] = _entry(value, "`never`", NEVER_KEYS, reading, _read_never)
        elif is_reason(key, reading):
            rules[name] = _entry(value, f"the rule for `{name}`", RULE_KEYS, reading, _rule)
    return {name: rule for name, rule in rules.items() if rule}


def is_reason(key: Scalar, reading: Reading) -> bool:
    """Return whether a failure can have this reason; record a fault if it can't."""
    known = [str(reason) for reason in Reason if reason is not Reason.KILLED]
    if key.text in known or _SITE.fullmatch(key.text):
        return True
    if key.text == Reason.KILLED:
        message = "the rule for `killed` can never match: killed packages are canceled, not failed"
    else:
        hint = did_you_mean(key.text, [*known, "never"]) or ": see docs/policy.md for the list"
        if key.text in REASONS_MEANT:
            hint = f" (did you mean `{REASONS_MEANT[key.text]}`?)"
        message = f"{shown(key.text)} is not a failure reason{hint}"
    reading.fault(key.position, message)
    return False


def _entry(
    node: Node,
    what: str,
    keys: tuple[str, ...],
    reading: Reading,
    read: Callable[[Level], dict[str, Any]],
) -> dict[str, Any]:
    if isinstance(node, Mapping):
        return read(Level(node, what, keys, reading))
    reading.fault(node.position, f"{what} takes keys such as `tries`, not {kind_of(node)}")
    return {}


def _read_never(level: Level) -> dict[str, Any]:
    found = {}
    for key, field_type in _NEVER.items():
        if (scalar := level.scalar(key)) is not None:
            found[key] = _value(level, key, scalar, field_type)
    level.warn_of_bytes("memory")
    for key in ("attempt", "all-attempts"):
        level.warn_of_seconds(key)
    return found


def _rule(level: Level) -> dict[str, Any]:
    keys = {}
    for key, field_type in _TYPES.items():
        if (scalar := level.scalar(key)) is not None:
            keys[key] = _value(level, key, scalar, field_type)
    if (node := level.get("delay")) is not None:
        keys["delay"] = _delays(level, node)
    for key in ("delay", "release"):
        level.warn_of_seconds(key, "m")
    if more := _escalate(level):
        keys["escalate"] = more
    _check(level, keys)
    return {key: value for key, value in keys.items() if value is not None}


def _delays(level: Level, node: Node) -> list[float]:
    items = node.items if isinstance(node, Sequence) else [node]
    if not items:
        level.reading.fault(
            node.position, "`delay` takes a time or a list of times, not an empty list"
        )
    scalars = [level.reading.scalar(item, "`delay`") for item in items]
    delays = [_value(level, "delay", scalar, TIME) for scalar in scalars if scalar is not None]
    return [delay for delay in delays if delay is not None]


def _escalate(level: Level) -> dict[str, float]:
    node = level.mapping("escalate")
    if node is None:
        return {}
    inner = Level(node, "`escalate`", ESCALATE_KEYS, level.reading)
    steps = {
        key: _value(inner, key, scalar, field_type)
        for key, field_type in _ESCALATE.items()
        if (scalar := inner.scalar(key)) is not None
    }
    return {key: value for key, value in steps.items() if value is not None}


def _value(level: Level, key: str, scalar: Scalar, field_type: FieldType) -> Any:
    text = level.reading.text(scalar)
    try:
        return field_type.convert(text)
    except ValueError:
        message = f"`{key}` takes {field_type.expected}, not {shown(text)}"
        level.reading.fault(scalar.position, message)
        return None


def _check(level: Level, found: dict[str, Any]) -> None:
    """Record a fault for keys that contradict each other."""
    for key, message in _contradictions(level, found):
        level.reading.fault(level.position(key), message)


def _contradictions(level: Level, rules: dict[str, Any]) -> list[tuple[str, str]]:
    messages = []
    tries, delays = rules.get("tries"), rules.get("delay") or []
    if tries == 0:
        messages += [(key, f"`{key}` has no effect: with `tries: 0` there is no retry")
                 for key in _AGAIN if key in level]  # fmt: skip
    elif tries is not None and len(delays) > tries:
        messages.append(
            ("delay", f"{len(delays)} delays for `tries: {tries}`: the last is never used")
        )
    if rules.get("hold") in (False, JOB) and "release" in level:
        without = "`hold: job` no package" if rules["hold"] else "`hold: no` nothing"
        messages.append(("release", f"`release` has no effect: with {without} is held"))
    release = rules.get("release")
    if release is not None and release < SHORTEST_RELEASE_S:
        messages.append(("release", "`release` must be `5m` or longer"))
    longest = rules.get("longest")
    if longest is not None and delays and longest < max(delays):
        messages.append(("longest", "`longest` is shorter than `delay`"))
    return messages
