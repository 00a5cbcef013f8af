"""How full caches become in the next hours, and which of them will overflow."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from d0ctl.schedule.disk_profile import Alike, Cache, Change, Profile, planned, profiles
from d0ctl.schedule.estimates import sizes_of
from d0ctl.store.connection import Row, Store
from d0ctl.store.due_times import left_s
from d0ctl.store.nodes import placement

MOST_LIVE = 5_000
"""How many packages on nodes are considered."""

MOST_KINDS = 100
"""For how many requirements with ready packages inputs are considered, the most urgent first."""

SAMPLE = 3
"""How many packages of each are considered."""


def forecast(store: Store, *, now: float) -> list[Profile]:
    """Return the content of each cache, what packages will add, and what is removed after them."""
    caches = [_cache(row) for row in store.rows("caches")]
    nodes, busy = placement.nodes(store, now=now), placement.busy(store, now=now)
    ready, others = _ready(store), [*_on_the_way(store), *_live(store, now)]
    return profiles(caches, [*others, *planned(nodes, busy, ready, others)])


def _cache(row: Row) -> Cache:
    space, free, used = row["space"], row["free"], row["used"] or 0
    is_short = space is not None and free is not None and used + free < space
    return Cache(row["id"], row["name"], space, used, free if is_short else None)


def _on_the_way(store: Store) -> list[Change]:
    """Return the files in transit to each cache, by the rate of its link."""
    links = placement.links(store)
    in_transit = Counter[int]()
    for row in store.rows("transfer_backlog"):
        in_transit[row["cluster_id"]] += row["bytes"]
    return [
        Change(links.seconds(cluster, 0, 1), cluster, size) for cluster, size in in_transit.items()
    ]


def _live(store: Store, now: float) -> list[Change]:
    """Return what packages on nodes leave when they end, and what is removed then."""
    rows = store.rows("live_on_caches", limit=MOST_LIVE)
    freed = _freed(store, [row["id"] for row in rows])
    changes = []
    for row in rows:
        left, sizes = left_s(row, now), sizes_of(row["sizes"])
        made = sizes.output.middle * row["staying"] if sizes.output else 0.0
        changes.append(Change(left, row["cluster_id"], made))
        if row["queued"] and sizes.work:
            changes += [Change(0.0, row["cluster_id"], sizes.work.middle),
                        Change(left, row["cluster_id"], -sizes.work.middle)]  # fmt: skip
        changes += [Change(left, at, -size) for at, size in freed.get(row["id"], {}).items() if at]
    return changes


def _ready(store: Store) -> list[Alike]:
    """Return the requirements with ready packages, and the needs of one of these."""
    alike = []
    for wanted in placement.requirements(store)[:MOST_KINDS]:
        if wanted.early or wanted.stay:
            continue
        row = store.row("sizes_of_requirement", requirement=wanted.id)
        assert row is not None
        sizes = sizes_of(row["sizes"])
        packages = placement.oldest(store, wanted.id, SAMPLE)
        inputs, freed = Counter[int](), Counter[int]()
        for package in packages if wanted.fetches else ():
            inputs.update(placement.places_of(store, package)[0])
        for of_package in _freed(store, packages).values():
            freed.update(of_package)
        number = max(1, len(packages))
        alike.append(Alike(
            wanted, _mean(inputs, number), _mean(freed, number),
            sizes.work.middle if sizes.work else 0.0,
            sizes.output.middle * row["staying"] if sizes.output else 0.0,
        ))  # fmt: skip
    return alike


def _mean(total: Mapping[int, int], number: int) -> dict[int, float]:
    return {key: value / number for key, value in total.items()}


def _freed(store: Store, packages: Sequence[int]) -> dict[int, dict[int, int]]:
    """Return for packages the bytes that no package needs after them, by cluster; 0 for all."""
    cached_bytes: dict[int, dict[int, int]] = {}
    for row in store.rows("freed_after", packages=json.dumps(packages)):
        cached_bytes.setdefault(row["package_id"], {})[row["cluster_id"]] = row["bytes"]
    return cached_bytes


def keep(store: Store, profiles: Sequence[Profile], *, now: float) -> None:
    """Record which caches will overflow, for the commands that show it."""
    store.change("forget_overflows")
    store.change_many(
        "keep_overflow",
        ((view.cache.cluster, now + view.full_s, view.cache.holds, view.peak[1], now + view.peak[0])
         for view in profiles if view.full_s is not None),
    )  # fmt: skip
