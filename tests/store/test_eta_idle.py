"""Packages that do not start before a person acts: the ends of later jobs do not count them."""

import pytest

from d0ctl.store import Store
from d0ctl.store.views.job_files import eta
from tests.store.test_urgency import timed
from tests.support.jobs import NOW, binary, job, package, submitted
from tests.support.rows import change
from tests.support.site import Site


@pytest.fixture
def site(store: Store) -> Site:
    """This machine with two CPUs."""
    return Site.of(store, cpus=2)


def makers(store: Store, name: str, number: int = 6) -> int:
    """Submit a job that makes files `a0`, `a1` and so on, in 10 s each."""
    return submitted(store, job(name, [timed(10.0, (), (f"a{n}",)) for n in range(number)]))


def readers(store: Store, name: str, of: str, seconds: float | None) -> int:
    """Submit a job that reads these six files, and makes one of each."""
    packages = [timed(seconds, (f"{of}:a{n}",), (f"a{n}",)) for n in range(6)]
    return submitted(store, job(name, packages))


def whole(store: Store, id: int) -> float | None:
    """In how many seconds a job ends; None if unknown."""
    end = eta.horizon(store, now=NOW).end(id)
    return None if end is None else round(end.middle, 3)


@pytest.mark.parametrize("halt", ["hold", "pause"])
@pytest.mark.parametrize("seconds", [None, 1000.0])
def test_jobs_that_wait_for_files_of_a_halted_job_do_not_count_in_later_ends(
    store: Store, site: Site, halt: str, seconds: float | None
) -> None:
    maker = makers(store, "maker")
    readers(store, "reader", "maker", seconds)
    readers(store, "next", "reader", seconds)
    late = submitted(store, job("late", [timed(10.0), timed(10.0)]))
    assert (whole(store, late) or 1000.0) >= 1000.0

    change(store, "job", {"id": maker}, **{halt: 1})

    assert whole(store, late) == pytest.approx(14.1, abs=0.1)


def test_packages_that_wait_for_files_of_a_held_job_do_not_count_beside_others_of_their_job(
    store: Store, site: Site
) -> None:
    maker = makers(store, "maker")
    blocked = [timed(1000.0, (f"maker:a{n}",), (f"b{n}",)) for n in range(6)]
    last = [timed(None, (f"b{n}",)) for n in range(6)]
    submitted(store, job("mixed", [timed(5.0), timed(5.0)], blocked, last))
    late = submitted(store, job("late", [timed(10.0), timed(10.0)]))

    change(store, "job", {"id": maker}, hold=1)

    assert whole(store, late) == pytest.approx(18.0, abs=0.1)


def test_ready_packages_that_no_node_takes_do_not_count_in_later_ends(
    store: Store, site: Site
) -> None:
    submitted(store, job("wide", [package(binary(runtime=1000.0), cpus=8)]))

    late = submitted(store, job("late", [timed(10.0), timed(10.0)]))

    assert whole(store, late) == pytest.approx(14.1, abs=0.1)


def test_running_packages_of_a_held_job_still_make_files(store: Store, site: Site) -> None:
    maker = makers(store, "maker", 2)
    submitted(store, job("reader", [timed(1000.0, ("maker:a0",))]))
    late = submitted(store, job("late", [timed(10.0)]))
    node = site.node("localhost")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    site.deliver(node, node.spool)

    change(store, "job", {"id": maker}, hold=1)

    assert (whole(store, late) or 0.0) >= 500.0
