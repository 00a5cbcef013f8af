"""Copies of files: wanted, arrived, delivered, lost."""

from collections.abc import Iterable

from d0ctl.store.connection import Row, Store

RETRY_S = 5.0
"""How long a transfer that did not work waits, times the tries it has had."""

LONGEST_RETRY_S = 300.0
"""The longest that a transfer waits between two tries."""


def lose(store: Store, copies: Iterable[tuple[int, int]], *, now: float) -> None:
    """Copies, by (file, cluster), that are certainly gone."""
    store.change("clear_lost")
    store.change_many("lose_copy", copies)
    remake(store, now=now)


def remake(store: Store, *, now: float) -> None:
    """Forget the copies in `lost_copy`; what is still needed is made again, up the chain."""
    if store.change("forget_copies"):
        while True:
            store.change("lose_files")
            store.change("wait_again", now=now)
            store.change("remake_packages", now=now)
            if not store.change("lost_after_remake"):
                break
    store.change("release_packages", now=now)


def wanted(store: Store, *, now: float, limit: int) -> list[Row]:
    """Transfers that may be tried now."""
    return store.rows("wanted_transfers", now=now, limit=limit)


def copies(store: Store, file: int) -> list[Row]:
    """Where a file can be had."""
    return store.rows("copies_of", file=file)


def want_here(store: Store, file: int, *, now: float) -> None:
    """Ask for a copy on the control host, through which files between nodes go."""
    store.change("want_here", file=file, now=now)


def arrive(
    store: Store,
    *,
    file: int,
    cluster: int,
    result: int,
    path: str,
    node: int | None,
    size: int,
    checksum: str,
    now: float,
) -> None:
    """A copy is there: packages that waited for it may launch, or end."""
    if not result:
        store.change("keep_location", file=file, cluster=cluster, path=path, node=node, now=now)
        store.change("keep_size", file=file, size=size, checksum=checksum)
    if store.change("end_transfer", file=file, cluster=cluster, result=result):
        if result:
            store.change("delivered", file=file, now=now)
        else:
            store.change("arrived", file=file, cluster=cluster)


def delay(store: Store, *, file: int, cluster: int, result: int, trouble: str, now: float) -> None:
    """A transfer did not work; it is tried again, later each time."""
    store.change(
        "delay_transfer",
        file=file,
        cluster=cluster,
        result=result,
        trouble=trouble,
        now=now,
        step=RETRY_S,
        longest=LONGEST_RETRY_S,
    )
