"""Packages with an input of which only nodes that are down have copies: they get no other node."""

from collections.abc import Callable, Sequence

from d0ctl.store.connection import Store, as_json

MOST = 1000
"""How many packages with a requirement are looked at in a pass once one of them has no node."""


def clusters_down(store: Store) -> list[int]:
    """Return the clusters whose copies nobody can read now."""
    return [row[0] for row in store.rows("clusters_down")]


def unassign(store: Store, *, now: float) -> None:
    """assigned -> ready: they would keep places from packages that can start."""
    if clusters := clusters_down(store):
        store.change("unassign_without_copy", clusters=as_json(clusters), now=now)


class ReachableInputs:
    """Lists ready packages in one pass, without those that wait for nodes that are down.

    These are set aside as they are found. They are among the oldest again once such a node is back
    or removed, or an input has another copy.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        clusters = clusters_down(store)
        self._clusters = as_json(clusters) if clusters else None
        self.has_set_aside = False
        """Whether fewer packages are ready than the pass counts with."""

    def oldest(
        self, find: Callable[[Store, int, int], list[int]], requirement: int, limit: int
    ) -> Sequence[int]:
        """Return the oldest packages with a requirement, as `find` lists them, that can start.

        There may be more: a pass sets aside a limited number.
        """
        packages = find(self._store, requirement, limit)
        if not self._set_aside(packages):
            return packages
        looked_at = find(self._store, requirement, MOST)
        self._set_aside(looked_at)
        return [package for package in find(self._store, requirement, limit)
                if package in looked_at]  # fmt: skip

    def _set_aside(self, packages: Sequence[int]) -> bool:
        if self._clusters is None or not packages:
            return False
        asked = {"packages": as_json(packages), "clusters": self._clusters}
        self._store.change("find_delivered", results=f"{self._store.home.results}/", **asked)
        number = self._store.change("set_aside", **asked)
        self.has_set_aside = self.has_set_aside or bool(number)
        return bool(number)
