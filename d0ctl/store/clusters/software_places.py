"""Where each version of software is, by node and by job."""

import json

from msgspec import Struct, field

from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.software import NodeOrder
from d0ctl.store.rows import make
from d0ctl_wrapper.host.software_cache import NOT_INSTALLED


class SoftwarePlace(Struct):
    """A version on a node: since when its archive is there, the latest order about it, and the
    jobs that use it and had packages there, the last at `used`; `same_as` is an older version with
    the same archive, and `copied_for` another one, if that was copied there for it and nothing
    installed this one.
    """

    title: str
    node: str
    cluster: str
    platform: str = ""
    arrived: float | None = None
    order: NodeOrder | None = None
    jobs: list[str] = field(default_factory=list)
    same_as: str | None = None
    copied_for: str | None = None
    used: float | None = None

    @property
    def is_brought_again(self) -> bool:
        """Whether a package has run with it since it was purged."""
        order = self.order
        return bool(
            order and order.verb == "purge" and order.ended and (self.used or 0.0) > order.ended
        )

    @property
    def is_purged(self) -> bool:
        """Whether it was purged, and neither copied nor brought by a package since."""
        order = self.order
        if order is None or order.verb != "purge" or not order.ok or order.ended is None:
            return False
        return not self.is_brought_again and (self.arrived or 0.0) <= order.ended

    @property
    def is_used(self) -> bool:
        """Whether an order or a package has brought it, as far as is known."""
        if self.order is None or self.order.ok == 0:
            return bool(self.jobs)
        return self.order.verb != "purge" or self.is_brought_again


def places(store: Store, title: str | None = None) -> list[SoftwarePlace]:
    """Return the versions on nodes, or those of one title, by title and node."""
    places_by_key: dict[tuple[str, str], SoftwarePlace] = {}
    equal_titles: dict[tuple[str, str], list[str]] = {}

    def entry_of(row: Row) -> SoftwarePlace:
        key = row["title"], row["node"]
        return places_by_key.setdefault(key, SoftwarePlace(*key, row["cluster"]))

    for row in store.rows("software_orders", absent=NOT_INSTALLED):
        entry = entry_of(row)
        order = make(NodeOrder, row)
        newest = entry.order
        if newest is None or (
            order.id > newest.id and not (order.is_in_vain and order.asked == newest.asked)
        ):
            entry.platform, entry.order = row["platform"], order
    for row in store.rows("software_copies"):
        entry = entry_of(row)
        equal_titles[entry.title, entry.node] = json.loads(row["equals"])
        entry.platform, entry.arrived = row["platform"], row["arrived"]
        entry.same_as = row["same_as"]
    for row in store.rows("software_of_jobs"):
        entry = entry_of(row)
        entry.jobs.append(row["job"])
        entry.used = max(entry.used or 0.0, row["used"] or 0.0) or None
    for key, titles in equal_titles.items():
        if not places_by_key[key].is_used:
            used = (each for each in titles if places_by_key[each, key[1]].is_used)
            places_by_key[key].copied_for = next(used, None)
    return [places_by_key[key] for key in sorted(places_by_key) if title in (None, key[0])]
