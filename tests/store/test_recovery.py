"""Failures answered by policies in the store: what packages, attempts and demands become."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.model import Phase
from d0ctl.store import Store, lifecycle, open_store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs import pause as pausing
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.standstill import is_settled
from tests.support.homes import faults, make_home
from tests.support.jobs import NOW, job, simple, stage, submitted
from tests.support.world import World, end_message


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home."""
    return make_home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """Its store."""
    with open_store(home) as store:
        yield store


def say(store: Store, **rules: dict[str, Any]) -> None:
    """Put a policy of the site in force; `_` stands for `-`."""
    value = json.dumps({name.replace("_", "-"): rule for name, rule in rules.items()})
    with store.writing():
        store.change("keep_setting", name="policy", value=value)


def row(store: Store, package: int = 1) -> Any:
    """A package with its demand."""
    return store.connection.execute(
        "select package.*, demand.memory, demand.avoid, demand.boost from package"
        " join demand on demand.id = demand_id where package.id = ?", [package],
    ).fetchone()  # fmt: skip


def launch(world: World) -> str:
    """Plan and launch the one package there is; the node that it went to."""
    assert world.schedule() == 1
    (node,) = (node for node in world.nodes.values() if world.launch(node))
    return node.name


def fail(
    store: Store, reason: str, *, outcome: str = "failed", now: float = NOW, **more: Any
) -> Any:
    """End the attempt that counts; the package after it."""
    message = end_message(row(store)["attempt_id"], outcome, reason) | {"ended": now} | more
    with store.writing():
        messages.apply(store, [message], now=now)
    return row(store)


def wait(store: Store, now: float) -> str:
    """Let time go on; the phase of the package."""
    with store.writing():
        placement.advance(store, now=now)
    return str(row(store)["phase"])


def person(store: Store, phase: str) -> None:
    """A person has the package tried again, as `retry` does."""
    with store.writing():
        store.connection.execute(
            "update package set phase = ?, node_id = null, not_before = null, actor = 'eve'"
            " where id = 1",
            [phase],
        )


def hold(store: Store, now: float) -> None:
    """A person holds the package."""
    with store.writing():
        lifecycle.choose(store, [1])
        lifecycle.hold(store, actor="eve", note=None, now=now)


def release(store: Store, now: float) -> None:
    """A person releases it."""
    with store.writing():
        lifecycle.choose(store, [1])
        lifecycle.release(store, actor="eve", note=None, now=now)


def kinds(store: Store) -> list[tuple[str, str]]:
    """Each attempt's kind, and what followed it."""
    rows = store.connection.execute("select kind, answer from attempt order by id")
    return [tuple(one) for one in rows]


def test_a_recoverable_error_cools_off_until_its_time_and_is_resubmitted(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    world = World(store)
    launch(world)

    found = fail(store, "stage-in", detail="no route")

    assert (found["phase"], found["not_before"]) == ("cooloff", NOW + 300)
    assert found["note"] == "try 1 of 10, after stage-in: no route"
    assert wait(store, NOW + 299) == "cooloff"
    assert wait(store, NOW + 300) == "ready"
    launch(world)
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
    world = World(store)
    for phase in ("ready", "ready", "failed"):
        launch(world)
        assert fail(store, "exit-code")["phase"] == phase
    assert row(store)["note"] == "exit-code; it was tried again 2 times"

    person(store, "ready")
    for phase in ("ready", "ready", "failed"):
        launch(world)
        assert fail(store, "exit-code")["phase"] == phase
    assert row(store)["tried_from"] == 3


def test_a_restart_is_told_from_a_resubmit_and_counts_nothing(store: Store) -> None:
    say(store, exit_code={"tries": 1})
    submitted(store, job("one", [simple()]))
    world = World(store)
    launch(world)
    lost = fail(store, "lost", outcome="lost")
    launch(world)
    fail(store, "exit-code")
    launch(world)

    assert (lost["phase"], lost["restarts"], lost["boost"]) == ("ready", 1, 10)
    assert fail(store, "exit-code")["phase"] == "failed"
    assert kinds(store) == [("first", "restart"), ("restart", "resubmit"), ("resubmit", "fail")]


def test_what_was_lost_goes_before_what_has_not_begun(store: Store) -> None:
    submitted(store, job("one", [simple(), simple(), simple()]))
    world = World(store, cpus=1)
    launch(world)
    fail(store, "lost", outcome="lost")

    first = placement.demands(store)[0]

    assert placement.oldest(store, first.id, 9) == [1]


def test_all_attempts_together_lasted_too_long(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    world = World(store)
    for number, phase in enumerate(("cooloff", "failed"), 1):
        launch(world)
        ended = NOW + number * 20 * 3600
        began = ended - 19 * 3600
        assert fail(store, "stage-in", started=began, now=ended)["phase"] == phase
        wait(store, ended + 9999)
    assert row(store)["note"].endswith("all attempts together lasted more than 1 d 12 h")


def test_the_next_try_goes_elsewhere_when_another_node_fits(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    say(store, hook={"elsewhere": True})
    world = World(store, "other")
    first = launch(world)

    assert fail(store, "hook")["avoid"] == first
    wait(store, NOW + 300)
    second = launch(world)
    assert second != first
    assert fail(store, "hook")["avoid"] == second
    assert faults(store) == {}


def test_missing_software_is_looked_for_on_each_node_once(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    world = World(store, "other")
    first = launch(world)
    assert fail(store, "software-missing")["phase"] == "cooloff"
    wait(store, NOW + 600)

    assert launch(world) != first
    assert fail(store, "software-missing")["phase"] == "failed"
    assert row(store)["note"] == "software-missing; no other node can take it"


def test_where_no_other_node_fits_it_goes_where_it_was(store: Store) -> None:
    say(store, hook={"elsewhere": True})
    submitted(store, job("one", [simple()]))
    world = World(store)
    first = launch(world)
    fail(store, "hook")
    wait(store, NOW + 300)

    assert launch(world) == first


def test_a_full_disk_is_left_to_a_person_where_there_is_no_other(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    launch(World(store))

    assert fail(store, "disk-full")["note"] == "disk-full; no other node can take it"


def test_a_package_out_of_memory_asks_for_more_and_gives_it_back_never(store: Store) -> None:
    say(store, out_of_memory={"escalate": {"memory": 1.5}})
    submitted(store, job("one", [simple(memory=1000), simple(memory=1000)]))
    world = World(store)
    world.schedule()
    world.launch(world.node("localhost"))

    found = fail(store, "out-of-memory", rss=2000)

    assert (found["phase"], found["memory"]) == ("ready", 1500)
    assert row(store, 2)["memory"] == 1000
    assert faults(store) == {}


def test_a_wall_time_that_was_too_short_grows(store: Store) -> None:
    say(store, wall_time={"escalate": {"wall-time": 2.0}})
    submitted(store, job("one", [simple(wall_time=60.0)]))
    launch(World(store))

    assert fail(store, "wall-time")["wall_time"] == 120.0


def test_held_by_the_policy_it_is_released_in_time_and_not_sooner(store: Store) -> None:
    say(store, hook={"tries": 0, "hold": True, "release": 300.0})
    number = submitted(store, job("one", [simple()]))
    launch(World(store))

    found = fail(store, "hook", detail="no token")

    assert (found["phase"], found["actor"], found["note"]) == ("held", "policy", "hook: no token")
    assert not is_settled(store, number)
    assert wait(store, NOW + 299) == "held"
    assert wait(store, NOW + 300) == "ready"
    assert row(store)["tried_from"] == 0


def test_held_for_good_it_waits_for_a_person_whose_release_counts_anew(store: Store) -> None:
    say(store, exit_code={"hold": True})
    number = submitted(store, job("one", [simple()]))
    launch(World(store))
    found = fail(store, "exit-code")

    assert (found["phase"], found["not_before"]) == ("held", None)
    assert is_settled(store, number)
    with store.writing():
        lifecycle.choose(store, [1])
        lifecycle.release(store, actor="eve", note=None, now=NOW)
    assert (row(store)["phase"], row(store)["tried_from"]) == ("ready", 1)


def test_a_package_that_is_held_in_its_cool_off_cools_off_for_the_rest_once_it_is_released(
    store: Store,
) -> None:
    submitted(store, job("one", [simple()]))
    launch(World(store))
    fail(store, "stage-in")

    hold(store, now=NOW + 10)
    assert wait(store, NOW + 20) == "held"
    release(store, now=NOW + 30)

    assert (row(store)["phase"], row(store)["not_before"]) == ("cooloff", NOW + 300)
    assert wait(store, NOW + 299) == "cooloff"
    assert wait(store, NOW + 300) == "ready"
    assert (row(store)["tried_from"], faults(store)) == (0, {})


def test_a_package_that_a_user_holds_is_not_released_when_its_cool_off_ends(store: Store) -> None:
    number = submitted(store, job("one", [simple()]))
    launch(World(store))
    fail(store, "stage-in")

    hold(store, now=NOW + 10)

    assert wait(store, NOW + 301) == "held"
    assert is_settled(store, number)
    release(store, now=NOW + 302)
    assert (row(store)["phase"], row(store)["not_before"]) == ("ready", None)


def test_a_package_that_is_paused_in_its_cool_off_cools_off_for_the_rest_once_it_is_resumed(
    store: Store,
) -> None:
    submitted(store, job("one", [simple()]))
    launch(World(store))
    fail(store, "stage-in")

    with store.writing():
        lifecycle.choose(store, [1])
        pausing.pause(store, running=False, actor="eve", note=None, now=NOW + 10)
        pausing.resume(store, actor="eve", note=None, now=NOW + 20)

    assert (row(store)["phase"], row(store)["not_before"]) == ("cooloff", NOW + 300)
    assert wait(store, NOW + 300) == "ready"
    assert faults(store) == {}


def test_a_passive_rule_counts_and_does_not_act(store: Store) -> None:
    say(store, stage_in={"passive": True})
    submitted(store, job("one", [simple()]))
    launch(World(store))

    found = fail(store, "stage-in")

    assert found["phase"] == "failed"
    assert found["note"] == "stage-in; the rule is passive: it would be tried again"


def test_the_package_overrules_its_job_and_the_job_the_site(store: Store) -> None:
    say(store, exit_code={"tries": 9})
    own = simple(policy={"exit-code": {"tries": 0}})
    submitted(store, job("one", stage(simple(), own), policy={"exit-code": {"delay": [60.0]}}))
    world = World(store)
    world.schedule()
    world.launch(world.node("localhost"))
    ends = [end_message(n, "failed", "exit-code") for n in (1, 2)]
    with store.writing():
        messages.apply(store, ends, now=NOW)

    assert (row(store, 1)["phase"], row(store, 1)["not_before"]) == (Phase.COOLOFF, NOW + 60)
    assert row(store, 2)["phase"] == Phase.FAILED


def test_a_launch_refused_again_and_again_is_held_and_is_no_failure(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    world = World(store, "other")
    gone = NOW
    for phase in ("cooloff", "cooloff", "cooloff", "held"):
        name = launch(world)
        gone += 10_000
        with store.writing():
            launches.refuse(store, world.node(name).id, row(store)["attempt_id"], "launch-failed",
                            "fork: no", now=gone)  # fmt: skip
        found = row(store)
        assert (found["phase"], found["avoid"]) == (phase, name)
        wait(store, found["not_before"] - 1)
        assert row(store)["phase"] == phase
        wait(store, found["not_before"])
    assert row(store)["phase"] == "ready"
    assert store.connection.execute("select count(*) from failure").fetchone()[0] == 0
    assert faults(store) == {}


def test_a_second_end_of_the_same_attempt_changes_nothing(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    launch(World(store))
    message = end_message(1, "failed", "hook")
    for _ in range(2):
        with store.writing():
            messages.apply(store, [message, message], now=NOW)

    assert kinds(store) == [("first", "resubmit")]
    assert row(store)["not_before"] == NOW + 300
