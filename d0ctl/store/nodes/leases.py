"""Leases: which process drives which node, and which one is the daemon."""

from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.holder import LEASE as LEASE
from d0ctl.store.nodes.holder import holder, is_dead
from d0ctl.store.nodes.holder import job_lease as job_lease


def leases(store: Store) -> list[Row]:
    """Return all leases, with their holders and since when they are taken."""
    return store.rows("leases")


def living_leases(store: Store) -> tuple[str, ...]:
    """Return the names of the leases whose holders live."""
    return tuple(row["name"] for row in leases(store) if living_holder(store, row["name"]))


def take_lease(store: Store, name: str, *, now: float) -> bool:
    """Take a lease that is free, ours, or whose holder is dead; return whether it is ours now."""
    mine = holder()
    previous = store.value("lease_holder", name=name)
    if previous not in (None, mine) and not is_dead(previous):
        return False
    taken = store.value("take_lease", name=name, holder=mine, previous=previous or mine, now=now)
    return bool(taken == mine)


def give_lease(store: Store, name: str) -> None:
    """Release a lease, if it is ours."""
    store.change("give_lease", name=name, holder=holder())


def has_dead_holder(store: Store, name: str) -> bool:
    """Return whether the last holder of a lease ended without giving it back."""
    found = store.value("lease_holder", name=name)
    return found is not None and is_dead(found)


def living_holder(store: Store, name: str) -> str | None:
    """Return the holder of a lease, if it lives."""
    found = store.value("lease_holder", name=name)
    return None if found is None or is_dead(found) else str(found)
