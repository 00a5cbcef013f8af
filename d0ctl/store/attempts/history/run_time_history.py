"""Limits learned from successful runs of a program, and applied to later runs."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from d0ctl.policy.guards import RunTimeHistory, Watching, silence
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.site import default

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending


def learn(store: Store, ends: Iterable[tuple["Ending", Row]]) -> None:
    """Record the longest gaps of the binaries of successful attempts, each once."""
    rows = [
        (context["package_id"], record["binary"], record["gap"])
        for end, context in ends
        if end["outcome"] == "successful"
        for record in end["binaries"]
        if record.get("gap") is not None
    ]
    store.empty("reported_gap")
    if rows:
        store.change_many("report_gap", rows)
        store.change("record_run_times")


def site(store: Store) -> Watching:
    """Return the guards of the site for its packages."""
    names = Watching.__struct_fields__
    return Watching(**{name: default(store, name.replace("_", "-")) for name in names})


def guarded(
    launch: dict[str, Any], package: Row, binaries: Sequence[Row], site: Watching
) -> dict[str, Any]:
    """Return a launch with the limits of its package and the history of its binaries."""
    silences = [_silence(package["looping"], row, site) for row in binaries]
    limited = [
        {**binary, **more} for binary, more in zip(launch["binaries"], silences, strict=True)
    ]
    return {**launch, "binaries": limited, "guards": _guards(package, site)}


def _silence(asked: float | None, binary: Row, site: Watching) -> dict[str, Any]:
    """Return how long a binary may be without activity, and its history."""
    history = RunTimeHistory(binary["runs"], binary["gap"]) if binary["runs"] else None
    limit = silence(asked, site, history)
    if limit is None:
        return {}
    known = (
        {} if history is None else {"run_time_history": {"runs": history.runs, "gap": history.gap}}
    )
    return {"looping": limit, **known}


def _guards(package: Row, site: Watching) -> dict[str, Any]:
    """Return the limits of a package; unlimited values are left out."""
    limits = {
        "wall_time": package["wall_time"],
        "memory": package["memory"],
        "disk": package["disk"],
        "reserve": site.reserve,
        "patience": site.patience,
        "swap": site.swap,
        "yield_cpu": site.yield_cpu,
    }
    return {name: limit for name, limit in limits.items() if limit is not None}
