"""The software catalogue for scheduler and launches."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from d0ctl.model import NodeCapacity
from d0ctl.schedule.node_state import NodeState
from d0ctl.schedule.resources import NodeRoom, Requirement
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.site import setting
from d0ctl.store.rows import make
from d0ctl.units import listed

Researchers = Mapping[str, Mapping[str, Any]]
"""The site file's researchers, by id: `mail`, an address, and `clusters`, a list of names."""

NONE_BARRED: Mapping[int, str] = {}

NOTHING = "[]"
"""The value in a requirement without software, or without services."""


def services_of(row: Row | Mapping[str, Any]) -> tuple[str, ...]:
    """Return the services that a node offers, its own and those of its cluster."""
    if row["services"] == row["cluster_services"] == NOTHING:
        return ()
    return (*json.loads(row["services"]), *json.loads(row["cluster_services"]))


class CatalogueEntry(Struct, frozen=True):
    """A version of some software for a platform, for display."""

    title: str
    name: str
    version: str
    platform: str
    script: str | None
    archive: str | None
    size: int | None
    checksum: str | None
    manifest: str | None
    needs: str
    runtime: float | None


def entries(store: Store) -> list[CatalogueEntry]:
    """Return the whole catalogue."""
    return [make(CatalogueEntry, row) for row in store.rows("software")]


def has_entry(store: Store, name: str, version: str, platform: str) -> bool:
    """Return whether the catalogue has a version of some software for a platform."""
    return bool(store.row("software_entry", name=name, version=version, platform=platform))


def user_of(store: Store, title: str) -> str | None:
    """Return a job that has not ended and may still run this software."""
    job: str | None = store.value("software_in_use", title=title)
    return job


def user_on(store: Store, node: int, title: str) -> str | None:
    """Return a launched package on a node that uses this software."""
    path: str | None = store.value("software_live_on", node=node, title=title)
    return path


def researcher_of(originator: str, researchers: Researchers) -> str | None:
    """Return the owner of the jobs of this originator: an id, its mail, or the id and a host."""
    if originator in researchers:
        return originator
    for name, entry in researchers.items():
        if entry.get("mail") == originator:
            return name
    account = originator.partition("@")[0]
    return account if account in researchers else None


def owner_of(originator: str, researchers: Researchers) -> str:
    """Return the same; of one whom the site does not list, the originator."""
    return researcher_of(originator, researchers) or originator


def names_of(originator: str, researchers: Researchers) -> tuple[str, ...]:
    """Return the names by which a share may match the jobs of an originator."""
    who = researcher_of(originator, researchers)
    return (originator,) if who in (None, originator) else (originator, str(who))


def owners_of(cluster: str, researchers: Researchers) -> list[str]:
    """Return the researchers who may use a private cluster."""
    return [name for name, entry in researchers.items() if cluster in entry.get("clusters", ())]


def barred(private: Iterable[str], researchers: Researchers, originator: str) -> dict[str, str]:
    """Return the private clusters that an originator may not use, and why not."""
    asking, found = researcher_of(originator, researchers), {}
    for cluster in private:
        owners = owners_of(cluster, researchers)
        if asking not in owners:
            whose = listed(owners) if owners else "nobody yet"
            found[cluster] = f"cluster `{cluster}` is private to {whose}"
    return found


class Catalogue:
    """Software and researchers of the site, read once, and only if needed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[str, list[Row]] | None = None
        self._private: list[Row] | None = None
        self._barred: dict[int, Mapping[int, str]] = {}

    def barred(self, originator: str) -> Mapping[int, str]:
        """Return the clusters that an originator may not use, and why not."""
        if self._private is None:
            self._private = self._store.rows("private_clusters")
        if not self._private:
            return NONE_BARRED
        ids = {row["name"]: row["id"] for row in self._private}
        researchers = setting(self._store, "researchers") or {}
        return {ids[name]: why for name, why in barred(ids, researchers, originator).items()}

    def barred_of_job(self, job: int) -> Mapping[int, str]:
        """Return the clusters that the originator of a job may not use, and why not."""
        if job not in self._barred:
            if self._private is None:
                self._private = self._store.rows("private_clusters")
            originator = self._store.value("originator_of_job", job=job) if self._private else ""
            self._barred[job] = self.barred(originator)
        return self._barred[job]

    def _all(self) -> dict[str, list[Row]]:
        if self._read is None:
            self._read = {}
            for row in self._store.rows("software"):
                self._read.setdefault(row["title"], []).append(row)
        return self._read

    def titles(self) -> dict[str, bool]:
        """Return all software, and whether it has a script for each of its platforms."""
        return {title: all(row["script"] for row in rows) for title, rows in self._all().items()}

    def runtime(self, title: str) -> float | None:
        """Return the run time of software on a standard node; None if the catalogue has none."""
        known = [row["runtime"] for row in self._all().get(title, ()) if row["runtime"] is not None]
        return float(known[0]) if known else None

    def entries(self, title: str) -> list[Row]:
        """Return the entries of some software, one per platform."""
        return self._all().get(title, [])

    def entry(self, title: str, platform: str | None) -> Row | None:
        """Return the entry for a platform, else the one for any."""
        rows = {row["platform"]: row for row in self.entries(title)}
        return rows.get(platform or "") or rows.get("")

    def platforms(self, titles: str) -> Mapping[str, Collection[str] | None]:
        """Return for each title of a JSON list the platforms that it exists for; None for any."""
        if titles == NOTHING:
            return {}
        found = {t: frozenset(row["platform"] for row in self.entries(t)) for t in _list(titles)}
        return {title: None if "" in rows else rows for title, rows in found.items()}

    def needs(self, titles: str, services: str) -> tuple[str, ...]:
        """Return the services of a JSON list, and those that the software needs."""
        if titles == services == NOTHING:
            return ()
        asked = dict.fromkeys(_list(services))
        for title in _list(titles):
            for row in self.entries(title):
                asked.update(dict.fromkeys(_list(row["needs"])))
        return tuple(asked)


def _list(text: str) -> list[str]:
    found: list[str] = json.loads(text)
    return found


def requirement_of(row: Row | Mapping[str, Any], catalogue: Catalogue, **more: Any) -> Requirement:
    """Return a requirement for the scheduler, with other values as given."""
    return make(
        Requirement,
        row,
        nodes=json.loads(row["nodes"]),
        exclude_nodes=json.loads(row["exclude_nodes"]),
        software=catalogue.platforms(row["software"]),
        needs=catalogue.needs(row["software"], row["needs"]),
        early=bool(row["early"]),
        fetches=bool(row["fetches"]),
        stage=row["stage_id"],
        job=row["job_id"],
        barred=catalogue.barred_of_job(row["job_id"]),
        **more,
    )


def may_fit_nowhere(store: Store, job: int, nodes: Iterable[NodeState]) -> bool:
    """Return whether packages of a job that are not ready may fit on none of these nodes."""
    rows = [row for row in store.rows("requirements_of_job", job=job) if not row["ready"]]
    catalogue, known = Catalogue(store), list(nodes)
    others = (requirement_of(row, catalogue) for row in rows)
    return any(all(node.misfit(other) for node in known) for other in others)


def requirement_of_package(store: Store, package: int) -> Requirement:
    """Return the requirement of a package, as if it were the only one that is ready."""
    row = store.row("requirement_of_package", package=package)
    assert row is not None
    return requirement_of(row, Catalogue(store), ready=1)


def room_of(row: Row | NodeCapacity, **more: Any) -> NodeRoom:
    """Return a node as the scheduler sees it, from the columns of the same names."""
    columns = {**asdict(row), "disk_free": row.disk_spare} if isinstance(row, NodeCapacity) else row
    return make(NodeRoom, columns, services=services_of(columns), **more)
