"""Copies go when nobody in any job needs them, and no sooner; the stickier disposition wins."""

import pytest

from d0ctl.jobfile.spec import Disposition, InputSpec
from d0ctl.store import Store, lifecycle
from d0ctl.store.jobs import retry, unneeded_files
from tests.store.copying import copies, made, purged, work
from tests.support.homes import faults
from tests.support.jobs import NOW, binary, job, package, phases, simple, stage, submitted
from tests.support.site import Site

DELETABLE, TEMP, INDEF = Disposition.DELETABLE, Disposition.RETAIN_TEMP, Disposition.RETAIN_INDEF


def test_an_intermediate_file_goes_after_its_last_reader(store: Store) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))

    work(store, Site.of(store, cpus=2))

    assert purged(store) == ["/localhost/cache/1/a"]
    assert copies(store, "a") == []
    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}


def test_a_file_stays_while_one_reader_in_any_job_needs_it(store: Store) -> None:
    submitted(store, job("maker", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    submitted(store, job("reader", [simple(inputs=["maker:a"], nodes=("nowhere",))]))

    work(store, Site.of(store, cpus=2))

    assert purged(store) == []
    assert copies(store, "a") != []


def test_a_file_to_be_made_again_goes_once_what_reads_it_has_ended(store: Store) -> None:
    site = Site.of(store, cpus=2)
    submitted(store, job("maker", [simple(outputs=[made("a", INDEF)])]))
    work(store, site)
    submitted(store, job("reader", [simple(inputs=["maker:a"])]))
    site.schedule()
    node = site.node("localhost")
    site.hand_out(node)
    site.order(node)
    assert phases(store)["reader/1/1/1"] == "starting"

    with store.writing():
        retry.make_again(store.select([1]), actor="tester", note=None, now=NOW)

    assert copies(store, "a") == []
    assert unneeded_files.removals(store, node.id, 9) == []
    node.end(2, "successful")
    site.deliver(node, node.spool)
    assert phases(store)["reader/1/1/1"] == "done"
    assert [row["path"] for row in unneeded_files.removals(store, node.id, 9)] == [
        "/localhost/cache/1/a"
    ]
    assert faults(store) == {}


@pytest.mark.parametrize("state", ["failed", "canceled"])
def test_a_file_stays_for_a_reader_that_may_be_tried_again(store: Store, state: str) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    site = Site.of(store, cpus=2)
    site.schedule()
    site.hand_out(site.node("localhost"))
    site.order(site.node("localhost"))
    site.node("localhost").end(1, "successful")
    site.deliver(site.node("localhost"), site.node("localhost").spool)
    if state == "canceled":
        with store.writing():
            selected = store.select([2])
            lifecycle.kill(selected, actor="tester", note=None, now=NOW)
    site.settle("failed")

    with store.writing():
        unneeded_files.clean_up(store, now=NOW)

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
def test_the_disposition_that_keeps_longer_wins(
    store: Store, output: tuple[Disposition, ...], given: Disposition | None, goes: bool
) -> None:
    reader = simple(inputs=[InputSpec("a", disposition=given)])
    submitted(store, job("two", stage(simple(outputs=[made("a", *output)])), stage(reader)))

    work(store, Site.of(store, cpus=2))

    assert bool(purged(store)) is goes
    assert faults(store) == {}


@pytest.mark.parametrize(
    ("dispositions", "goes"),
    [((DELETABLE,), True), ((Disposition.FORWARD,), False), ((TEMP,), False), ((INDEF,), False)],
)
def test_unread_files_go_only_on_request(
    store: Store, dispositions: tuple[Disposition, ...], goes: bool
) -> None:
    submitted(store, job("one", [simple(outputs=[made("a", *dispositions)])]))

    work(store, Site.of(store, cpus=2))

    assert bool(purged(store)) is goes


def test_delivered_files_are_left_in_results_only(store: Store) -> None:
    submitted(store, job("one", [simple(outputs=["a"])]))

    work(store, Site.of(store, cpus=2))

    assert purged(store) == ["/localhost/cache/1/a"]
    assert copies(store, "a") == [f"{store.home.results}/one/a"]
    assert faults(store) == {}


def test_files_in_results_are_never_removed(store: Store) -> None:
    submitted(store, job("maker", [simple(outputs=["a"])]))
    site = Site.of(store, "farm", cpus=2)
    assert work(store, site) == []
    submitted(store, job("reader", [simple(inputs=[InputSpec("maker:a", disposition=DELETABLE)])]))

    assert work(store, site) == []

    assert phases(store)["reader/1/1/1"] == "done"
    assert copies(store, "a") == [f"{store.home.results}/maker/a"]


def test_an_intermediate_file_within_a_package_goes_with_its_end(store: Store) -> None:
    chain = package(binary(outputs=["a"]), binary(inputs=["a"], outputs=["b"]))
    submitted(store, job("one", [chain]))

    work(store, Site.of(store, cpus=2))

    assert purged(store) == ["/localhost/cache/1/a", "/localhost/cache/1/b"]
    assert copies(store, "b") == [f"{store.home.results}/one/b"]


def test_a_brought_copy_of_a_file_from_outside_goes(store: Store) -> None:
    submitted(store, job("one", [simple(inputs=["/data/raw"], nodes=("farm",))]))

    work(store, Site.of(store, "farm", cpus=2))

    (path,) = purged(store)
    assert path.startswith("/farm/cache/in/")
    assert faults(store) == {}


def test_a_copy_on_its_way_goes_from_this_machine_too(store: Store) -> None:
    makers = stage(simple(outputs=["a"], nodes=("farm",)))
    submitted(store, job("two", makers, stage(simple(inputs=["a"], nodes=("barn",)))))
    site = Site.of(store, "farm", "barn", cpus=2)
    site.settle()
    here = f"{store.home.cache}/1/1/a"
    with store.writing():
        store.connection.execute("update location set path = ? where cluster_id = 1", [here])
        gone = unneeded_files.clean_up(store, now=NOW)

    assert gone == [here]
    assert len(purged(store)) == 2
    assert copies(store, "a") == []
    assert faults(store) == {}


def test_a_job_that_reads_what_was_removed_has_it_made_again(store: Store) -> None:
    chain = [stage(simple(outputs=["a"])), stage(simple(inputs=["a"], outputs=["b"]))]
    submitted(store, job("maker", *chain, stage(simple(inputs=["b"]))))
    site = Site.of(store, cpus=2)
    work(store, site)
    assert copies(store, "a") == copies(store, "b") == []

    submitted(store, job("reader", [simple(inputs=["maker:b"])]))
    assert phases(store)["maker/1/1/1"] == "ready"
    assert phases(store)["maker/2/1/1"] == "waiting"
    work(store, site)

    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}


def test_inputs_that_were_removed_are_made_again_for_a_package_made_again(store: Store) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    site = Site.of(store, cpus=2)
    work(store, site)
    with store.writing():
        selected = store.select([2])
        retry.make_again(selected, actor="tester", note=None, now=NOW)

    assert phases(store) == {"two/1/1/1": "ready", "two/2/1/1": "waiting"}
    work(store, site)
    assert set(phases(store).values()) == {"done"}
    assert faults(store) == {}


def test_spare_copies_go_when_space_is_needed_the_oldest_first(store: Store) -> None:
    names = ["a", "b", "c"]
    submitted(store, job("one", [simple(outputs=[made(name, TEMP)]) for name in names]))
    site = Site.of(store, cpus=2)
    work(store, site)
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
    site = Site.of(store, cpus=2)
    work(store, site)
    submitted(store, job("reader", [simple(inputs=["one:a"], nodes=("nowhere",))]))

    with store.writing():
        assert unneeded_files.make_space(store, 1, 10**9, now=NOW) == []

    assert copies(store, "a") != []
