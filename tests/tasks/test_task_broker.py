"""Where the outputs of a task are merged, if its task file does not say."""

import json

import pytest

from d0ctl.agents import broker
from d0ctl.model import Address
from d0ctl.select import parse
from d0ctl.show.tasks import task_why
from d0ctl.show.why import package
from d0ctl.store import Store
from d0ctl.store.nodes import registry
from d0ctl.store.tasks import state, views
from d0ctl.store.tasks.state import Task
from d0ctl.store.views import browse
from tests.support.jobs import NOW
from tests.support.site import Site
from tests.tasks.making import work
from tests.tasks.test_commands import act
from tests.tasks.test_merge import end, merging
from tests.tasks.test_walks import rows

WAITING = """
select distinct requirement.nodes from requirement
  join stage on stage.id = requirement.stage_id and stage.name = 'merge'
"""
"""The nodes of the packages that merge."""


@pytest.fixture
def sites(store: Store) -> Store:
    """This machine and two farms with nodes that are up."""
    Site.of(store, cpus=4)
    for name in ("north", "south"):
        registry.add(store, Address(name, "ssh", name), cpus=4)
    with store.writing():
        store.connection.execute("update node set state = 'up', contact = ?", [NOW])
    return store


def cluster(store: Store, name: str) -> int:
    """The number of a cluster."""
    return int(store.connection.execute(
        "select id from cluster where name = ?", [name]).fetchone()[0])  # fmt: skip


def merge(
    store: Store, at: str, nodes: str = "", copies: str = "", **parts: str
) -> Task:  # fmt: skip
    """A task whose six outputs of 1 MB are in the cache of a cluster, and are merged then."""
    more = f"  nodes: {nodes}\n" if nodes else ""
    task = merging(store, more=more, **parts)
    store.connection.execute("update file set size = 1000000 where package_id is not null")
    for name in (at, copies or at):
        store.connection.execute(
            "insert or ignore into location (file_id, cluster_id, path, made)"
            " select id, ?, name, 0 from file where package_id is not null", [cluster(store, name)]
        )  # fmt: skip
    end(store)
    work(store)
    found = state.task(store, task)
    assert found is not None
    return found


def test_outputs_are_merged_where_they_are_and_the_reason_is_kept(sites: Store) -> None:
    task = merge(sites, "north")

    assert task.destination == "north"
    assert rows(sites, WAITING) == [('["north"]',)]
    said = views.task(sites, "demo").destination_why
    assert said is not None
    assert said.startswith("it has 6.0 MB of 6.0 MB to merge and 0 packages and 0 transfers there;")
    assert f"its outputs are merged at `north`: {said}" in task_why.why(sites, task.id, NOW).facts
    answer = package.package(sites, browse.package(sites, parse("demo/2/1")), NOW)
    assert f"its task merges at `north`: {said}" in answer.facts


def test_a_cache_without_room_and_a_farm_that_is_drained_get_nothing(sites: Store) -> None:
    ask = sites.connection.execute
    ask("update cluster set capacity = 2000000 where name in ('control', 'south')")
    ask("update node set drained = 1 where name = 'north'")
    merge(sites, "north")
    task = views.task(sites, "demo")
    assert task.destination is None

    ask("update cluster set capacity = 20000000 where name = 'south'")
    act(sites, "task kill")
    again = merge(sites, "north", name="again")
    said = views.task(sites, "again").destination_why or ""
    assert again.destination == "south"
    assert "the cache of `control` has room for 2.0 MB" in said
    assert "`north` has no node that takes packages" in said


@pytest.mark.parametrize(("busy", "other"), [("north", "south"), ("south", "north")])
def test_of_two_farms_with_the_files_the_one_with_less_to_do_gets_them(
    sites: Store, busy: str, other: str
) -> None:
    first = merge(sites, busy)
    sites.connection.execute(
        "update package set phase = 'assigned',"
        " node_id = (select id from node where name = ?) where phase = 'ready'", [busy]
    )  # fmt: skip
    second = merge(sites, busy, name="second", copies=other)

    assert (first.destination, second.destination) == (busy, other)
    said = views.task(sites, "second").destination_why
    assert f"`{busy}` has 6.0 MB and 3 packages" in str(said)


def test_the_nodes_of_a_task_file_and_those_of_a_user_are_not_brokered(sites: Store) -> None:
    named = merge(sites, "north", nodes="[south]")
    assert named.destination is None
    assert rows(sites, WAITING) == [('["south"]',)]


def test_packages_move_when_the_nodes_of_their_destination_are_gone(sites: Store) -> None:
    task = merge(sites, "north")
    assert not broker.wants(sites, task, NOW)
    sites.connection.execute("update node set state = 'down' where name = 'north'")
    assert broker.wants(sites, task, NOW)
    work(sites)

    moved = views.task(sites, "demo").destination
    assert moved in ("control", "south")
    assert rows(sites, WAITING) == [(json.dumps(["localhost" if moved == "control" else moved]),)]


def test_a_task_waits_for_a_node_if_no_other_farm_can_take_its_files(sites: Store) -> None:
    merge(sites, "north")
    sites.connection.execute("update node set state = 'down'")
    work(sites)
    assert views.task(sites, "demo").waits == (
        "no node of cluster `north`, where its outputs are merged, takes packages"
    )

    sites.connection.execute("update node set state = 'up' where name = 'south'")
    work(sites, now=NOW + 61)
    assert views.task(sites, "demo").destination == "south"
