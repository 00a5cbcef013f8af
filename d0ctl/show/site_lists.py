"""Clusters, researchers, throttles and stores, one line each."""

import time
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import permutations
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


def cluster(view: ClusterView) -> list[Cell]:
    """Return the line of a cluster, in columns."""
    whose = f"private to {listed(view.researchers) or 'nobody yet'}" if view.private else "shared"
    return [
        (view.name, "strong"), _platform(view), whose, _nodes(view),
        _space(view), f"software: {listed(view.software)}" if view.software else "",
    ]  # fmt: skip


def _platform(view: ClusterView) -> str:
    return f"{view.platform or ''}{f' ({view.describes})' if view.describes else ''}"


def _nodes(view: ClusterView) -> str:
    if view.pilots is not None:
        wrong = [] if view.fault is None else [batch_fault(view.name, view.fault, time.time()).text]
        return "; ".join([pilots.summary(view.mode, view.pilots, view.jobs), *wrong])
    return f"nodes: {listed(view.nodes) or 'none'}"


def _space(view: ClusterView) -> str:
    if view.capacity is None:
        return ""
    share = f", {view.software_share:.0%} of it for software" if view.software_share else ""
    used = "not counted yet" if view.cached is None else f"{size(view.cached)} in use"
    return f"cache of {size(view.capacity)}{share}: {used}"


def researcher(view: ResearcherView) -> list[Cell]:
    """Return the line of a researcher, in columns."""
    return [
        (view.name, "strong"), view.mail or "", count(view.jobs, "job"),
        f"private: {listed(view.clusters)}" if view.clusters else "",
        f"share: {listed(view.shares, 'or')}" if view.shares else "",
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


def throttle(limit: Throttle, used: Sequence[Allowance]) -> list[Cell]:
    """Return the line of a throttle, in columns, with everything that it limits now."""
    running = "" if limit.max_running is None else f"{limit.max_running:,} at once"
    launches = "" if limit.launches is None else f"{limit.launches:,} in {duration(limit.per_s)}"
    here = [each for each in used if each.throttle == limit]
    names = [f"{each.name} {_counts(each)}" for each in here[:MOST]]
    more = [f"{len(here) - MOST:,} more"] if len(here) > MOST else []
    return [(limit.name, "strong"), running, launches, (listed([*names, *more]), "faint")]


SMALLEST_HOLDS = "several throttles apply to some of these: the smallest limit holds"


def overlaps(rules: Sequence[Throttle]) -> bool:
    """Return whether several throttles apply to the same node, researcher or job."""
    return any(
        rule.kind == other.kind and fnmatchcase(rule.pattern, other.pattern)
        for rule, other in permutations(rules, 2)
    )


def _counts(allowance: Allowance) -> str:
    counts = [] if allowance.throttle.max_running is None else [f"{allowance.running:,} on nodes"]
    counts += [] if allowance.throttle.launches is None else [f"{allowance.launched:,} lately"]
    return f"({', '.join(counts)})"


def kind_of_store(entry: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the kind of a store, and where it is."""
    store_kind = next((kind for kind in stores.KINDS if kind in entry), None)
    return ("commands", None) if store_kind is None else (store_kind, entry[store_kind])


def store(name: str, entry: Mapping[str, Any]) -> list[Cell]:
    """Return the line of a store, in columns."""
    kind, location = kind_of_store(entry)
    return [
        (name, "strong"),
        kind,
        location or "",
        (f"can {listed(stores.commands(entry))}", "faint"),
    ]


def deleted_from_store(locator: str, *, would: bool) -> str:
    """Say that a file is removed from its store."""
    return f"would remove `{locator}`" if would else f"removed `{locator}`"
