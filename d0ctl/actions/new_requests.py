"""Changes of the resources that packages request."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from d0ctl.actions.option import (
    COUNT,
    NAMES,
    NUMBER,
    SIZE,
    TIME,
    Options,
    ValueType,
    pairs,
    value,
    values,
    write_pairs,
)
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import retry
from d0ctl.store.jobs.correction.changed_requests import RequestChange
from d0ctl.store.nodes import registry
from d0ctl.units import REQUESTS, RESOURCES, duration, format_size, format_time, listed

NOTHING = "none"
"""What is typed to request nothing."""

ANY_NODE = (NOTHING,)
"""The value of `nodes` for packages that may run on any node."""

SIZES = frozenset(resource.name for resource in RESOURCES if resource.is_size)


def _or_nothing(kind: ValueType) -> ValueType:
    """Return a type that also reads and writes `none`, as 0."""
    return ValueType(
        lambda text: 0 if text == NOTHING else kind.read(text),
        lambda amount: kind.write(amount) if amount else [NOTHING],
    )


_MEMORY, _WALL_TIME = _or_nothing(SIZE), _or_nothing(TIME)


def _read_variables(texts: Iterable[str]) -> dict[str, str]:
    from d0ctl.jobfile.language.field_types import unfit_variable

    found = pairs(texts)
    for name in found:
        if why := unfit_variable(name):
            raise ValueError(why)
    return found


@dataclass(frozen=True, slots=True)
class NewRequests(Options):
    """Changed requests of packages; None and empty keep the present ones, 0 and `none` drop them.

    `disk` can't be dropped: the estimate that it replaced is not recorded.
    """

    memory: int | None = value(
        "--memory", "SIZE", "Memory to request, e.g. 4GB; `none` for no request.", type=_MEMORY,
        example="8GB", log=_MEMORY.write,
    )  # fmt: skip
    disk: int | None = value(
        "--disk", "SIZE", "Disk space to request, e.g. 20GB.", type=SIZE, example="20GB",
        log=SIZE.write,
    )  # fmt: skip
    cpus: int | None = value(
        "--cpus", "N", "Number of CPUs to request.", type=NUMBER, example="2", log=NUMBER.write
    )
    gpus: int | None = value(
        "--gpus", "N", "Number of GPUs to request; 0 for none.", type=COUNT, example="1",
        log=COUNT.write,
    )  # fmt: skip
    wall_time: float | None = value(
        "--wall-time", "TIME", "Wall time to request, e.g. 2h; `none` for no request.",
        type=_WALL_TIME, example="4h", log=_WALL_TIME.write,
    )  # fmt: skip
    nodes: tuple[str, ...] = values(
        "--on", "NODE", "Node to run on, instead of the job's; `none` for any; may be repeated.",
        none=tuple, type=NAMES, example="NODE", completes="node", log=NAMES.write,
    )  # fmt: skip
    environment: Mapping[str, str] = values(
        "--env", "NAME=VALUE", "Variable to add to the environment; may be repeated.", none=dict,
        type=ValueType(_read_variables, write_pairs), log=list,
    )  # fmt: skip

    @property
    def requirement(self) -> dict[str, Any]:
        """The part that concerns the choice of a node."""
        requirement: dict[str, Any] = {
            name: value for name in REQUESTS if (value := getattr(self, name)) is not None
        }
        if self.memory == 0:
            requirement["memory"] = None
        if self.nodes:
            requirement["nodes"] = json.dumps(list(self.named_nodes))
        return requirement

    @property
    def named_nodes(self) -> tuple[str, ...]:
        """The nodes to run on; none if packages may run on any."""
        return () if self.nodes == ANY_NODE else self.nodes

    @property
    def descriptions(self) -> list[str]:
        """Each change in words."""
        descriptions = [
            resource.describe(amount) if amount or resource.name != "memory" else "no memory limit"
            for resource in RESOURCES
            if (amount := getattr(self, resource.name)) is not None
        ]
        if self.wall_time is not None:
            time = f"a wall time of {duration(self.wall_time)}"
            descriptions.append(time if self.wall_time else "no wall time")
        if self.nodes == ANY_NODE:
            descriptions.append("any node")
        elif self.nodes:
            node = "node" if len(self.nodes) == 1 else "nodes"
            descriptions.append(f"{node} {' or '.join(self.nodes)}")
        return descriptions + write_pairs(self.environment)

    def previous(self, selected: Selection) -> dict[str, set[Any]]:
        """Return what the selected packages request now, of the requests that would change."""
        rows = [requirement.values for requirement in retry.requirements(selected)]
        found = {name: {row[name] for row in rows} for name in self.requirement}
        if self.wall_time is not None:
            found["wall_time"] = retry.wall_times(selected)
        return found

    def change(self, selected: Selection) -> None:
        """Change what the selected packages request."""
        if self.requirement:
            retry.change_requirements(selected, self.requirement)
        if self.wall_time is not None:
            retry.change_wall_time(selected, self.wall_time or None)
        if self.environment:
            retry.add_environment(selected, self.environment)


def away(store: Store, names: Iterable[str]) -> Iterator[str]:
    """Say that all of these nodes are drained or down, if there are any."""
    rows = [registry.named(store, name) for name in names]
    if rows and all(row.drained or row.state == "down" for row in rows):
        states = listed(f"`{row.name}` is {'down' if row.state == 'down' else 'drained'}"
                        for row in rows)  # fmt: skip
        there = "on it" if len(rows) == 1 else "on them"
        yield f"node {states}, so no package starts {there} now: d0ctl why --node {rows[0].name}"


def restoring(previous: Mapping[str, Any]) -> NewRequests:
    """Return the options that give packages the requests that they had."""
    before: dict[str, Any] = {
        name: 0 if value is None else value for name, value in previous.items()
    }
    if "nodes" in before:
        before["nodes"] = tuple(json.loads(before["nodes"])) or ANY_NODE
    return NewRequests(**before)


def describe_change(change: RequestChange) -> str:
    """Write a request before and after a change, as in a job file."""
    before, after = (_amount(change.name, value) for value in change[1:])
    return f"{change.name} {before} -> {after}"


def _amount(name: str, value: Any) -> str:
    if name == "priority":
        return "that of the job" if value is None else str(value)
    if not value:
        return "none"
    if name == "wall-time":
        return format_time(value)
    if name in SIZES:
        return format_size(value)
    return " or ".join(value) if isinstance(value, tuple) else str(value)
