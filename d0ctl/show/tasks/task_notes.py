"""What agents write into the history of a task, and why a task waits."""

from collections.abc import Mapping, Sequence
from typing import Any

from d0ctl.errors import D0Error
from d0ctl.store.tasks.task_broker import Choice, Destination
from d0ctl.units import count, duration, listed, percent, size

MOST_NAMED = 3
"""How many other clusters a reason names."""


def looked_up(dataset: str, added: int, changed: int, ranges: int) -> str:
    """Say what a look at a dataset has found, and into how many ranges its files are split."""
    more = f", {count(changed, 'file')} changed or gone" if changed else ""
    split = f", split into {count(ranges, 'range')} of events" if ranges else ""
    return f"dataset `{dataset}`: {count(added, 'new file')}{more}{split}"


def too_many_ranges(ranges: int, most: int) -> str:
    """Say that a task would get too many packages."""
    return (f"its events make {ranges:,} packages, and a job may have {most:,}: raise"
            " `events-per-package`, or set `max-packages`")  # fmt: skip


def of_dataset(dataset: str, why: str) -> str:
    """Say why a dataset keeps its task from going on."""
    return f"dataset `{dataset}`: {why}"


def of_merge(why: str) -> str:
    """Say why the outputs of a task can't be merged."""
    return f"merge: {why}"


def not_yet(name: str, status: str, *, is_ended: bool) -> str | None:
    """Say why a task does not go on because of another; None if that has ended well."""
    if not is_ended:
        return f"task `{name}` has not ended"
    return None if status in ("done", "finished") else f"task `{name}` is {status}"


NO_MAKER = "the task that makes its files was removed"


def failed_scouts(failed: int, scouts: int) -> str:
    """Say how many scouts failed."""
    return f"{failed:,} of {count(scouts, 'scout')} failed"


def measured(measurement: Mapping[str, Any]) -> str:
    """Say what scouts needed."""
    memory, files, events = (
        measurement["memory"],
        measurement.get("files"),
        measurement.get("events"),
    )
    seconds = measurement["seconds"]
    took = duration(seconds) if seconds >= 0.1 else f"{max(1.0, seconds * 1000):.0f} ms"
    parts = [
        f"{count(measurement['scouts'], 'scout')} took {took} per file",
        f"{size(memory)} of memory" if memory else "",
        f"{count(files, 'file')} per package from now on" if files else "",
        f"{count(events, 'event')} per package from now on" if events else "",
    ]
    return ", ".join(part for part in parts if part)


def processed(finished: int, whole: int, missed: float | None = None, unmerged: int = 0) -> str:
    """Say how many files were processed, and which goal was missed."""
    less = f", less than the goal of {percent(missed)}" if missed is not None else ""
    not_merged = f", outputs of {unmerged:,} were not merged" if unmerged else ""
    return f"{finished:,} of {whole:,} files were processed{not_merged}{less}"


FAULTS = {
    "unmade_output": "output `{name}` was not made by package `{path}`, which has ended",
    "unaccounted_input": "file `{name}` counts as processed, but no package has processed it",
    "changed_output": "output `{name}` is another than its package has reported",
    "unmerged_output": "output `{name}` counts as merged, but no package has merged it",
    "mixed_merge": "package `{path}` has merged other files than those that count as merged",
    "duplicate": "package `{path}` has processed files that others have processed, too, and its "
    "outputs can't be left out",
}
"""What is wrong with the outputs of a task, by the query that has found it."""


def fault(kind: str, values: Mapping[str, Any]) -> str:
    """Say what is wrong with the outputs of a task."""
    return FAULTS[kind].format_map(values)


def left_out(packages: Sequence[tuple[str, int]]) -> str:
    """Say which outputs were left out of their datasets."""
    outputs = count(sum(number for _, number in packages), "output")
    path, others = packages[0][0], len(packages) - 1
    more = f" and {count(others, 'other')}" if others else ""
    return f"left out {outputs} of package `{path}`{more}: others have processed its files, too"


def too_long(status: str, seconds: float) -> str:
    """Say that a task has had a status for too long."""
    return f"it was {status} for {duration(seconds)}"


def agent_failed(agent: str, error: Exception) -> str:
    """Say that an agent could not work on a task."""
    kind = "" if isinstance(error, D0Error) else f"{type(error).__name__}: "
    return f"the {agent} failed: {kind}{error}"


def no_destination(cluster: str) -> str:
    """Say that the outputs of a task can be merged nowhere at present."""
    return f"no node of cluster `{cluster}`, where its outputs are merged, takes packages"


def destination(choice: Choice) -> str:
    """Say why the outputs of a task are merged at a cluster, and not at others."""
    best, needed = choice.best, choice.needed
    parts = [f"it has {size(best.local)} of {size(needed)} to merge"] if needed else []
    parts.append(f"{count(best.packages, 'package')} and {count(best.transfers, 'transfer')} there")
    if best.free is not None:
        parts.append(f"room for {size(best.free)}")
    others = [f"`{each.name}` has {size(each.local)} and {count(each.packages, 'package')}"
              for each in choice.others[:MOST_NAMED]]  # fmt: skip
    unfit = [_unfit(each) for each in choice.unfit[:MOST_NAMED]]
    return "; ".join([listed(parts), *others, *unfit])


def _unfit(cluster: Destination) -> str:
    if not cluster.nodes:
        return f"`{cluster.name}` has no node that takes packages"
    return f"the cache of `{cluster.name}` has room for {size(cluster.free or 0)}"
