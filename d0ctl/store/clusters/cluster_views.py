"""Clusters with their contents, and researchers with their jobs and clusters (InGrid)."""

import json
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from d0ctl.store.attempts.history import share_usage
from d0ctl.store.clusters.pilots import BatchJob, alive, direct_jobs
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import owner_of, owners_of
from d0ctl.store.nodes.site import Fault, fault_of, setting
from d0ctl_wrapper.host.software_cache import NOT_INSTALLED


class ClusterView(Struct, frozen=True):
    """A cluster with its nodes, its owners if it is private, and the software on its nodes.

    Sizes are in bytes; `cached` is None if they are not counted.
    """

    name: str
    platform: str | None
    private: bool
    capacity: int | None
    software_share: float
    cached: int | None
    nodes: tuple[str, ...]
    researchers: tuple[str, ...]
    software: tuple[str, ...]
    pilots: tuple[BatchJob, ...] | None = None
    """The pilots of a batch system."""
    mode: str = "pilot"
    jobs: tuple[BatchJob, ...] = ()
    """The jobs of single packages."""
    fault: Fault | None = None
    """Why it starts no pilots."""
    describes: str | None = None
    """The site file's description of the platform."""


class ResearcherView(Struct, frozen=True):
    """A researcher of the site file, or an originator that it does not name."""

    name: str
    mail: str | None
    clusters: tuple[str, ...]
    jobs: int
    shares: tuple[str, ...] = ()
    """The shares of the jobs, some of them by the names of jobs."""


def clusters(store: Store) -> list[ClusterView]:
    """Return the clusters that have nodes or are in the site file, by name."""
    nodes = _grouped(store.rows("nodes_of_clusters"), "name")
    software = _grouped(store.rows("software_there", absent=NOT_INSTALLED), "title")
    said = setting(store, "researchers") or {}
    platforms = setting(store, "platforms") or {}
    views = [
        ClusterView(
            row["name"], row["platform"], bool(row["private"]), row["capacity"],
            row["software_share"], row["cached"] if row["capacity"] is not None else None,
            nodes.get(row["id"], ()), tuple(owners_of(row["name"], said)),
            software.get(row["id"], ()),
            describes=platforms.get(row["platform"]), **_batch_system(store, row),
        )
        for row in store.rows("clusters")
        if row["id"] in nodes or row["applied"]
    ]  # fmt: skip
    return sorted(views, key=lambda view: view.name)


def _batch_system(store: Store, row: Row) -> dict[str, Any]:
    if row["pilots"] is None:
        return {}
    return {
        "pilots": tuple(alive(store, row["id"])), "fault": fault_of(row),
        "mode": json.loads(row["pilots"]).get("mode", "pilot"),
        "jobs": tuple(direct_jobs(store, row["id"])),
    }  # fmt: skip


def researchers(store: Store) -> list[ResearcherView]:
    """Return the researchers of the site file, then the other originators of jobs."""
    said = setting(store, "researchers") or {}
    jobs: dict[str, int] = dict.fromkeys(said, 0)
    for row in store.rows("originators"):
        name = owner_of(row["originator"], said)
        jobs[name] = jobs.get(name, 0) + row["jobs"]
    shares = share_usage.tree(store)
    researchers = []
    for name, number in jobs.items():
        entry = said.get(name, {})
        names = (name, *([entry["mail"]] if "mail" in entry else []))
        researchers.append(ResearcherView(
            name, entry.get("mail"), tuple(entry.get("clusters", ())), number,
            tuple(shares.paths_for(names)) if shares is not None else (),
        ))  # fmt: skip
    return researchers


def _grouped(rows: Iterable[Row], column: str) -> dict[int, tuple[str, ...]]:
    names_by_cluster: dict[int, tuple[str, ...]] = {}
    for row in rows:
        names_by_cluster[row["cluster_id"]] = (
            *names_by_cluster.get(row["cluster_id"], ()),
            row[column],
        )
    return names_by_cluster
