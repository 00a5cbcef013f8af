"""Packages whose inputs are only on nodes that are down keep no places of other nodes."""

import pytest

from d0ctl.store import Store
from d0ctl.store.attempts.behind import rebroker
from d0ctl.store.checks import check
from d0ctl.store.files import reachable_inputs
from d0ctl.store.files.reachable_inputs import ReachableInputs
from d0ctl.store.nodes import placement
from tests.store.test_stranded import copied, run_on
from tests.support.jobs import job, phases, simple, stage, submitted
from tests.support.rows import read
from tests.support.site import Site

MANY = 9
NAMES = [f"a{number}" for number in range(MANY)]


def made_on_far(store: Store, *nodes: str) -> Site:
    """`far` has made the inputs of more packages than `near` has places for."""
    site = Site.of(store, "far", "near", *nodes, cpus=2)
    readers = [simple(inputs=[name], nodes=("near",)) for name in NAMES]
    maker = stage(simple(outputs=NAMES, nodes=("far",)))
    submitted(store, job("job", maker, stage(*readers)))
    run_on(site, "far", "job/1/1/1", "done")
    return site


def readers(store: Store, phase: str) -> int:
    """How many of the packages that need these files are in a phase."""
    found = phases(store)
    return [found[f"job/2/{number}/1"] for number in range(1, MANY + 1)].count(phase)


def is_consistent(store: Store) -> bool:
    """Whether all counts are right."""
    return not [finding for finding in check.faults(store) if finding.check == "ready"]


def test_packages_that_wait_for_a_node_that_is_down_leave_its_places_to_others(
    store: Store,
) -> None:
    site = made_on_far(store)
    submitted(store, job("other", [simple(inputs=["/data/in"], nodes=("near",))]))
    site.unlink(site.node("far"))

    site.schedule()
    site.schedule()

    assert phases(store)["other/1/1/1"] == "assigned"
    assert readers(store, "ready") == MANY
    assert placement.ready(store) == 0
    assert is_consistent(store)


def test_packages_that_are_assigned_when_the_node_goes_down_give_back_their_places(
    store: Store,
) -> None:
    site = made_on_far(store)
    site.schedule()
    assert readers(store, "assigned") == 4
    submitted(store, job("other", [simple(inputs=["/data/in"], nodes=("near",))]))
    with store.writing():
        rebroker(store, now=site.now)
    assert readers(store, "assigned") == 4, "the copies can be made"
    site.unlink(site.node("far"))

    with store.writing():
        rebroker(store, now=site.now)
    site.schedule()
    site.schedule()

    assert readers(store, "ready") == MANY
    assert phases(store)["other/1/1/1"] == "assigned"
    assert {note for (note,) in read(store, "package", "note")} == {None, "input-away"}
    assert is_consistent(store)


def test_they_are_assigned_once_the_node_is_back(store: Store) -> None:
    site = made_on_far(store)
    site.unlink(site.node("far"))
    site.schedule()

    site.link(site.node("far"))

    assert placement.ready(store) == MANY
    assert site.schedule() == 4
    assert is_consistent(store)


def test_a_package_is_assigned_once_another_copy_of_its_input_is_made(store: Store) -> None:
    site = made_on_far(store)
    site.unlink(site.node("far"))
    site.schedule()

    copied(store, NAMES[-1])

    assert site.schedule() == 1
    assert phases(store)[f"job/2/{MANY}/1"] == "assigned"
    assert is_consistent(store)


def test_one_of_two_nodes_that_are_down_is_enough(store: Store) -> None:
    site = made_on_far(store, "third")
    far, third = site.node("far"), site.node("third")
    store.connection.execute(
        "insert into location (file_id, cluster_id, node_id, path, made)"
        " select file.id, node.cluster_id, node.id, '/tmp/a', 0 from file, node"
        " where node.name = 'third' and file.package_id is not null"
    )
    site.unlink(far)
    site.unlink(third)
    site.schedule()
    assert placement.ready(store) == 0

    site.link(third)

    assert site.schedule() == 4


def test_a_package_that_is_held_or_killed_waits_for_no_node(store: Store) -> None:
    site = made_on_far(store)
    site.unlink(site.node("far"))
    site.schedule()

    with store.writing():
        store.connection.execute(
            "update package set phase = 'held', changed = 0 where phase = 'ready'"
        )

    assert read(store, "package", "away") == [(None,)] * (MANY + 1)
    assert is_consistent(store)


def test_a_pass_sets_a_limited_number_aside(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachable_inputs, "MOST", 4)
    site = made_on_far(store)
    site.unlink(site.node("far"))
    (requirement,) = placement.requirements(store)

    left = []
    with store.writing():
        for _ in range(3):
            reachable = ReachableInputs(store)
            found = reachable.oldest(placement.oldest, requirement.id, 1)
            left.append((list(found), reachable.has_set_aside, placement.ready(store)))

    assert left == [([], True, 4), ([], True, 0), ([], False, 0)]


def test_a_package_that_starts_is_found_behind_those_that_can_not(store: Store) -> None:
    site = made_on_far(store)
    copied(store, NAMES[-1])
    site.unlink(site.node("far"))

    assert site.schedule() == 1

    assert phases(store)[f"job/2/{MANY}/1"] == "assigned"
