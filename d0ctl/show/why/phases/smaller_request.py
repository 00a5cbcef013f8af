"""The options of `edit` that make a package fit a node."""

from collections.abc import Iterable

from msgspec.structs import replace

from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.units import format_size

STEP = 1_000_000
"""Suggested sizes are multiples of this many bytes."""


def options_for(requirement: Requirement, nodes: Iterable[NodeRoom]) -> str | None:
    """Return the fewest options with which one of the nodes can take a package; None if none do.

    If several nodes would do, the request is made to fit the largest.
    """
    largest_first = sorted(nodes, key=lambda node: (-node.cpus, -(node.memory or 0)))
    requests = [options for node in largest_first if (options := _for_node(requirement, node))]
    return min(requests, key=lambda options: options.count("--"), default=None)


def _for_node(requirement: Requirement, node: NodeRoom) -> str | None:
    options = ""
    if requirement.cpus > node.cpus:
        requirement = replace(requirement, cpus=node.cpus)
        options += f" --cpus {node.cpus}"
    if requirement.memory and node.memory and requirement.memory > node.memory:
        requirement = replace(requirement, memory=_floor(node.memory))
        options += f" --memory {format_size(_floor(node.memory))}"
    if requirement.gpus > node.gpus:
        requirement = replace(requirement, gpus=node.gpus)
        options += f" --gpus {node.gpus}"
    if requirement.space and node.disk and requirement.space > node.disk:
        space = _floor(node.disk if node.disk_free is None else node.disk_free)
        requirement = replace(requirement, space=space)
        options += f" --disk {format_size(space)}"
    if requirement.nodes and node.name not in requirement.nodes:
        requirement = replace(requirement, nodes=())
        options += f" --on {node.name}"
    return options if misfit(requirement, node) is None else None


def _floor(size: int) -> int:
    return max(size // STEP, 1) * STEP
