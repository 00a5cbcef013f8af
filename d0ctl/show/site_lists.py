"""Clusters, researchers, throttles and stores, one line each."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from d0ctl.schedule.quota import Allowance, Throttle
from d0ctl.show.drawing.sheet import Cell
from d0ctl.show.why import pilots
from d0ctl.show.why.production import batch_fault
from d0ctl.sitefile.transfer import stores
from d0ctl.store.clusters.cluster_views import ClusterView, ResearcherView
from d0ctl.store.connection import Row
from d0ctl.units import count, duration, listed, moment, size

NO_STORES = "no stores: add `stores:` to the site file"

NO_RESEARCHERS = "no researchers: add `researchers:` to the site file"

NO_CLUSTERS = "no clusters: d0ctl node add"


def no_batch_system(name: str) -> str:
    """Say that a cluster is unknown, or has nodes of its own."""
    return f"there is no batch system `{name}`; nodes have `d0ctl node check`"


def cluster(one: ClusterView) -> list[Cell]:
    """Return the line of a cluster, in columns."""
    whose = f"private to {listed(one.researchers) or 'nobody yet'}" if one.private else "shared"
    return [
        (one.name, "strong"), _platform(one), whose, _nodes(one),
        _space(one), f"software: {listed(one.software)}" if one.software else "",
    ]  # fmt: skip


def _platform(one: ClusterView) -> str:
    return f"{one.platform or ''}{f' ({one.describes})' if one.describes else ''}"


def _nodes(one: ClusterView) -> str:
    if one.pilots is not None:
        wrong = [] if one.fault is None else [batch_fault(one.name, one.fault, time.time()).text]
        return "; ".join([pilots.summary(one.mode, one.pilots, one.jobs), *wrong])
    return f"nodes: {listed(one.nodes) or 'none'}"


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
        f"share: {listed(one.shares, 'or')}" if one.shares else "",
    ]  # fmt: skip


NO_TOKENS = "no tokens: d0ctl token add NAME reader"


def token(row: Row) -> list[Cell]:
    """Return the line of a token, in columns."""
    return [
        (row["name"], "strong"),
        row["role"],
        f"by {row['actor']}, {moment(row['made'], time.time())}",
    ]


NO_THROTTLES = "no throttles: d0ctl throttle set researcher NAME --max-running N"

MOST = 5
"""How many names a line has."""


def throttle(one: Throttle, used: Sequence[Allowance]) -> list[Cell]:
    """Return the line of a throttle, in columns, with everything that it limits now."""
    running = "" if one.max_running is None else f"{one.max_running:,} at once"
    launches = "" if one.launches is None else f"{one.launches:,} in {duration(one.per_s)}"
    here = [each for each in used if each.throttle == one]
    names = [f"{each.name} {_counts(each)}" for each in here[:MOST]]
    more = [f"{len(here) - MOST:,} more"] if len(here) > MOST else []
    return [(one.name, "strong"), running, launches, (listed([*names, *more]), "faint")]


def _counts(allowance: Allowance) -> str:
    counts = [] if allowance.throttle.max_running is None else [f"{allowance.running:,} at once"]
    counts += [] if allowance.throttle.launches is None else [f"{allowance.launched:,} lately"]
    return f"({', '.join(counts)})"


def kind_of_store(entry: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the kind of a store, and where it is."""
    found = next((one for one in stores.KINDS if one in entry), None)
    return ("commands", None) if found is None else (found, entry[found])


def store(name: str, entry: Mapping[str, Any]) -> list[Cell]:
    """Return the line of a store, in columns."""
    what, place = kind_of_store(entry)
    return [(name, "strong"), what, place or "", (f"can {listed(stores.commands(entry))}", "faint")]


def deleted_from_store(locator: str, *, would: bool) -> str:
    """Say that a file is removed from its store."""
    return f"would remove `{locator}`" if would else f"removed `{locator}`"
