"""Files in results/ whose copies on nodes are lost: the one in results/ is left."""

import pytest

from d0ctl import actions
from d0ctl.actions.action import NodeName
from d0ctl.jobfile.spec import Disposition
from d0ctl.store import Store
from d0ctl.store.clusters import only_copies
from d0ctl.store.files.copies import lose
from d0ctl.store.jobs import retry
from d0ctl.store.nodes import contact, registry
from tests.store.copying import copies, made, work
from tests.support.homes import faults
from tests.support.jobs import NOW, job, phases, simple, stage, submitted
from tests.support.rows import value
from tests.support.site import Site

INDEF, TEMP = Disposition.RETAIN_INDEF, Disposition.RETAIN_TEMP


def delivered(store: Store, node: str, disposition: Disposition = INDEF) -> Site:
    """A job whose first file has been delivered, and stays on the node, too."""
    first = simple(outputs=[made("a", disposition, result=True)], nodes=(node,))
    submitted(store, job("one", stage(first), stage(simple(inputs=["a"], outputs=["b"]))))
    site = Site.of(store, *(() if node == "localhost" else (node,)), cpus=2)
    assert work(store, site) == []
    assert copies(store, "a") == [f"/{node}/cache/1/a"]
    return site


def here(store: Store) -> list[str]:
    """Where the file is once only the copy in results/ is left."""
    return [f"{store.home.results}/one/a"]


def test_a_removed_node_leaves_the_copy_in_results(store: Store) -> None:
    delivered(store, "far")
    row = registry.named(store, "far")

    only_there = only_copies.of_node(store, row)
    with store.writing():
        registry.forget(store, "far", now=NOW)

    assert only_there is not None and only_there.files == 0
    assert copies(store, "a") == here(store)
    assert faults(store) == {}


def test_a_later_job_reads_the_copy_in_results(store: Store) -> None:
    site = delivered(store, "far")
    with store.writing():
        contact.forget_machine(store, "far", now=NOW)
    submitted(store, job("late", [simple(inputs=["one:a"])]))

    assert work(store, site) == []

    assert set(phases(store).values()) == {"done"}
    assert here(store)[0] in copies(store, "a")


def test_a_later_job_reads_the_copy_in_results_while_the_node_is_down(store: Store) -> None:
    site = delivered(store, "far")
    site.unlink(site.node("far"))
    submitted(store, job("late", [simple(inputs=["one:a"])]))

    site.schedule()

    assert phases(store)["late/1/1/1"] == "assigned"
    assert copies(store, "a") == [*here(store), "/far/cache/1/a"]
    assert faults(store) == {}


def test_a_lost_copy_on_this_machine_leaves_the_one_in_results(store: Store) -> None:
    delivered(store, "localhost")

    with store.writing():
        lose(store, [(1, 1)], now=NOW + 10)

    assert copies(store, "a") == here(store)
    assert faults(store) == {}


def test_a_lost_copy_in_results_is_not_found_there_again(store: Store) -> None:
    delivered(store, "far")

    with store.writing():
        registry.forget(store, "far", now=NOW)
        lose(store, [(1, 1)], now=NOW + 10)

    assert copies(store, "a") == []
    assert value(store, "file", "present", name="a") == 0


def test_a_file_that_is_to_be_made_again_is_not_left_in_results(store: Store) -> None:
    delivered(store, "far")

    with store.writing():
        retry.make_again(store.select([1]), actor="ada", note=None, now=NOW)

    assert copies(store, "a") == []


@pytest.mark.parametrize("node", ["far", "localhost"])
def test_a_copy_given_up_for_space_leaves_the_one_in_results(store: Store, node: str) -> None:
    delivered(store, node, TEMP)
    request = actions.request("node free", NodeName(node), wanted=1)

    plan = actions.apply(store, request, actor="ada", note=None, now=NOW)

    assert copies(store, "a") == here(store)
    assert not any("made again" in line for line in actions.report(plan))
