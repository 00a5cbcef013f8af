"""Copies go when nobody in any job needs them, and no sooner; the stickier disposition wins."""

import json
from typing import Any

import pytest

from d0ctl.jobfile.spec import Acquire, Disposition, InputSpec, OutputSpec
from d0ctl.store import Store, lifecycle
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs import retry, unneeded_files
from tests.support.homes import faults
from tests.support.jobs import NOW, binary, job, package, phases, simple, stage, submitted
from tests.support.world import World, end_message

DELETABLE, TEMP, INDEF = Disposition.DELETABLE, Disposition.RETAIN_TEMP, Disposition.RETAIN_INDEF


def made(name: str, *dispositions: Disposition, **more: Any) -> OutputSpec:
    """An output of these dispositions."""
    return OutputSpec(name, dispositions=frozenset(dispositions), **more)


def work(store: Store, world: World) -> list[str]:
    """Let all come to rest, and tidy up; the paths that go on the control host."""
    world.settle()
    with store.writing():
        return unneeded_files.tidy(store, now=NOW)


def purged(store: Store) -> list[str]:
    """The paths that nodes are to remove."""
    rows = store.connection.execute("select path from purge where path is not null")
    return sorted(row[0] for row in rows)


def copies(store: Store, name: str) -> list[str]:
    """Where a file lies."""
    query = "select path from location join file on file.id = file_id where name = ?"
    return [row[0] for row in store.connection.execute(query, [name])]


def end(store: Store, number: int, outcome: str) -> None:
    """End the attempt of the package of this number in some way."""
    attempt = store.connection.execute(
        "select attempt_id from package where id = ?", [number]
    ).fetchone()[0]
    reason = None if outcome == "successful" else "exit-code"
    with store.writing():
        messages.apply(store, [end_message(attempt, outcome, reason)], now=NOW)


def test_an_intermediate_file_goes_after_its_last_consumer(store: Store) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))

    work(store, World(store))

    assert purged(store) == ["/localhost/cache/1/a"]
    assert copies(store, "a") == []
    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}


def test_a_file_stays_while_one_consumer_in_any_job_needs_it(store: Store) -> None:
    submitted(store, job("maker", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    submitted(store, job("reader", [simple(inputs=["maker:a"], nodes=("nowhere",))]))

    work(store, World(store))

    assert purged(store) == []
    assert copies(store, "a") != []


@pytest.mark.parametrize("state", ["failed", "canceled"])
def test_a_file_stays_for_a_consumer_that_may_be_tried_again(store: Store, state: str) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    world = World(store)
    world.schedule()
    world.launch(world.node("localhost"))
    world.order(world.node("localhost"))
    world.node("localhost").end(1, "successful")
    world.deliver(world.node("localhost"), world.node("localhost").spool)
    if state == "canceled":
        with store.writing():
            lifecycle.choose(store, [2])
            lifecycle.kill(store, actor="tester", note=None, now=NOW)
    world.settle("failed")

    with store.writing():
        unneeded_files.tidy(store, now=NOW)

    assert phases(store)["two/2/1/1"] == state
    assert purged(store) == []


@pytest.mark.parametrize(
    ("output", "given", "goes"),
    [
        ((DELETABLE,), None, True),
        ((), DELETABLE, True),
        ((TEMP,), None, False),
        ((INDEF,), DELETABLE, False),
        ((DELETABLE,), INDEF, False),
        ((DELETABLE,), TEMP, False),
        ((DELETABLE, TEMP), None, False),
        ((Disposition.FORWARD,), None, True),
    ],
)
def test_the_stickier_disposition_wins(
    store: Store, output: tuple[Disposition, ...], given: Disposition | None, goes: bool
) -> None:
    reader = simple(inputs=[InputSpec("a", disposition=given)])
    submitted(store, job("two", stage(simple(outputs=[made("a", *output)])), stage(reader)))

    work(store, World(store))

    assert bool(purged(store)) is goes
    assert faults(store) == {}


@pytest.mark.parametrize(
    ("dispositions", "goes"),
    [((DELETABLE,), True), ((Disposition.FORWARD,), False), ((TEMP,), False), ((INDEF,), False)],
)
def test_what_nobody_reads_goes_only_when_it_is_told(
    store: Store, dispositions: tuple[Disposition, ...], goes: bool
) -> None:
    submitted(store, job("one", [simple(outputs=[made("a", *dispositions)])]))

    work(store, World(store))

    assert bool(purged(store)) is goes


def test_what_was_delivered_is_left_in_results_only(store: Store) -> None:
    submitted(store, job("one", [simple(outputs=["a"])]))

    work(store, World(store))

    assert purged(store) == ["/localhost/cache/1/a"]
    assert copies(store, "a") == [f"{store.home.results}/one/a"]
    assert faults(store) == {}


def test_what_lies_in_results_is_never_removed(store: Store) -> None:
    submitted(store, job("maker", [simple(outputs=["a"])]))
    world = World(store, "farm")
    assert work(store, world) == []
    submitted(store, job("reader", [simple(inputs=[InputSpec("maker:a", disposition=DELETABLE)])]))

    assert work(store, world) == []

    assert phases(store)["reader/1/1/1"] == "done"
    assert copies(store, "a") == [f"{store.home.results}/maker/a"]


def test_an_intermediate_file_within_a_package_goes_with_its_end(store: Store) -> None:
    chain = package(binary(outputs=["a"]), binary(inputs=["a"], outputs=["b"]))
    submitted(store, job("one", [chain]))

    work(store, World(store))

    assert purged(store) == ["/localhost/cache/1/a", "/localhost/cache/1/b"]
    assert copies(store, "b") == [f"{store.home.results}/one/b"]


def test_a_brought_copy_of_a_file_from_outside_goes(store: Store) -> None:
    submitted(store, job("one", [simple(inputs=["/data/raw"], nodes=("farm",))]))

    work(store, World(store, "farm"))

    (path,) = purged(store)
    assert path.startswith("/farm/cache/in/")
    assert faults(store) == {}


def test_a_copy_on_its_way_goes_from_this_machine_too(store: Store) -> None:
    makers = stage(simple(outputs=["a"], nodes=("farm",)))
    submitted(store, job("two", makers, stage(simple(inputs=["a"], nodes=("barn",)))))
    world = World(store, "farm", "barn")
    world.settle()
    here = f"{store.home.cache}/1/1/a"
    with store.writing():
        store.connection.execute("update location set path = ? where cluster_id = 1", [here])
        gone = unneeded_files.tidy(store, now=NOW)

    assert gone == [here]
    assert len(purged(store)) == 2
    assert copies(store, "a") == []
    assert faults(store) == {}


def test_a_job_that_reads_what_was_removed_has_it_made_again(store: Store) -> None:
    chain = [stage(simple(outputs=["a"])), stage(simple(inputs=["a"], outputs=["b"]))]
    submitted(store, job("maker", *chain, stage(simple(inputs=["b"]))))
    world = World(store)
    work(store, world)
    assert copies(store, "a") == copies(store, "b") == []

    submitted(store, job("reader", [simple(inputs=["maker:b"])]))
    assert phases(store)["maker/1/1/1"] == "ready"
    assert phases(store)["maker/2/1/1"] == "waiting"
    work(store, world)

    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}


def test_inputs_that_were_removed_are_made_again_for_a_package_made_again(store: Store) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    world = World(store)
    work(store, world)
    with store.writing():
        lifecycle.choose(store, [2])
        retry.make_again(store, actor="tester", note=None, now=NOW)

    assert phases(store) == {"two/1/1/1": "ready", "two/2/1/1": "waiting"}
    work(store, world)
    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}


def test_spare_copies_go_when_space_is_needed_the_oldest_first(store: Store) -> None:
    names = ["a", "b", "c"]
    submitted(store, job("one", [simple(outputs=[made(name, TEMP)]) for name in names]))
    world = World(store)
    work(store, world)
    with store.writing():
        for age, name in enumerate(names):
            store.connection.execute(
                "update location set made = ? where path like ?", [age, f"%/{name}"]
            )
        gone = unneeded_files.make_space(store, 1, 10, now=NOW)

    assert [path[-1] for path in gone] == ["a", "b"]
    assert [path[-1] for path in purged(store)] == ["a", "b"]
    assert copies(store, "c") != []
    assert faults(store) == {}


def test_a_spare_copy_that_is_needed_again_stays(store: Store) -> None:
    submitted(store, job("one", [simple(outputs=[made("a", TEMP)])]))
    world = World(store)
    work(store, world)
    submitted(store, job("reader", [simple(inputs=["one:a"], nodes=("nowhere",))]))

    with store.writing():
        assert unneeded_files.make_space(store, 1, 10**9, now=NOW) == []

    assert copies(store, "a") != []


def url(name: str) -> InputSpec:
    """An input that the wrapper brings."""
    return InputSpec(f"/jobs/{name}", made=False, locator=f"http://far/{name}")


def launched(world: World, name: str) -> list[dict[str, Any]]:
    """The launches that a node gets."""
    node = world.node(name)
    world.schedule()
    world.launch(node)
    found = [what for kind, what in node.orders if kind == "launch"]
    world.order(node)
    return found


def staged(world: World, name: str, attempt: int) -> None:
    """Let an attempt end well that has brought a file."""
    node = world.node(name)
    answer = end_message(attempt)
    answer["staged"] = [
        {
            "locator": "http://far/raw",
            "path": f"/{name}/cache/in/u-1/raw",
            "size": 7,
            "checksum": "sha256:" + "7" * 64,
        }
    ]
    node.attempts[attempt] = "ended"
    world.deliver(node, [answer])


def test_what_a_wrapper_brings_is_known_and_goes_with_its_last_reader(store: Store) -> None:
    submitted(store, job("one", [simple(inputs=[url("raw")]), simple(inputs=[url("raw")])]))
    world = World(store)
    first, second = launched(world, "localhost")
    assert first["inputs"][0]["locator"] == "http://far/raw"
    assert first["inputs"][0]["path"] is None

    staged(world, "localhost", first["attempt"])
    with store.writing():
        unneeded_files.tidy(store, now=NOW)
    assert copies(store, "/jobs/raw") == ["/localhost/cache/in/u-1/raw"]
    assert purged(store) == []

    staged(world, "localhost", second["attempt"])
    with store.writing():
        unneeded_files.tidy(store, now=NOW)
    assert purged(store) == ["/localhost/cache/in/u-1/raw"]
    assert faults(store) == {}


def test_a_copy_that_jobs_share_goes_with_the_last_of_them(store: Store) -> None:
    for name in ("one", "other"):
        submitted(store, job(name, [simple(inputs=[url("raw")])]))
    world = World(store)
    first, second = launched(world, "localhost")

    with store.writing():
        store.connection.execute("update package set changed = changed")
    staged(world, "localhost", first["attempt"])
    with store.writing():
        store.connection.execute(
            "insert into location (file_id, cluster_id, path, node_id, made, shared)"
            " select 2, cluster_id, path, node_id, made, 1 from location"
        )
        unneeded_files.tidy(store, now=NOW)
    assert purged(store) == []

    staged(world, "localhost", second["attempt"])
    with store.writing():
        unneeded_files.tidy(store, now=NOW)
    assert purged(store) == ["/localhost/cache/in/u-1/raw"]


def test_the_site_says_how_long_a_transfer_may_take(store: Store) -> None:
    answer = json.dumps({"transfer-idle": 60.0, "transfer-timeout": 600.0})
    with store.writing():
        store.change("keep_setting", name="defaults", value=answer)
    submitted(store, job("one", [simple(outputs=[made("a", locator="root://store/a")])]))

    (launch,) = launched(World(store), "localhost")

    assert launch["transfer"] == {"commands": {}, "idle": 60.0, "timeout": 600.0}


def test_what_is_stored_is_known(store: Store) -> None:
    output = made("a", Disposition.STORE, locator="root://store/a")
    submitted(store, job("one", [simple(outputs=[output])]))
    world = World(store)
    (launch,) = launched(world, "localhost")
    assert launch["deliver"] == [{"name": "a", "locator": "root://store/a"}]

    answer = end_message(launch["attempt"])
    answer["outputs"] = [
        {"name": "a", "path": "/localhost/cache/1/a", "size": 7, "checksum": "sha256:" + "7" * 64}
    ]
    answer["stored"] = [{"name": "a", "locator": "root://store/a"}]
    world.node("localhost").attempts[launch["attempt"]] = "ended"
    world.deliver(world.node("localhost"), [answer])
    with store.writing():
        unneeded_files.tidy(store, now=NOW)

    row = store.connection.execute("select stored, present from file").fetchone()
    assert tuple(row) == ('["root://store/a"]', 0)
    assert purged(store) == ["/localhost/cache/1/a"]


@pytest.mark.parametrize(
    ("locator", "acquire", "there"),
    [
        ("/nfs/raw", Acquire.NONE, {"path": "/nfs/raw"}),
        ("/nfs/raw", Acquire.PRE_FETCH, {"path": None, "locator": "/nfs/raw"}),
        ("farm:/data/raw", Acquire.PRE_FETCH, {"path": "/data/raw"}),
    ],
)
def test_a_path_on_the_node_is_told_to_the_wrapper(
    store: Store, locator: str, acquire: Acquire, there: dict[str, Any]
) -> None:
    given = InputSpec("/jobs/raw", made=False, locator=locator, acquire=acquire, size=7)
    submitted(store, job("one", [simple(inputs=[given], nodes=("farm",))]))

    (launch,) = launched(World(store, "farm"), "farm")

    (entry,) = launch["inputs"]
    assert {name: entry.get(name) for name in there} == there
    assert entry["size"] == 7


def test_a_path_on_another_node_is_carried(store: Store) -> None:
    given = InputSpec("/jobs/raw", made=False, locator="barn:/data/raw")
    submitted(store, job("one", [simple(inputs=[given], nodes=("farm",))]))
    world = World(store, "farm", "barn")

    assert launched(world, "farm") == []
    wanted = store.connection.execute("select file_id, cluster_id from transfer").fetchall()
    assert [tuple(row) for row in wanted] == [(1, world.node("farm").cluster)]


def test_an_attempt_that_nobody_waits_for_changes_nothing_twice(store: Store) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    world = World(store)
    work(store, world)
    before = purged(store)

    assert work(store, world) == []
    assert purged(store) == before
    assert launches.killing(store, 1) == {}
