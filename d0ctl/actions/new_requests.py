"""Changes of the resources that packages request."""

from collections.abc import Iterable, Mapping
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
from d0ctl.store.connection import Selection
from d0ctl.store.jobs import retry
from d0ctl.store.jobs.correction.changed_requests import RequestChange
from d0ctl.units import REQUESTS, RESOURCES, duration, format_size, format_time

SIZES = frozenset(resource.name for resource in RESOURCES if resource.is_size)


def _read_variables(texts: Iterable[str]) -> dict[str, str]:
    from d0ctl.jobfile.language.field_types import unfit_variable

    found = pairs(texts)
    for name in found:
        if why := unfit_variable(name):
            raise ValueError(why)
    return found


@dataclass(frozen=True, slots=True)
class NewRequests(Options):
    """Changed requests of packages; None and empty keep the present ones."""

    memory: int | None = value(
        "--memory", "SIZE", "Memory to request, e.g. 4GB.", type=SIZE, example="8GB",
        log=SIZE.write,
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
        "--wall-time", "TIME", "Wall time to request, e.g. 2h.", type=TIME, example="4h",
        log=TIME.write,
    )  # fmt: skip
    nodes: tuple[str, ...] = values(
        "--on", "NODE", "Node to run on, instead of the job's; may be repeated.", none=tuple,
        type=NAMES, example="NODE", completes="node", log=NAMES.write,
    )  # fmt: skip
    environment: Mapping[str, str] = values(
        "--env", "NAME=VALUE", "Variable to add to the environment; may be repeated.", none=dict,
        type=ValueType(_read_variables, write_pairs), log=list,
    )  # fmt: skip

    @property
    def requirement(self) -> dict[str, Any]:
        """The part that concerns the choice of a node."""
        import json

        requirement: dict[str, Any] = {
            name: value for name in REQUESTS if (value := getattr(self, name)) is not None
        }
        if self.nodes:
            requirement["nodes"] = json.dumps(list(self.nodes))
        return requirement

    @property
    def descriptions(self) -> list[str]:
        """Each change in words."""
        descriptions = [
            resource.describe(amount)
            for resource in RESOURCES
            if (amount := getattr(self, resource.name)) is not None
        ]
        if self.wall_time is not None:
            descriptions.append(f"a wall time of {duration(self.wall_time)}")
        if self.nodes:
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
            retry.change_wall_time(selected, self.wall_time)
        if self.environment:
            retry.add_environment(selected, self.environment)


def describe_change(change: RequestChange) -> str:
    """Write a request before and after a change, as in a job file."""
    before, after = (_amount(change.name, value) for value in change[1:])
    return f"{change.name} {before} -> {after}"


def _amount(name: str, value: Any) -> str:
    if not value:
        return "none"
    if name == "wall-time":
        return format_time(value)
    if name in SIZES:
        return format_size(value)
    return " or ".join(value) if isinstance(value, tuple) else str(value)
