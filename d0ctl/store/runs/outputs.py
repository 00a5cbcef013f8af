"""Outputs that an end message lists, compared with those that its package declares."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from d0ctl.construct.faults import escape
from d0ctl.model import Reason
from d0ctl.store.connection import Row, Store

Message = dict[str, Any]

End = tuple[Message, Row]
"""An end message, and what the verdict on its attempt depends on."""


def check(store: Store, ends: Sequence[End]) -> list[End]:
    """Turn each successful end into a failed one that lacks a declared output or has another.

    An end that was asked for keeps only what is declared.
    """
    listed = [end for end in ends if end[0]["outcome"] == "successful" or end[0]["outputs"]]
    if not listed:
        return list(ends)
    store.change("clear_chosen")
    store.change_many("choose_package", {(end[1]["package_id"],) for end in listed})
    declared: defaultdict[int, list[Row]] = defaultdict(list)
    for row in store.rows("declared_outputs"):
        declared[row["package_id"]].append(row)
    return [_checked(end, declared[end[1]["package_id"]]) for end in ends]


def _checked(end: End, declared: Sequence[Row]) -> End:
    message, context = end
    if message["outcome"] == "successful":
        fault = _fault(message["outputs"], declared)
        return (message, context) if fault is None else (failed(message, *fault), context)
    names = {row["name"] for row in declared}
    known = [one for one in message["outputs"] if (one.get("late") or one["name"]) in names]
    return {**message, "outputs": known}, context


def _fault(listed: Sequence[Message], declared: Sequence[Row]) -> tuple[Reason, str] | None:
    """Give the reason and a sentence when these can't be the outputs of the package."""
    late = [one["late"] for one in listed if one.get("late")]
    plain = [one["name"] for one in listed if not one.get("late")]
    for row in declared:
        name = escape(row["name"])
        if row["late"] and late.count(row["name"]) < (row["min_count"] or 0):
            told = f"too few files of the late output `{name}` are in the end message"
            return Reason.MISSING_OUTPUT, told
        if not row["late"] and row["name"] not in plain:
            return Reason.MISSING_OUTPUT, f"output `{name}` is not in the end message"
    names = {row["name"] for row in declared if not row["late"]}
    for name in plain:
        if name not in names:
            told = f"output `{escape(name)}` is in the end message, and is not declared"
            return Reason.VERIFICATION, told
    if len(set(plain)) < len(plain):
        return Reason.VERIFICATION, "an output is in the end message twice"
    return None


def failed(message: Message, reason: Reason, detail: str) -> Message:
    """Return the end message of an attempt whose success is not believed."""
    lost = {"outcome": "failed", "reason": str(reason), "detail": detail, "outputs": []}
    return {**message, **lost, "missing": []}
