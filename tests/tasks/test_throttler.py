"""How many packages of a task are queued: by its share, and by the nodes that could run them."""

import json

import pytest

from d0ctl.daemon.steps.schedule import decide
from d0ctl.model import Address
from d0ctl.show.tasks import task_why
from d0ctl.store import Store
from d0ctl.store.nodes import placement, registry
from d0ctl.store.tasks import state, throttler
from d0ctl.store.tasks.throttler import Queue
from tests.support.jobs import NOW
from tests.support.site import Site
from tests.tasks.making import submit, work
from tests.tasks.test_walks import rows

MANY = "{seeds: {range: [1, 5000]}}"


@pytest.fixture
def large(store: Store) -> Store:
    """A site with a node of 100 CPUs, one of 4 with two GPUs, and one that is drained."""
    Site.of(store, cpus=100)
    gpu = registry.add(store, Address("gpu", "ssh", "gpu"), cpus=4, gpus=2)
    old = registry.add(store, Address("old", "ssh", "old"), cpus=64)
    with store.writing():
        store.connection.execute("update node set state = 'up', contact = ?", [NOW])
        store.connection.execute("update node set gpus = 2 where id = ?", [gpu])
        drain = "update node set drained = 1, drain_note = 'noisy fan' where id = ?"
        store.connection.execute(drain, [old])
    return store


def queue(store: Store, task: int) -> Queue:
    """How much of a task is queued."""
    found = state.task(store, task)
    assert found is not None
    return throttler.queue(store, found)


def test_the_queue_is_as_long_as_the_nodes_that_could_run_it_need(large: Store) -> None:
    plain = submit(large, name="plain", inputs=MANY)
    gpu = submit(large, name="gpu", inputs=MANY, files="[]\n  gpus: 1")
    work(large)

    assert queue(large, plain).slots == 104
    assert queue(large, plain).queued == 416
    assert queue(large, gpu).slots == 2
    assert queue(large, gpu).queued == throttler.LEAST_QUEUED
    assert queue(large, gpu).able == ["gpu"]
    assert queue(large, gpu).nodes["old"] == "it is drained: noisy fan"


def test_why_of_a_task_says_why_its_packages_got_their_nodes(large: Store) -> None:
    task = submit(large, name="gpu", inputs=MANY, files="[]\n  gpus: 1")
    work(large)
    with large.writing():
        placement.assign(large, decide(large, now=NOW), now=NOW)

    said = "packages of it went to `gpu`: no other could take it then ("
    assert [fact for fact in task_why.why(large, task, NOW).facts if fact.startswith(said)]


@pytest.mark.parametrize(("pace", "most"), [(10.0, 416), (0.2, 1040), (0.001, 2000)])
def test_short_packages_are_queued_for_some_seconds(large: Store, pace: float, most: int) -> None:
    task = submit(large, name="plain", inputs=MANY)
    work(large)
    large.connection.execute("update requirement set pace = ?", [pace])
    work(large)

    assert queue(large, task).most == most
    assert queue(large, task).queued == most


def test_tasks_of_a_partition_divide_its_queue_and_those_of_other_shares_do_not(
    large: Store,
) -> None:
    shares = {"top": {"share": 1, "jobs": ["top*"]}, "rest": {"share": 1}}
    with large.writing():
        large.change("keep_setting", name="shares", value=json.dumps(shares))
        large.forget()
    tasks = [submit(large, name=name, inputs=MANY) for name in ("top1", "other1", "other2")]
    work(large)
    queues = [queue(large, sharer) for sharer in tasks]

    assert [queue.sharers for queue in queues] == [1, 2, 2]
    assert [queue.most for queue in queues] == [416, 208, 208]
    assert [queue.queued for queue in queues] == [416, 208, 208]
    paths = {json.loads(row[0])[0] for row in rows(large, "select partition from task")}
    assert paths == {"top", "rest"}


def test_each_round_begins_with_the_first_task_of_every_partition(large: Store) -> None:
    tasks = [submit(large, name=f"t{number}", inputs=MANY, files=f"[]\n  cpus: {cpus}")
             for number, cpus in enumerate((1, 1, 1, 2))]  # fmt: skip
    work(large)
    order = state.in_status(large, ["running"], now=NOW)

    assert sorted(order) == tasks
    assert order[:2] == [tasks[0], tasks[3]]


def test_why_of_a_task_says_which_nodes_take_its_packages(large: Store) -> None:
    task = submit(large, inputs=MANY, files="[]\n  gpus: 1")
    work(large)
    facts = task_why.why(large, task, NOW).facts

    assert "`gpu` could run 2 packages of it at once" in facts
    assert "node `localhost` takes none: 0 GPUs, needs 1" in facts
    assert "node `old` takes none: it is drained: noisy fan" in facts
    assert "more packages are made when 25 or fewer wait" in facts


def test_why_of_a_task_says_what_the_nodes_that_take_its_packages_have_to_do(large: Store) -> None:
    task = submit(large, inputs=MANY, files="[]\n  gpus: 1")
    work(large)
    assert not any("to do" in fact for fact in task_why.why(large, task, NOW).facts)
    ask = large.connection.execute
    for phase in ("assigned", "starting", "running"):
        ask("update package set phase = ?, node_id = (select id from node where name = 'gpu')"
            " where id <= (select min(id) + 2 from package)", [phase])  # fmt: skip
    (cluster,) = ask("select cluster.name from cluster join node on node.cluster_id = cluster.id"
                     " where node.name = 'gpu'").fetchone()  # fmt: skip

    said = f"cluster `{cluster}` has 3 packages and 0 transfers to do"
    assert said in task_why.why(large, task, NOW).facts
