"""The reports of a node at the end of an attempt, cut to the declarations of its launch.

A node may write any list into an end message; entries beyond the package are dropped, so that
the database grows by no more than the job file asked for.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from d0ctl.store.attempts.endings import End
from d0ctl.store.connection import Row, Store
from d0ctl_wrapper.attempt.chain.late_outputs import MOST as MOST_LATE

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending

LOCATORS = 4
"""How many locators an output is stored at, at most."""


def within(store: Store, ends: Sequence[End]) -> list[End]:
    """Cut the lists of end messages that are longer than their packages."""
    if not any(_is_long(message) for message, _ in ends):
        return list(ends)
    sizes = {row["id"]: row for row in store.rows("declared_sizes")}
    return [
        (_cut(message, sizes[message["attempt"]]) if _is_long(message) else message, context)
        for message, context in ends
    ]


def _is_long(message: "Ending") -> bool:
    lists = (
        message["binaries"],
        message["outputs"],
        message["missing"],
        message.get("staged", ()),
        message.get("stored", ()),
        message.get("events", ()),
    )
    return bool(message.get("retained")) or any(len(entries) > 1 for entries in lists)  # fmt: skip


def _cut(message: "Ending", declared: Row) -> "Ending":
    late = sum(bool(output.get("late")) for output in message["outputs"])
    outputs = declared["outputs"] + min(late, MOST_LATE + 1)
    return {
        **message,
        "binaries": _first_of_each(message["binaries"], declared["binaries"]),
        "outputs": message["outputs"][:outputs],
        "missing": list(dict.fromkeys(message["missing"]))[: declared["inputs"]],
        "staged": message.get("staged", [])[: declared["inputs"]],
        "stored": message.get("stored", [])[: LOCATORS * outputs],
        "events": _first_of_each(message.get("events", ()), declared["binaries"]),
        "retained": _declared_only(message.get("retained"), declared),
    }


def _first_of_each(entries: Iterable[Any], binaries: int) -> list[Any]:
    """Return the first entry of each binary that the package has."""
    by_binary: dict[int, Any] = {}
    for entry in entries:
        if entry["binary"] <= binaries:
            by_binary.setdefault(entry["binary"], entry)
    return list(by_binary.values())


def _declared_only(retained: dict[str, Any] | None, declared: Row) -> dict[str, Any] | None:
    """Return the files left for the next attempt; nothing if they can't be of this package."""
    if retained is None:
        return None
    binaries, outputs = declared["binaries"], declared["outputs"] + MOST_LATE
    most = {
        "supplied": binaries,
        "parts": binaries,
        "files": outputs,
        "left": outputs,
        "stored": LOCATORS * outputs,
    }
    is_possible = all(len(retained.get(name, ())) <= number for name, number in most.items())
    return retained if is_possible else None
