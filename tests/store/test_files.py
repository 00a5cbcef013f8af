"""Copies of files: carried where they are read, made again when the last one is lost."""

import pytest

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.model import Address
from d0ctl.store import Store, lifecycle
from d0ctl.store.attempts.launching import launches
from d0ctl.store.files import copies
from d0ctl.store.jobs.removal import remove_rows
from d0ctl.store.nodes import contact, placement, registry
from tests.support.homes import faults
from tests.support.jobs import NOW, job, line, phases, simple, stage, submitted
from tests.support.rows import read
from tests.support.site import Site


def drain(store: Store, name: str) -> None:
    """Let a node take no package."""
    with store.writing():
        store.change("drain_node", node=registry.named(store, name).id, note=None, now=0.0)


def file_id(store: Store, name: str) -> int:
    """The number of a file."""
    row = store.connection.execute("select id from file where name = ?", [name]).fetchone()
    return int(row[0])


def lose(store: Store, *names: str) -> None:
    """Lose every copy of these files."""
    rows = [
        tuple(row)
        for name in names
        for row in store.connection.execute(
            "select file_id, cluster_id from location where file_id = ?", [file_id(store, name)]
        )
    ]
    with store.writing():
        copies.lose(store, rows, now=NOW)


def chain(store: Store) -> Site:
    """raw -> cooked -> eaten, of which the first two are done, and the third waits for more."""
    spec = job(
        "chain",
        stage(simple(outputs=["raw"])),
        stage(simple(inputs=["raw"], outputs=["cooked"])),
        stage(simple(inputs=["cooked", "salt"])),
        stage(simple(outputs=["salt"], nodes=("nowhere",))),
    )
    submitted(store, spec)
    site = Site.of(store, cpus=2)
    site.settle()
    assert list(phases(store).values()) == ["done", "done", "waiting", "ready"]
    return site


def test_a_lost_output_that_is_still_needed_is_made_again(store: Store) -> None:
    chain(store)

    lose(store, "cooked")

    assert list(phases(store).values()) == ["done", "ready", "waiting", "ready"]
    assert faults(store) == {}


def test_a_remake_goes_up_the_chain_as_far_as_needed(store: Store) -> None:
    site = chain(store)

    lose(store, "raw")
    assert list(phases(store).values()) == ["done", "done", "waiting", "ready"]
    lose(store, "cooked")

    assert list(phases(store).values()) == ["ready", "waiting", "waiting", "ready"]
    site.settle()
    assert list(phases(store).values()) == ["done", "done", "waiting", "ready"]
    assert faults(store) == {}


def test_an_unneeded_lost_output_is_not_made_again(store: Store) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    Site.of(store, cpus=2).settle()

    lose(store, "a")

    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}


def test_a_remake_in_a_job_that_has_ended_is_scheduled(store: Store) -> None:
    submitted(store, job("maker", [simple(outputs=["a"])]))
    site = Site.of(store, cpus=2)
    site.settle()
    with store.writing():
        assert placement.end_jobs(store, now=NOW) == ["maker"]
    submitted(store, job("reader", [simple(inputs=["maker:a"], nodes=("nowhere",))]))

    lose(store, "a")
    site.settle()

    assert phases(store)["maker/1/1/1"] == "done"
    assert phases(store)["reader/1/1/1"] == "ready"


def test_the_package_behind_a_remade_one_in_its_line_waits_for_it(store: Store) -> None:
    both = line(simple(outputs=["a"]), simple(nodes=("nowhere",)))
    reader = simple(inputs=["a", "b"])
    spec = job("one", stage(both), [reader], [simple(outputs=["b"], nodes=("nowhere",))])
    submitted(store, spec)
    Site.of(store, cpus=2).settle()
    assert phases(store)["one/1/1/2"] == "ready"

    lose(store, "a")

    assert phases(store)["one/1/1/2"] == "waiting"
    assert faults(store) == {}


def test_an_output_of_a_removed_node_is_made_again_elsewhere(store: Store) -> None:
    spec = job("one", [simple(outputs=["a"])], [simple(inputs=["a", "b"])], [simple(outputs=["b"])])
    submitted(store, spec)
    site = Site.of(store, "far", cpus=2)
    drain(store, "localhost")
    site.schedule()
    site.hand_out(site.node("far"))
    site.order(site.node("far"))
    site.node("far").end(1, "successful")
    site.node("far").end(2, "failed", "exit-code")
    site.deliver(site.node("far"), site.node("far").spool)
    assert phases(store)["one/1/1/1"] == "done"

    registry.forget(store, "far", now=NOW)

    assert phases(store)["one/1/1/1"] == "ready"
    assert faults(store) == {}


def test_a_removed_job_leaves_no_folders_on_a_node_that_was_removed_and_added_again(
    store: Store,
) -> None:
    job_id = submitted(store, job("one", [simple(outputs=["a"], nodes=("far",))]))
    site = Site.of(store, "far", cpus=2)
    site.settle()
    registry.forget(store, "far", now=NOW)
    again = registry.add(store, Address("far", "ssh", "far"), cpus=2)

    remove_rows(store, job_id, now=NOW)

    assert (again, 1) in read(store, "purge", "node_id", "attempt_id")


def test_more_files_than_one_batch_reach_a_remote_node(store: Store) -> None:
    names = [f"f{n}" for n in range(120)]
    spec = job("many", stage(*[simple(outputs=[name], nodes=("near",)) for name in names]),
               stage(simple(inputs=names, nodes=("far",))))  # fmt: skip
    submitted(store, spec)
    site = Site.of(store, "near", "far", cpus=8)

    site.settle()

    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}


def test_a_postponed_transfer_does_not_delay_others(store: Store) -> None:
    spec = job("one", stage(*[simple(inputs=[f"/in/{n}"]) for n in range(9)]))
    submitted(store, spec)
    Site.of(store, "far", cpus=20)
    drain(store, "localhost")
    site = Site.of(store, cpus=20)
    site.schedule()
    first = copies.wanted(store, now=site.now, limit=5)
    with store.writing():
        for row in first:
            copies.postpone(store, row.file_id, row.cluster_id, 0, until=copies.PARKED)

    then = copies.wanted(store, now=site.now, limit=5)

    assert len(first) == 5
    assert len(then) == 4
    assert not {row.file_id for row in first} & {row.file_id for row in then}


def test_an_outside_file_that_is_gone_holds_no_slot(store: Store) -> None:
    submitted(store, job("one", [simple(inputs=["/in/raw"])]))
    site = Site.of(store, "far", cpus=2)
    drain(store, "localhost")
    site.schedule()
    row = copies.wanted(store, now=site.now, limit=1)[0]
    assert site.hand_out(site.node("far")) == 0

    with store.writing():
        assert copies.give_up(store, row.file_id, row.cluster_id)

    assert site.hand_out(site.node("far")) == 1
    (order,) = site.node("far").orders
    assert order[1]["inputs"][0]["path"] == "/in/raw"


def test_a_copy_that_arrives_after_its_job_was_removed_is_unneeded(store: Store) -> None:
    number = submitted(store, job("one", [simple(outputs=["a"])]))
    file = file_id(store, "a")
    remove_rows(store, number, now=NOW)

    with store.writing():
        arrival = copies.Arrival(file, 1, 0, "/x", None, 1, "sha256:" + "0" * 64)
        copies.arrive(store, [arrival], now=NOW)

    assert faults(store) == {}


def test_a_copy_lost_at_one_node_sends_its_reader_where_another_is(store: Store) -> None:
    spec = job("one", [simple(outputs=["a"], nodes=("near",))], [simple(inputs=["a"])])
    submitted(store, spec)
    site = Site.of(store, "near", "far", cpus=2)
    for name in ("localhost", "far"):
        drain(store, name)
    site.schedule()
    for node in (site.node("near"),):
        site.hand_out(node)
        site.order(node)
        node.end(1, "successful")
        site.deliver(node, node.spool)
    far = site.node("far")
    with store.writing():
        made = 7, "sha256:" + "7" * 64
        arrival = copies.Arrival(file_id(store, "a"), far.cluster, 0, "/far/a", far.id, *made)
        copies.arrive(store, [arrival], now=NOW)
        store.change("resume_node", node=far.id)
        store.change("drain_node", node=site.node("near").id, note=None, now=0.0)
    site.schedule()
    assert phases(store)["one/2/1/1"] == "assigned"

    with store.writing():
        copies.lose(store, [(file_id(store, "a"), far.cluster)], now=NOW)

    assert phases(store)["one/2/1/1"] == "ready"
    assert phases(store)["one/1/1/1"] == "done"
    assert faults(store) == {}


def test_results_are_wanted_once_and_end_the_package_when_they_are_there(store: Store) -> None:
    outputs = [OutputSpec("x", result=True), OutputSpec("y", result=True)]
    submitted(store, job("one", [simple(outputs=outputs)]))
    site = Site.of(store, cpus=2)
    node = site.node("localhost")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    node.end(1, "successful")
    site.deliver(node, node.spool)
    assert phases(store)["one/1/1/1"] == "transferring"

    site.carry()

    assert phases(store)["one/1/1/1"] == "done"
    assert faults(store) == {}


def test_another_machine_id_of_a_node_is_refused(store: Store) -> None:
    registry.add(store, Address("far", "ssh", "far"), cpus=None)
    number = registry.named(store, "far").id
    facts = {"machine_id": "m1", "boot_id": "b", "cpus": 4, "base": "/far"}
    with store.writing():
        assert contact.up(store, number, facts, now=NOW) is None
        assert contact.up(store, number, {**facts, "machine_id": ""}, now=NOW) is None
        answer = contact.up(store, number, {**facts, "machine_id": "m2"}, now=NOW)

    assert answer is not None
    assert "another machine" in answer


@pytest.mark.parametrize("phase", ["starting", "running"])
def test_a_kill_on_a_node_that_goes_out_of_contact_ends_at_once(store: Store, phase: str) -> None:
    submitted(store, job("one"))
    site = Site.of(store, cpus=2)
    node = site.node("localhost")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    if phase == "running":
        site.deliver(node, node.spool)
    with store.writing():
        selected = store.select([1])
        lifecycle.kill(selected, actor="tester", note=None, now=NOW)

    site.unlink(node)

    assert phases(store)["one/1/1/1"] == "canceled"
    assert faults(store) == {}
    with store.writing():
        found = launches.reconcile(store, node.id, {1: "running"}, now=NOW)
    assert found.kill == [1]
