"""What a restored backup means: for running packages, and for what the home has done since."""

import sqlite3
from pathlib import Path
from typing import NamedTuple

from d0ctl.config import Home
from d0ctl.store.backup import newest_attempt, site_of
from d0ctl.store.clusters.other_homes import driven_elsewhere, home_in_use
from d0ctl.store.connection import Store
from d0ctl.store.files.moved_home import reading
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import copied_home, has_database, successor


class Difference(NamedTuple):
    """What the present database of a site has and its backup has not, and the other way round."""

    lost_jobs: list[str]
    lost_packages: int
    """The packages of the lost jobs."""
    changed_packages: int
    """Packages of other jobs that have changed since."""
    actions: int
    """What people have done since."""
    former_jobs: list[str]
    """Jobs that only the backup has."""
    lost_nodes: list[str]
    former_nodes: list[str]


class Newer(NamedTuple):
    """The packages that were launched after a backup."""

    packages: int
    running: int
    """How many of them run as an attempt that the backup does not have."""


class Stranded(NamedTuple):
    """Packages that run on nodes of this machine in the folder of another home."""

    root: Path
    """That home."""
    is_there: bool
    nodes: list[str]
    """Those of these nodes that are not drained."""
    packages: list[str]


class Consequences(NamedTuple):
    """What a restored backup means."""

    last: float | None
    """The time of the last entry of the backup."""
    newer: Newer | None
    """The packages that were launched after it; None if no present database is known."""
    driver: Home | None
    """Another home that drives the nodes of the site."""
    difference: Difference | None
    """What the present database has and the backup lacks; None if that can't be read."""
    first: Home | None
    """The other home in use: the one that has taken over from this one, or that the backup is of
    unless this one was driven since.
    """
    stranded: Stranded | None
    """Packages that this home would not find, and start again."""


def consequences(home: Home, source: Path) -> Consequences:
    """Compare a backup with the present database: that of the home, or of the one that drives or
    that the backup is of, if the home has none or is a copy that nobody has driven.
    """
    site = site_of(source)
    driver, in_use = driven_elsewhere(home, site), home_in_use(home, site)
    stranded = None
    with reading(source) as backup:
        last: float | None = backup.value("newest_entry")
        first = None if _is_first(home) else _copied(home, backup)
        if first is None and in_use is not None and has_database(in_use):
            first = Home(in_use)
        present = driver or first or (home if home.database.exists() else None)
        if first is None and home.database.exists():
            present = home
        if present is None:
            return Consequences(last, None, driver, None, first, _stranded(backup, home))
        try:
            with reading(present.database) as store:
                stranded = _stranded(store, home)
                [row] = store.rows("launched_after", last=newest_attempt(source))
                newer = Newer(row["packages"], row["running"])
                lost = _difference(store, backup, last or 0.0)
        except sqlite3.Error:  # it is broken, so a backup is needed, or it is another user's
            return Consequences(last, None, driver, None, first, stranded)
    return Consequences(last, newer, driver, lost, first, stranded)


def _is_first(home: Home) -> bool:
    """Return whether a home has a database that is no copy of another home's, and is in use."""
    if not home.database.exists() or successor(home) is not None:
        return False
    try:
        with reading(home.database) as store:
            copied = copied_home(store)
            return copied is None or not copied.is_there
    except sqlite3.Error:
        return True


def _copied(home: Home, backup: Store) -> Home | None:
    """Return the other home that a backup is of, if it is still there."""
    copied = copied_home(Store(home, backup.connection))
    return None if copied is None or not copied.is_there else Home(copied.root)


def _stranded(store: Store, home: Home) -> Stranded | None:
    """Return the running packages of a database whose folders are in its home, if that is not
    `home`, as with the node `localhost`.
    """
    recorded = store.value("last_home")
    root = Path(recorded or store.home.root).resolve()
    if root == home.root.resolve():
        return None
    found = [row for row in store.rows("live_on_this_machine")
             if Path(row["base"]).resolve().is_relative_to(root)]  # fmt: skip
    nodes = sorted({row["node"] for row in found if not row["drained"]})
    packages = [row["path"] for row in found]
    return Stranded(root, has_database(root), nodes, packages) if found else None


def _difference(store: Store, backup: Store, last: float) -> Difference:
    present = {row["id"]: row for row in store.rows("sizes_of_jobs")}
    then = {row["id"]: row["name"] for row in backup.rows("sizes_of_jobs")}
    lost = [row for job, row in present.items() if job not in then]
    nodes, nodes_then = _nodes(store), _nodes(backup)
    return Difference(
        lost_jobs=[row["name"] for row in lost],
        lost_packages=sum(row["packages"] for row in lost),
        changed_packages=sum(
            row["packages"]
            for row in store.rows("changed_since", time=last)
            if row["job_id"] in then
        ),
        actions=store.value("actions_since", time=last),
        former_jobs=[name for job, name in then.items() if job not in present],
        lost_nodes=sorted(nodes - nodes_then),
        former_nodes=sorted(nodes_then - nodes),
    )


def _nodes(store: Store) -> set[str]:
    return {row.name for row in registry.nodes(store)}
