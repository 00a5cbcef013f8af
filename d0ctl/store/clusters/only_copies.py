"""The files of which only one node, or its cluster, has copies."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from d0ctl.model import Node
from d0ctl.store.connection import Store, as_json
from d0ctl.store.files import copies
from d0ctl.store.files.copies import OnlyCopies
from d0ctl.store.nodes import registry
from d0ctl.units import clean, count, listed, size

MOST_NAMED = 3
"""How many jobs are named that need such files."""


class NeededFiles(NamedTuple):
    """The files of which only one node has copies and that are still needed: their number, their
    bytes, one of them, jobs that need them, the first for each file, and jobs of which an update
    can copy them.
    """

    files: int
    bytes: int
    example: str
    jobs: Sequence[str]
    makers: Sequence[str]

    def __str__(self) -> str:
        names = [f"`{name}`" for name in self.jobs[:MOST_NAMED]]
        jobs, need = ("job", "needs") if len(names) == 1 else ("jobs", "need")
        if (more := len(self.jobs) - MOST_NAMED) > 0:
            names.append(f"{more:,} more")
        number = f"{count(self.files, 'file')}, {size(self.bytes)}"
        example = f"{'such as ' * (self.files > 1)}`{clean(self.example)}`"
        return f"only it has {number}, {example}, that {jobs} {listed(names)} still {need}"

    def awaited(self, until: str, *, can_save: bool) -> str:
        """Say which these are, that packages wait for them for a time, and how they are copied."""
        them = "it" if self.files == 1 else "them"
        updates = "; ".join(f"d0ctl update {name}" for name in self.makers[:MOST_NAMED])
        how = f"to copy {them} first: `result: yes` in the job file, then {updates}"
        saving = f"; {how}" if can_save and updates else ""
        return f"{self}: packages wait for {them} {until}{saving}"


def of_node(store: Store, row: Node, earlier: Sequence[str] = ()) -> OnlyCopies | None:
    """Count the files that only a node has after others are gone; None if its copies stay."""
    found = _only_its_cluster(store, row, earlier)
    return None if found is None else copies.only_on_nodes(store, *found)


def needed(store: Store, row: Node) -> NeededFiles | None:
    """Count those that packages have still to read, or that are results; None if there are none."""
    if (found := _only_its_cluster(store, row, ())) is None:
        return None
    nodes, others = map(as_json, found)
    rows = store.rows("needed_only_on_nodes", nodes=nodes, others=others)
    if not rows:
        return None
    makers = dict.fromkeys(name for row in rows for name in json.loads(row["makers"]))
    return NeededFiles(sum(row["files"] for row in rows), sum(row["bytes"] for row in rows),
                       rows[0]["example"], [row["job"] for row in rows], [*makers])  # fmt: skip


def clusters_without(store: Store, gone: Sequence[str]) -> set[int]:
    """Return the clusters that have a node besides these, or are this machine."""
    others = {row.cluster_id for row in registry.nodes(store) if row.name not in gone}
    return {registry.CONTROL, *others}


def _only_its_cluster(
    store: Store, row: Node, earlier: Sequence[str]
) -> tuple[list[int], list[int]] | None:
    """Return the nodes of its cluster that are gone with it, and the clusters that remain.

    It is None if another node, or this machine, can read its cache.
    """
    gone = (*earlier, row.name)
    remaining = clusters_without(store, gone)
    if row.cluster_id in remaining:
        return None
    nodes = [node.id for node in registry.nodes(store)
             if node.cluster_id == row.cluster_id and node.name in gone]  # fmt: skip
    return nodes, [*remaining]
