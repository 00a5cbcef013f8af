"""Caches in doubt: most of their files are missing, perhaps only because a disk is not mounted.

Until the files are back, or a person accepts the loss, no copy there counts as lost, and the node
takes no new packages.
"""

from msgspec import Struct

from d0ctl.errors import Refused
from d0ctl.model import Node
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import copies
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.rows import make
from d0ctl.units import count

FEW = 20
"""This many missing copies at once are no reason to doubt a cache: they are soon made again."""

MOST = 0.5
"""A cache is in doubt if more than this fraction of its copies is missing."""


class MissingCopies(Struct, frozen=True):
    """The copies that are missing in a cache in doubt; `last` have no other copy."""

    copies: int
    size: int | None
    last: int


def is_doubtful(missing: int, copies: int) -> bool:
    """Return whether so much is missing that a fault of the whole cache is more likely."""
    return missing > FEW and missing > MOST * copies


def is_still_doubtful(store: Store, row: Node, number: int) -> bool:
    """Return whether most copies that are missing in a cache in doubt, now a number, are not back.

    Copies that were removed meanwhile, as no package needs them, are not: the fault is the same.
    """
    return number > MOST * missing(store, row).copies


def begin(store: Store, row: Node, missing: int, known: int, *, since: float, now: float) -> str:
    """Doubt the cache of a node, drain the node, and return why."""
    note = f"{missing:,} of {count(known, 'copy', 'copies')} are missing in its cache, all at once"
    store.change("doubt_cache", node=row.id, note=note, since=since)
    _keep(store, "node drain", row.name, note, now)
    return note


def end(store: Store, row: Node, *, now: float) -> None:
    """Trust a cache whose files are back, or of which no package needs a missing one."""
    why = "the files in its cache are back"
    if not missing(store, row).copies:
        why = "none of the files that are missing in its cache is needed any more"
    store.change("forget_missing_copies", node=row.id, since=row.doubted)
    store.change("trust_cache", node=row.id)
    _keep(store, "node resume", row.name, why, now)


def _keep(store: Store, verb: str, name: str, note: str, now: float) -> None:
    keep_action(store, verb=verb, target=name, actor="d0ctl", note=note, packages=0, now=now)


def nodes(store: Store) -> list[Row]:
    """Return the nodes whose caches are in doubt."""
    return store.rows("doubted_nodes")


def missing(store: Store, row: Node) -> MissingCopies:
    """Return what would be lost. Raises Refused if the cache of the node is not in doubt."""
    if row.doubted is None:
        raise Refused(f"the cache of node `{row.name}` is not in doubt: nothing to accept",
                      hint=f"d0ctl why --node {row.name}")  # fmt: skip
    missing = store.row("missing_copies", node=row.id, since=row.doubted)
    assert missing is not None
    return make(MissingCopies, missing)


def accept(store: Store, row: Node, *, now: float) -> None:
    """Count the missing copies as lost, and let the node take packages again."""
    if row.doubted is not None:
        copies.lose_missing(store, node=row.id, since=row.doubted, now=now)


def check_settled(row: Node) -> None:
    """Raise Refused if the cache of a node is in doubt."""
    if row.doubted is not None:
        name = row.name
        raise Refused(f"node `{name}` can't be resumed: {row.drain_note}",
                      hint=f"d0ctl node accept-loss {name}   # or mount its disk")  # fmt: skip
