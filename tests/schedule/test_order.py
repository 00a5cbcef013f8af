"""Which packages the store offers to the scheduler, and in which order."""

from d0ctl.model import Address
from d0ctl.store import Store, lifecycle
from d0ctl.store.nodes import placement, registry
from d0ctl.store.nodes.standstill import is_settled
from tests.support.jobs import NOW, job, line, phases, simple, stage, submitted
from tests.support.rows import read, value
from tests.support.site import Site


def assigned(store: Store) -> list[str]:
    """The paths of the packages that have a node."""
    return [path for path, phase in phases(store).items() if phase == "assigned"]


def test_priority_comes_first_and_then_age(store: Store) -> None:
    for name, priority in (("old", 50), ("low", 10), ("high", 90), ("new", 50)):
        submitted(store, job(name, priority=priority))
    site = Site.of(store, cpus=1)
    order = []

    for _ in range(4):
        site.schedule()
        order += assigned(store)
        site.hand_out(site.node("localhost"))
        site.order(site.node("localhost"))
        node = site.node("localhost")
        for attempt in list(node.attempts):
            node.end(attempt, "successful")
        site.deliver(node, node.spool)

    assert order == ["high/1/1/1", "old/1/1/1", "new/1/1/1", "low/1/1/1"]


def test_a_held_job_is_passed_by(store: Store) -> None:
    held = submitted(store, job("held"))
    submitted(store, job("free"))
    with store.writing():
        lifecycle.hold_job(store, held, actor="tester", note=None, now=NOW)

    Site.of(store, cpus=2).schedule()

    assert assigned(store) == ["free/1/1/1"]


def test_node_lists_and_exclusions_hold(store: Store) -> None:
    submitted(store, job("one", [simple(nodes=("far",)), simple(exclude_nodes=("far",))]))
    Site.of(store, "far", cpus=2).schedule()

    nodes = read(store, "v_package", "node", by="package_id")
    assert nodes == [("far",), ("localhost",)]


def test_a_package_for_another_platform_waits(store: Store) -> None:
    submitted(store, job("one", [simple(platform="beos-alpha")]))

    Site.of(store, cpus=2).schedule()

    assert phases(store) == {"one/1/1/1": "ready"}


def test_nodes_that_are_down_drained_or_unknown_get_nothing(store: Store) -> None:
    submitted(store, job("one", [simple() for _ in range(9)]))
    site = Site.of(store, "down", "drained", cpus=2)
    registry.add(store, Address("unknown", "ssh", "x"), cpus=9)
    site.unlink(site.node("down"))
    with store.writing():
        store.change("drain_node", node=site.node("drained").id, note=None, now=0.0)

    site.schedule()

    nodes = {node for (node,) in read(store, "v_package", "node", by="package_id")}
    assert nodes - {None} == {"localhost"}


def test_packages_assigned_to_a_node_that_goes_down_go_elsewhere(store: Store) -> None:
    submitted(store, job("one", [simple(nodes=("a", "b"))]))
    site = Site.of(store, "a", "b", cpus=2)
    site.schedule()
    first = value(store, "package", "node_id")

    site.unlink(site.nodes[first])
    assert phases(store) == {"one/1/1/1": "ready"}
    site.schedule()

    assert phases(store) == {"one/1/1/1": "assigned"}
    assert value(store, "package", "node_id") != first


def test_a_driver_of_one_job_schedules_no_other(store: Store) -> None:
    first = submitted(store, job("first"))
    submitted(store, job("second"))
    Site.of(store, cpus=2)

    assert len(placement.requirements(store)) == 2
    assert len(placement.requirements(store, first)) == 1


def test_a_line_continues_only_when_the_package_before_has_succeeded(store: Store) -> None:
    submitted(store, job("one", stage(line(simple(), simple(), simple()))))
    site = Site.of(store, cpus=2)
    node = site.node("localhost")
    for _ in range(2):
        site.schedule()
        site.hand_out(node)
        site.order(node)
        node.end(max(node.attempts), "successful" if len(node.attempts) == 1 else "failed",
                 None if len(node.attempts) == 1 else "exit-code")  # fmt: skip
        site.deliver(node, node.spool)

    assert list(phases(store).values()) == ["done", "failed", "waiting"]
    with store.writing():
        assert placement.end_jobs(store, now=NOW) == ["one"]


def test_a_job_that_waits_for_a_failed_one_ends_too(store: Store) -> None:
    submitted(store, job("maker", [simple(outputs=["a"])]))
    reader = submitted(store, job("reader", [simple(inputs=["maker:a"])]))
    site = Site.of(store, cpus=2)
    assert not is_settled(store, reader)
    site.settle("failed")

    with store.writing():
        placement.end_jobs(store, now=NOW)
        placement.end_jobs(store, now=NOW)

    assert is_settled(store, reader)
