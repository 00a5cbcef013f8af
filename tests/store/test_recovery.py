"""Failures answered by policies in the store: what packages, attempts and requirements become."""

from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.draining import drain, resume
from tests.store.failing import fail, kinds, launch, person, row, say, wait
from tests.support.homes import faults
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.site import Site


def test_a_recoverable_error_cools_off_until_its_time_and_is_resubmitted(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    site = Site.of(store, cpus=2)
    launch(site)

    found = fail(store, "stage-in", detail="no route")

    assert (found["phase"], found["not_before"]) == ("cooloff", NOW + 300)
    assert remark(found["note"]) == "try 1 of 10, after stage-in: no route"
    assert wait(store, NOW + 299) == "cooloff"
    assert wait(store, NOW + 300) == "ready"
    launch(site)
    assert fail(store, "stage-in")["not_before"] == NOW + 600
    assert kinds(store) == [("first", "resubmit"), ("resubmit", "resubmit")]
    events = [tuple(e) for e in store.connection.execute("select old, new from event")]
    assert ("starting", "failed") in events
    assert ("failed", "cooloff") in events
    assert faults(store) == {}


def test_a_failure_after_the_last_try_stays_until_a_person_lets_tries_count_anew(
    store: Store,
) -> None:
    say(store, exit_code={"tries": 2})
    submitted(store, job("one", [simple()]))
    site = Site.of(store, cpus=2)
    for phase in ("ready", "ready", "failed"):
        launch(site)
        assert fail(store, "exit-code")["phase"] == phase
    assert remark(row(store)["note"]) == "exit-code; it was tried again 2 times"

    person(store, "ready")
    for phase in ("ready", "ready", "failed"):
        launch(site)
        assert fail(store, "exit-code")["phase"] == phase
    assert row(store)["tried_from"] == 3


def test_a_restart_differs_from_a_resubmit_and_counts_nothing(store: Store) -> None:
    say(store, exit_code={"tries": 1})
    submitted(store, job("one", [simple()]))
    site = Site.of(store, cpus=2)
    launch(site)
    lost = fail(store, "lost", outcome="lost")
    launch(site)
    fail(store, "exit-code")
    launch(site)

    assert (lost["phase"], lost["restarts"], lost["boost"]) == ("ready", 1, 10)
    assert fail(store, "exit-code")["phase"] == "failed"
    assert kinds(store) == [("first", "restart"), ("restart", "resubmit"), ("resubmit", "fail")]


def test_lost_packages_go_before_those_that_have_not_begun(store: Store) -> None:
    submitted(store, job("one", [simple(), simple(), simple()]))
    site = Site.of(store, cpus=1)
    launch(site)
    fail(store, "lost", outcome="lost")

    first = placement.requirements(store)[0]

    assert placement.oldest(store, first.id, 9) == [1]


def test_all_attempts_together_lasted_too_long(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    site = Site.of(store, cpus=2)
    for number, phase in enumerate(("cooloff", "failed"), 1):
        launch(site)
        ended = NOW + number * 20 * 3600
        began = ended - 19 * 3600
        assert fail(store, "stage-in", started=began, now=ended)["phase"] == phase
        wait(store, ended + 9999)
    assert (remark(row(store)["note"]) or "").endswith(
        "all attempts together lasted more than 1 d 12 h"
    )


def test_the_next_try_goes_elsewhere_when_another_node_fits(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    say(store, hook={"elsewhere": True})
    site = Site.of(store, "other", cpus=2)
    first = launch(site)

    assert fail(store, "hook")["avoid"] == first
    wait(store, NOW + 300)
    second = launch(site)
    assert second != first
    assert fail(store, "hook")["avoid"] == f"{second} {first}"
    wait(store, NOW + 600)
    assert launch(site) == first
    assert faults(store) == {}


def test_missing_software_is_looked_for_on_each_node_once(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    site = Site.of(store, "other", cpus=2)
    first = launch(site)
    assert fail(store, "software-missing")["phase"] == "cooloff"
    wait(store, NOW + 600)

    assert launch(site) != first
    assert fail(store, "software-missing")["phase"] == "failed"
    assert (
        remark(row(store)["note"])
        == "software-missing; it failed like this on all nodes that could take it"
    )


def test_missing_software_is_looked_for_on_all_nodes_before_one_is_tried_again(
    store: Store,
) -> None:
    submitted(store, job("one", [simple()]))
    site = Site.of(store, "other", "third", "fourth", cpus=2)
    tried = []
    for at, phase in enumerate(["cooloff", "cooloff", "cooloff", "failed"], 1):
        tried.append(launch(site))
        assert fail(store, "software-missing")["phase"] == phase
        wait(store, NOW + 600 * at)

    assert sorted(tried) == ["fourth", "localhost", "other", "third"]
    assert row(store)["avoid"].split() == [tried[-1], *sorted(tried[:-1])]


def test_a_retry_by_a_person_goes_to_a_node_on_which_the_package_has_not_failed(
    store: Store,
) -> None:
    submitted(store, job("one", [simple()]))
    site = Site.of(store, "other", "third", cpus=2)
    third = next(number for number, node in site.nodes.items() if node.name == "third")
    with store.writing():
        drain(store, third, note=None, now=NOW)
    for at, phase in enumerate(["cooloff", "failed"], 1):
        launch(site)
        assert fail(store, "software-missing")["phase"] == phase
        wait(store, NOW + 600 * at)
    with store.writing():
        resume(store, third)
    person(store, "ready")

    assert launch(site) == "third"


def test_where_no_other_node_fits_it_goes_where_it_was(store: Store) -> None:
    say(store, hook={"elsewhere": True})
    submitted(store, job("one", [simple()]))
    site = Site.of(store, cpus=2)
    first = launch(site)
    fail(store, "hook")
    wait(store, NOW + 300)

    assert launch(site) == first


def test_a_full_disk_is_tried_again_also_where_there_is_no_other_node(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    site = Site.of(store, cpus=2)
    first = launch(site)

    assert remark(fail(store, "disk-full")["note"]) == "try 1 of 3, after disk-full"
    wait(store, NOW + 600)
    assert launch(site) == first


def test_a_package_that_took_more_disk_than_it_requests_is_left_to_a_person(store: Store) -> None:
    submitted(store, job("one", [simple(disk=10**9)]))
    launch(Site.of(store, cpus=2))
    record = {"binary": 1, "started": NOW, "ended": NOW, "exit_code": 0, "signal": None, "cpu": 1.0,
              "rss": 1, "gap": None, "disk": 2 * 10**9}  # fmt: skip

    found = fail(store, "disk-full", binaries=[record])

    assert remark(found["note"]) == "disk-full; it needs more disk than it requests"


def test_a_package_out_of_memory_asks_for_more_and_keeps_it(store: Store) -> None:
    say(store, out_of_memory={"escalate": {"memory": 1.5}})
    submitted(store, job("one", [simple(memory=1000), simple(memory=1000)]))
    site = Site.of(store, cpus=2)
    site.schedule()
    site.hand_out(site.node("localhost"))

    found = fail(store, "out-of-memory", rss=1200)

    assert (found["phase"], found["memory"]) == ("ready", 1500)
    assert row(store, 2)["memory"] == 1000
    assert faults(store) == {}


def test_a_wall_time_that_was_too_short_grows(store: Store) -> None:
    say(store, wall_time={"escalate": {"wall-time": 2.0}})
    submitted(store, job("one", [simple(wall_time=60.0)]))
    launch(Site.of(store, cpus=2))

    assert fail(store, "wall-time")["wall_time"] == 120.0
