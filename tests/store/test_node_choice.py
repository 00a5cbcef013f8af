"""Why nodes got packages: a row for many of them."""

from itertools import pairwise

from tests.show.test_why_node_choice import schedule, site_of_two
from tests.support.jobs import binary, job, package
from tests.support.rows import read
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
