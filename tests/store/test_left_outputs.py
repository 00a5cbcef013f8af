"""Outputs that failed packages leave on a node count in a cache with a capacity."""

from d0ctl.store import Store
from d0ctl.store.clusters import capacity
from d0ctl.store.jobs import unneeded_files
from tests.support.building import production
from tests.support.rows import change, value
from tests.support.site import Site

DAY_S = 86400.0


def test_outputs_of_failed_packages_count_until_they_are_removed(store: Store) -> None:
    site = Site.of(store)
    site.submit(production(lines=2))
    site.up()
    with store.writing():
        change(store, "cluster", {"id": 1}, capacity=1000)
        capacity.count(store)
    seen = []

    def look() -> None:
        """See the count, and whether counting anew finds the same."""
        kept = value(store, "cluster", "cached", id=1)
        with store.writing():
            capacity.count(store)
        seen.append((kept, value(store, "cluster", "cached", id=1)))

    for number, left in ((1, 300), (2, 40)):
        site.fail(f"prod/1/{number}/1", "no such calibration")
        attempt = value(store, "attempt", "max(id)")
        change(
            store, "attempt", {"id": attempt}, left_size=left, retained='{"left": [], "files": []}'
        )
    look()
    with store.writing():
        ended = value(store, "attempt", "max(ended)")
        unneeded_files.expire(store, before=ended + DAY_S, now=ended + DAY_S)
    look()

    assert seen == [(340, 340), (0, 0)]
