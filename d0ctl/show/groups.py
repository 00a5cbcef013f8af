"""Clusters and researchers, a line each."""

from d0ctl.show.drawing.sheet import Cell
from d0ctl.store.clusters.groups import ClusterView, ResearcherView
from d0ctl.units import count, listed, size

NO_RESEARCHERS = "no researchers: `researchers:` in the site file names them"

NO_CLUSTERS = "no clusters: d0ctl node add"


def cluster(one: ClusterView) -> list[Cell]:
    """Return the line of a cluster, in columns."""
    whose = f"private to {listed(one.researchers) or 'nobody yet'}" if one.private else "sharable"
    return [
        (one.name, "strong"), one.platform or "", whose, f"nodes: {listed(one.nodes) or 'none'}",
        _space(one), f"software: {listed(one.software)}" if one.software else "",
    ]  # fmt: skip


def _space(one: ClusterView) -> str:
    if one.capacity is None:
        return ""
    share = f", {one.software_share:.0%} of it for software" if one.software_share else ""
    used = "not counted yet" if one.cached is None else f"{size(one.cached)} in use"
    return f"cache of {size(one.capacity)}{share}: {used}"


def researcher(one: ResearcherView) -> list[Cell]:
    """Return the line of a researcher, in columns."""
    return [
        (one.name, "strong"), one.mail or "", count(one.jobs, "job"),
        f"private: {listed(one.clusters)}" if one.clusters else "",
    ]  # fmt: skip
