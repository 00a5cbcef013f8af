"""What programs are used to: learned from successful runs, and told to those that follow."""

from collections.abc import Iterable, Mapping
from typing import Any

from d0ctl.recover.guards import SITE, Habit, silence
from d0ctl.store.connection import Row, Store

Told = tuple[Mapping[str, Any], Row]
"""An end message, and what is known of its attempt."""


def learn(store: Store, ends: Iterable[Told]) -> None:
    """Keep the longest gaps of the binaries of successful attempts, each told once."""
    rows = [
        (context["package_id"], record["binary"], record["gap"])
        for end, context in ends
        if end["outcome"] == "successful"
        for record in end["binaries"]
        if record.get("gap") is not None
    ]
    store.change("clear_told_gap")
    if rows:
        store.change_many("tell_gap", rows)
        store.change("learn_habits")


def of_binary(asked: float | None, binary: Row) -> dict[str, Any]:
    """What a wrapper is to know of the silence of a binary, as part of a launch."""
    habit = Habit(binary["runs"], binary["gap"]) if binary["runs"] else None
    limit = silence(asked, SITE, habit)
    if limit is None:
        return {}
    known = {} if habit is None else {"habit": {"runs": habit.runs, "gap": habit.gap}}
    return {"looping": limit, **known}


def of_package(package: Row) -> dict[str, Any]:
    """The limits of a package, as part of a launch; what is not limited is left out."""
    limits = {
        "wall_time": package["wall_time"],
        "memory": package["memory"],
        "disk": package["disk"],
        "reserve": SITE.reserve,
        "patience": SITE.patience,
        "swap": SITE.swap,
        "yield_cpu": SITE.yield_cpu,
    }
    return {name: limit for name, limit in limits.items() if limit is not None}
