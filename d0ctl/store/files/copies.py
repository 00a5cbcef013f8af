"""Copies of files: wanted, arrived, delivered, lost."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from d0ctl.store.connection import Store, as_json
from d0ctl.store.rows import make_all
from d0ctl.units import count, listed

RETRY_S = 5.0
"""How long a failed transfer waits, times its number of tries."""

LONGEST_RETRY_S = 300.0
"""The longest wait of a transfer between two tries."""

MOST_SPOILT = 3
"""After this many transfers in which another file arrived, no further one is made."""

MOST_NAMED = 2
"""How many files are named that are lost with a node."""

PARKED = 1e12
"""The due time of a transfer without a copy to make it from; a new copy wakes it."""


class OnlyCopies(NamedTuple):
    """The files of which only one node has a copy, their bytes, and how many packages would run
    again without it, by requirement: for those that are needed now.

    Some are `retained` although no package needs them, so that nothing makes them again.
    """

    files: int
    bytes: int
    by_requirement: Mapping[int, int]
    retained: int = 0
    retained_names: Sequence[str] = ()
    """The first of them, as JOB:FILE."""

    @property
    def packages(self) -> int:
        """How many packages would run again."""
        return sum(self.by_requirement.values())

    def retained_files(self, *, can_save: bool) -> str:
        """Say how many are retained, name some, and how these are saved; empty without any."""
        if not self.retained:
            return ""
        names = [f"`{name}`" for name in self.retained_names]
        if (more := self.retained - len(names)) > 0:
            names.append(f"{more:,} more")
        number = count(self.retained, "file")
        job = self.retained_names[0].partition(":")[0]
        how = f"; to save: `result: yes` in the job file, then d0ctl update {job}"
        return (f"{number} with `retain-indef` that no package needs: {listed(names)}"
                f"{how if can_save else ''}")  # fmt: skip


def lose(store: Store, copies: Iterable[tuple[int, int]], *, now: float) -> None:
    """Record copies, by (file, cluster), as certainly gone."""
    store.empty("lost_copy")
    store.change_many("lose_copy", copies)
    spare_delivered(store, now=now)
    remake(store, now=now)


def spare_delivered(store: Store, *, now: float) -> None:
    """Let files whose other copies are lost have the one in results/, if they were delivered."""
    if store.row("some_lost"):
        results = f"{store.home.results}/"
        if store.change("spare_delivered", results=results, now=now):
            store.change("delivered_are_there", results=results, now=now)


def outdate(store: Store, copies: Sequence[tuple[int, int]]) -> None:
    """Record that copies have earlier contents than their files, before `remake` forgets them.

    Packages that start later get the files as they are; what has read these copies is known.
    """
    store.change_many("outdate_copy", copies)
    store.change_many("lose_copy", copies)


def lose_all_of_node(store: Store, *, cluster: int, node: int, now: float) -> None:
    """Count copies that only this node has as lost."""
    store.empty("lost_copy")
    store.change("forget_node_copies", cluster=cluster, node=node)
    store.change("forget_node_transfers", cluster=cluster, node=node)
    spare_delivered(store, now=now)
    remake(store, now=now)


def only_on_nodes(store: Store, nodes: Iterable[int], others: Iterable[int]) -> OnlyCopies:
    """Count the made files of which these nodes have a copy, and none of the other clusters."""
    lists = {"nodes": as_json([*nodes]), "others": as_json([*others])}
    (row,) = store.rows("files_only_on_nodes", **lists, named=MOST_NAMED)
    packages = {int(id): number for id, number in json.loads(row["packages"]).items()}
    return OnlyCopies(
        row["files"], row["bytes"], packages, row["retained"], json.loads(row["names"])
    )


def is_doubted(store: Store, node: int) -> bool:
    """Return whether the cache of a node is in doubt."""
    return store.value("is_doubted", node=node) is not None


def lose_missing(store: Store, *, node: int, since: float, now: float) -> None:
    """Count copies as lost that a node has missed since a time, and trust its cache again."""
    store.empty("lost_copy")
    store.change("lose_missing_copies", node=node, since=since)
    store.change("trust_cache", node=node)
    spare_delivered(store, now=now)
    remake(store, now=now)


def remake(store: Store, *, now: float) -> None:
    """Forget the copies in `lost_copy`; those still needed are made again, up the chain.

    The files of a dropped line are not: packages that can run without them continue.
    """
    if store.row("some_lost"):
        store.change("forget_copies")
        while True:
            store.change("lose_files")
            remade = store.change("remake_packages", now=now)
            store.change("wait_again", now=now)
            if not store.change("lost_after_remake") and not remade:
                break
        _keep_remakes(store, now)
        store.change("plan_anew", now=now)
        store.change("end_lost_transfers")
        store.change("leave_out_lost")
        store.empty("lost_copy")
    store.change("release_packages", now=now)


def _keep_remakes(store: Store, now: float) -> None:
    """Record as actions that packages are remade for readers in other jobs."""
    for row in store.rows("remade_for_jobs", now=now):
        if not store.change("extend_remake", **dict(row), now=now):
            store.change("keep_remake", **dict(row), now=now)


class WantedTransfer(Struct, frozen=True, gc=False):
    """A transfer that is due, with the facts of its file."""

    file_id: int
    cluster_id: int
    result: int
    tries: int
    name: str
    size: int | None
    checksum: str | None
    package_id: int | None
    job_id: int
    job: str
    locator: str | None
    size_asked: int | None
    checksum_asked: str | None
    is_result: int
    here: str | None
    """The path of a copy on the control host."""


class CopySource(Struct, frozen=True):
    """A copy of a file, and a node that can read it."""

    cluster_id: int
    path: str
    node_id: int | None
    node: str | None
    state: str | None
    doubted: float | None


def wanted(store: Store, *, now: float, limit: int) -> list[WantedTransfer]:
    """Return transfers that may be tried now."""
    return make_all(WantedTransfer, store.rows("wanted_transfers", now=now, limit=limit))


def spare_results(results: str, inputs: Sequence[dict[str, Any]]) -> None:
    """Have results on this machine copied before they are read: they belong to the user."""
    for link in inputs:
        if (link["path"] or "").startswith(results):
            link["writable"] = True


def copies(store: Store, file: int) -> list[CopySource]:
    """Return the sources of a file."""
    return make_all(CopySource, store.rows("copies_of", file=file))


def want_here(store: Store, file: int, cluster: int, result: int, *, now: float) -> None:
    """Request a copy on the control host first, through which files between nodes go."""
    store.change("want_here", file=file, now=now)
    postpone(store, file, cluster, result, until=PARKED)


def postpone(store: Store, file: int, cluster: int, result: int, *, until: float) -> None:
    """Leave a transfer alone for a while, so that it does not block others."""
    store.change("postpone_transfer", file=file, cluster=cluster, result=result, until=until)


def wake(store: Store, *, now: float, within: float) -> None:
    """Try transfers again that were postponed until a copy comes."""
    store.change("wake_busy_transfers", now=now, until=now + within)


def give_up(store: Store, file: int, cluster: int) -> bool:
    """Give up a file from outside that is gone; the packages that read it will report it."""
    if not store.row("is_outside", file=file):
        return False
    if store.change("end_transfer", file=file, cluster=cluster, result=0):
        store.empty("arrived_copy")
        store.change_many("add_arrived", [Arrival(file, cluster, 0, "", None, 0, "")])
        store.change("arrived")
    return True


class Arrival(NamedTuple):
    """A copy that has arrived, in the order of the columns of `arrived_copy`."""

    file: int
    cluster: int
    result: int
    path: str
    node: int | None
    size: int
    checksum: str
    inode: int | None = None
    mtime: int | None = None


def arrive(store: Store, arrivals: Iterable[Arrival], *, now: float) -> list[int]:
    """Record copies that are there: packages that waited for them may launch, or end.

    A copy of a file that is being made again meanwhile does not count. Returned are the files from
    outside that have former contents again.
    """
    store.empty("arrived_copy")
    store.change_many("add_arrived", arrivals)
    store.change("postpone_outdated", now=now)
    store.change("forget_outdated")
    outdated = [tuple(row) for row in store.rows("outdated_by_arrived")]
    store.change("keep_arrived_locations", now=now)
    store.change("confirm_outdated")
    store.change("renew_arrived_copies", now=now)
    store.change("keep_arrived_files", now=now)
    returned = [row["id"] for row in store.rows("returned_by_arrived", now=now)]
    store.change("wake_arrived_transfers", parked=PARKED)
    store.change("forget_unwanted")  # the rest is for copies that packages wait for
    store.change("end_arrived_transfers")
    store.change("keep_forwarded")
    store.change("delivered", now=now)
    store.change("arrived")
    store.change("stream_arrived_inputs")
    if outdated:
        store.empty("lost_copy")
        outdate(store, outdated)
        remake(store, now=now)
    return returned


def has_failed_for_good(store: Store, file: int, cluster: int, result: int) -> bool:
    """Return whether a transfer has failed so often that the copy on the node counts as lost."""
    row = store.row("transfer_tries", file=file, cluster=cluster, result=result)
    return row is not None and row["tries"] + 1 >= MOST_SPOILT


def has_due_result(store: Store, job: int) -> bool:
    """Return whether a result of a successful package is to be copied, and no try has failed."""
    return store.row("has_due_result", job=job) is not None


def delay(store: Store, *, file: int, cluster: int, result: int, error: str, now: float) -> None:
    """Record that a transfer failed; it is tried again, with growing delays."""
    store.change(
        "delay_transfer",
        file=file,
        cluster=cluster,
        result=result,
        last_error=error,
        now=now,
        step=RETRY_S,
        longest=LONGEST_RETRY_S,
    )


def forget_idle(store: Store) -> None:
    """Forget waiting transfers for packages that went elsewhere."""
    store.change("drop_idle_transfers")
