"""Which nodes get packages, and why: a row for many of them."""

from itertools import pairwise

import pytest

from d0ctl.schedule.resources import AHEAD_S
from d0ctl.store import Store
from tests.show.test_why_node_choice import schedule, site_of_two
from tests.support.jobs import binary, job, package
from tests.support.rows import change, read
from tests.support.site import Site


def test_many_packages_share_a_row(site: Site) -> None:
    site_of_two(site)
    site.submit(job("prod", [package(binary()) for _ in range(40)]))
    for _ in range(5):
        schedule(site)
        with site.store.writing():
            for old, new in pairwise(("assigned", "starting", "running", "done")):
                site.store.connection.execute(
                    "update package set phase = ? where phase = ?", [new, old]
                )

    rows = read(site.store, "node_choice", "requirement_id", "node_id", "rule")
    assert len(rows) == len(set(rows)) <= 4
    named = {id for (id,) in read(site.store, "node_choice", "id")}
    assert {id for (id,) in read(site.store, "package", "choice_id")} == named


@pytest.mark.parametrize(("pace", "sent"), [(None, 0), (AHEAD_S + 0.01, 0), (AHEAD_S, 5)])
def test_short_packages_are_sent_in_advance_only_where_short_ones_run(
    store: Store, pace: float | None, sent: int
) -> None:
    site = Site.of(store, cpus=2)
    site.submit(job("first", [package(binary()) for _ in range(2)]))
    schedule(site)
    first = set(read(store, "requirement", "id"))
    change(store, "requirement", pace=pace)
    site.submit(job("short", [package(binary(), memory=1) for _ in range(5)]))
    (short,) = set(read(store, "requirement", "id")) - first
    change(store, "requirement", {"id": short[0]}, pace=0.05)

    schedule(site)

    nodes = read(store, "package", "node_id", requirement_id=short[0])
    assert sum(node is not None for (node,) in nodes) == sent
