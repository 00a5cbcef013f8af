"""What stops production, read off a store with nodes, a driver and jobs in any state."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.schedule.standstill import Cause
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.nodes.standstill import job_standing, production
from d0ctl.store.views import browse
from tests.support.building import job, line, package
from tests.support.building import production as example
from tests.support.site import Site


@pytest.fixture
def site(site: Site) -> Site:
    """A site whose node is up, with a driver."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.up()
    return site


def down(site: Site, name: str = "localhost") -> None:
    """A node stops answering."""
    with site.store.writing():
        contact.down(
            site.store,
            registry.named(site.store, name).id,
            "connection refused",
            now=time.time(),
        )


def test_production_moves_while_packages_run(site: Site) -> None:
    site.submit(example())
    site.launch("prod/1/1/1")

    found = production(site.store, now=time.time())

    assert found.moves
    assert found.stopped == []


def test_without_work_nothing_moves_and_nothing_is_stopped(site: Site) -> None:
    assert not production(site.store, now=time.time()).moves
    assert production(site.store, now=time.time()).cause is None


def test_without_a_driver_every_job_with_work_is_stopped(site: Site) -> None:
    site.submit(example())
    with site.store.writing():
        leases.give_lease(site.store, "daemon")

    assert production(site.store, now=time.time()).cause is Cause.NO_DAEMON


def test_when_the_only_node_is_down_its_unreachable_packages_move_nothing(site: Site) -> None:
    site.submit(example())
    site.launch("prod/1/1/1")
    down(site)

    found = production(site.store, now=time.time())

    assert found.cause is Cause.NO_NODE_UP
    assert found.jobs[0].work.counts["unreachable"] == 1
    assert found.nodes[0].last_error == "connection refused"


def test_a_job_that_only_fits_a_node_that_is_down_stands_still_beside_one_that_moves(
    site: Site,
) -> None:
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    down(site, "far")
    site.submit(job(("a", [line(package("x", nodes=("far",)))]), name="bound"))
    site.submit(example())

    found = production(site.store, now=time.time())

    assert found.moves
    assert {job.name: job.standing.cause for job in found.jobs} == {
        "bound": Cause.NO_FITTING_NODE, "prod": None,
    }  # fmt: skip


def test_packages_that_no_node_can_take_are_counted_in_their_job(site: Site) -> None:
    site.submit(job(("a", [line(package("x", cpus=64)), line(package("y"))])))

    found = production(site.store, now=time.time())

    assert (found.moves, found.jobs[0].standing.unfit) == (True, 1)


def test_failures_are_counted_by_job_even_once_the_job_has_ended(site: Site) -> None:
    site.submit(example(lines=1))
    site.fail("prod/1/1/1")

    assert production(site.store, now=time.time()).failures == {"prod": 1}


def test_one_job_is_judged_by_itself(site: Site) -> None:
    site.submit(example())
    with site.store.writing():
        site.store.change("hold_job", job=1, actor="ada", note=None, now=time.time())

    number = browse.job(site.store, "prod").id
    assert job_standing(site.store, number, now=time.time()).standing.cause is Cause.HELD
