"""Ends of jobs with packages on nodes that take no more: these go on, and need no other CPUs."""

from collections.abc import Callable

import pytest

from d0ctl.schedule.estimates import Range
from d0ctl.store import Store
from d0ctl.store.views.job_files import eta
from tests.store.test_urgency import timed
from tests.support.jobs import NOW, job, line, stage, submitted
from tests.support.rows import change, insert, value
from tests.support.site import Site

SOON = NOW + 8
NODES = ("localhost", "f2", "f3")


@pytest.fixture
def farm(store: Store) -> Site:
    """Three nodes with two CPUs each."""
    return Site.of(store, *NODES[1:], cpus=2)


def launch(farm: Site) -> None:
    """Run what the nodes have CPUs for; it begins now."""
    farm.schedule()
    for node in farm.nodes.values():
        farm.hand_out(node)
        farm.order(node)
        farm.deliver(node, node.spool)
    change(farm.store, "package", {"phase": "running"}, changed=NOW)


def end(farm: Site, name: str = "one") -> Range | None:
    """In how many seconds a job ends."""
    left = eta.horizon(farm.store, now=SOON)
    return left.end(value(farm.store, "job", "id", name=name))


def drain(farm: Site, *names: str) -> None:
    for name in names:
        change(farm.store, "node", {"name": name}, drained=1)


def fill(farm: Site, *names: str) -> None:
    for name in names:
        insert(farm.store, "node_outage", node_name=name, kind="full", began=NOW)


def let_expire(farm: Site, *names: str) -> None:
    """They are pilots of a cluster, with 20 s left."""
    for seq, name in enumerate(names):
        node = farm.node(name)
        insert(farm.store, "pilot", cluster_id=node.cluster, batch="b", seq=seq, state="running",
               node_id=node.id, submitted=NOW, ends=SOON + 20)  # fmt: skip


def test_running_packages_end_no_later_because_their_nodes_are_drained(farm: Site) -> None:
    submitted(farm.store, job("one", [timed(45.0)] * 6))
    launch(farm)
    before = end(farm)

    drain(farm, "f2", "f3")
    some = end(farm)
    drain(farm, "localhost")

    assert before is not None and before.low == 37.0
    assert some == before
    assert end(farm) == Range(18.5, 37.0, 74.0)


@pytest.mark.parametrize("close", [drain, fill, let_expire])
def test_what_is_left_to_start_is_divided_by_the_cpus_of_nodes_that_take_it(
    farm: Site, close: Callable[..., None]
) -> None:
    submitted(farm.store, job("one", [timed(45.0)] * 10))
    launch(farm)

    close(farm, "f2", "f3")
    left = eta.horizon(farm.store, now=SOON)

    assert left.capacity.cpus == 2
    assert left.jobs[1].begun.middle == 2 * 37.0
    assert left.jobs[1].work.middle == 2 * 37.0 + 4 * 45.0
    ends = left.end(1)
    assert ends is not None and ends.low <= 37 + 2 * 45 <= ends.middle <= 37 + 3 * 45


def test_a_job_with_packages_to_start_has_no_end_while_no_node_takes_them(farm: Site) -> None:
    submitted(farm.store, job("one", [timed(45.0)] * 7))
    launch(farm)

    drain(farm, *NODES)

    assert end(farm) is None
    assert eta.package_times(farm.store, 7, now=SOON) is None


def test_packages_on_a_drained_node_take_no_cpus_from_the_next_job(farm: Site) -> None:
    submitted(farm.store, job("one", [timed(1000.0)] * 6))
    launch(farm)
    submitted(farm.store, job("two", [timed(45.0)] * 2), name="two")

    drain(farm, "f2", "f3")
    left = eta.horizon(farm.store, now=SOON)

    assert left.before(2) == 2 * 992.0
    assert left.jobs[1].stages[0].alone.middle == 992.0


def test_packages_queued_on_a_drained_node_run_there_when_its_cpus_are_free(farm: Site) -> None:
    submitted(farm.store, job("one", [timed(45.0)] * 6))
    node = farm.node("f2")
    farm.schedule()
    farm.hand_out(node)
    farm.order(node)
    farm.deliver(node, [entry for entry in node.spool if entry["attempt"] == 1])
    change(farm.store, "package", {"phase": "running"}, changed=NOW)
    change(farm.store, "node", {"name": "f2"}, cpus=1)

    drain(farm, "f2")
    (left,) = eta.horizon(farm.store, now=SOON).jobs[1].stages

    assert left.alone.middle == 37.0 + 45.0


def test_a_chain_goes_on_elsewhere_after_its_package_on_a_drained_node(farm: Site) -> None:
    chain = line(timed(100.0, (), ("a",)), timed(50.0, ("a",)))
    submitted(farm.store, job("one", stage(chain)))
    launch(farm)

    node = value(farm.store, "package", "node_id", id=1)
    change(farm.store, "node", {"id": node}, drained=1)

    ends, start = end(farm), eta.package_times(farm.store, 2, now=SOON)
    assert ends is not None and 142.0 <= ends.middle < 160.0
    assert start is not None and start.start is not None
    assert SOON + 92.0 <= start.start.middle < SOON + 100.0


def test_packages_on_drained_nodes_count_for_how_many_a_job_may_run(farm: Site) -> None:
    submitted(farm.store, job("one", [timed(45.0)] * 6, max_running=1))
    launch(farm)

    node = value(farm.store, "package", "node_id", id=1)
    change(farm.store, "node", {"id": node}, drained=1)

    ends = end(farm)
    assert ends is not None and ends.middle >= 37.0 + 5 * 45.0
