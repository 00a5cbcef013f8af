"""Packages whose inputs are only on nodes that have been down for too long."""

from d0ctl.schedule.standstill import Cause
from d0ctl.store import Store
from d0ctl.store.nodes.standstill import is_settled, job_standing, production
from tests.support.jobs import job, phases, simple, stage, submitted
from tests.support.site import Site

HOUR_S = 3600.0

READER = "job/2/1/1"


def stranded(store: Store) -> tuple[Site, int]:
    """The only copy of an input of a ready package is on a node that went down."""
    site = Site.of(store, "far", cpus=2)
    reader = simple(inputs=["a"], outputs=["b"], nodes=("localhost",))
    number = submitted(store, job("job", stage(simple(outputs=["a"], nodes=("far",))),
                                  stage(reader)))  # fmt: skip
    run_on(site, "far", "job/1/1/1", "done")
    site.unlink(site.node("far"))
    site.schedule()
    assert phases(store)[READER] == "ready"
    return site, number


def run_on(site: Site, name: str, package: str, phase: str) -> None:
    """Run packages on a node until one is in a phase."""
    node = site.node(name)
    while phases(site.store)[package] != phase:
        site.schedule()
        site.hand_out(node)
        site.order(node)
        for attempt in [number for number, state in node.attempts.items() if state == "running"]:
            node.end(attempt, "successful")
        site.deliver(node, node.spool)


def test_a_job_settles_once_the_only_copy_of_an_input_has_been_away_for_too_long(
    store: Store,
) -> None:
    site, number = stranded(store)
    since = site.now

    assert not is_settled(store, number, now=since + HOUR_S / 2)
    assert is_settled(store, number, now=since + HOUR_S)
    found = job_standing(store, number, now=since + HOUR_S)
    assert found.standing.cause is Cause.NO_COPY
    assert production(store, now=since + HOUR_S, driven=True).cause is Cause.NO_COPY

    site.link(site.node("far"))
    assert not is_settled(store, number, now=since + 2 * HOUR_S)


def test_a_job_settles_once_the_only_copy_of_a_result_has_been_away_for_too_long(
    store: Store,
) -> None:
    site = Site.of(store, "far", cpus=2)
    number = submitted(store, job("job", stage(simple(outputs=["a"], nodes=("far",)))))
    run_on(site, "far", "job/1/1/1", "transferring")
    site.unlink(site.node("far"))
    since = site.now

    assert not is_settled(store, number, now=since + HOUR_S / 2)
    assert is_settled(store, number, now=since + HOUR_S)
    assert job_standing(store, number, now=since + HOUR_S).standing.cause is Cause.NO_COPY

    site.link(site.node("far"))
    assert not is_settled(store, number, now=since + 2 * HOUR_S)


def test_a_copy_elsewhere_keeps_a_job_moving(store: Store) -> None:
    site, number = stranded(store)
    copied(store, "a")

    assert not is_settled(store, number, now=site.now + HOUR_S)


def test_a_job_stands_still_only_if_no_ready_package_has_its_inputs(store: Store) -> None:
    site = Site.of(store, "far", cpus=2)
    names = [f"a{number}" for number in range(9)]
    readers = [simple(inputs=[name], nodes=("localhost",)) for name in names]
    maker = stage(simple(outputs=names, nodes=("far",)))
    number = submitted(store, job("job", maker, stage(*readers)))
    run_on(site, "far", "job/1/1/1", "done")
    site.unlink(site.node("far"))
    site.schedule()

    assert not is_settled(store, number, now=site.now + HOUR_S / 2)
    assert is_settled(store, number, now=site.now + HOUR_S)
    found = job_standing(store, number, now=site.now + HOUR_S)
    assert (found.standing.cause, found.work.stranded) == (Cause.NO_COPY, 9)

    copied(store, names[-1])
    assert not is_settled(store, number, now=site.now + HOUR_S), "one has its input"


def copied(store: Store, file: str) -> None:
    """This machine has a copy of a file, too."""
    store.connection.execute(
        "insert into location (file_id, cluster_id, path, made)"
        " select id, 1, '/results/a', 0 from file where name = ?", [file]
    )  # fmt: skip
