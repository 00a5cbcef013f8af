"""The speed of a node's CPUs, by a short benchmark that its relay runs."""

import math
from contextlib import closing

from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.link import Site, open_link
from d0ctl.nodes.transports.transport import Address

STANDARD = {"compress": 35.0, "multiply": 26.0, "sort": 260.0}
"""How often a CPU of a standard node, of speed 1, does each task in a second."""

LONGEST_S = 120.0
"""A node that has not done its tasks after this many seconds is given up."""

RUNS = 3
"""How often it runs; the fastest counts, since other processes only make it slower."""


def measure(home: Home, address: Address, site: str) -> float:
    """Return how many times as fast as a standard CPU one of a node is.

    Raises NodeUnreachable.
    """
    nodes_site = Site(site, home.nodes, home.known_hosts, home.dropbox)
    with closing(open_link(address, nodes_site, visit=True)) as link, link.bounded(LONGEST_S):
        speeds: list[float] = []
        link.send({"kind": "benchmark", "id": 1})
        for frame in link.frames():
            if frame["kind"] == "fault":
                raise NodeUnreachable(f"node `{address.name}`: {frame['message']}")
            if frame["kind"] != "benchmarked":
                continue
            speeds.append(speed(frame["rates"]))
            if len(speeds) == RUNS:
                return max(speeds)
            link.send({"kind": "benchmark", "id": len(speeds) + 1})
    raise NodeUnreachable(f"node `{address.name}` ended before answering")


def speed(rates: dict[str, float]) -> float:
    """Return the geometric mean of how many times as fast as the standard each task was done."""
    product = math.prod(rates[task] / standard for task, standard in STANDARD.items())
    return max(0.01, round(min(1000.0, product ** (1 / len(STANDARD))), 2))
