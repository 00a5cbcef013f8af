"""Packages that cool off, are held by the policy, and are released."""

from d0ctl.model import Phase
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store, lifecycle
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs import pause as pausing
from d0ctl.store.nodes.standstill import is_settled
from tests.store.failing import fail, kinds, launch, row, say, wait
from tests.support.homes import faults
from tests.support.jobs import NOW, job, simple, stage, submitted
from tests.support.messages import end_message
from tests.support.site import Site


def hold(store: Store, now: float) -> None:
    """A person holds the package."""
    with store.writing():
        selected = store.select([1])
        lifecycle.hold(selected, actor="eve", note=None, now=now)


def release(store: Store, now: float) -> None:
    """A person releases it."""
    with store.writing():
        selected = store.select([1])
        lifecycle.release(selected, actor="eve", note=None, now=now)


def test_a_package_held_by_the_policy_is_released_in_time_and_not_sooner(store: Store) -> None:
    say(store, hook={"tries": 0, "hold": True, "release": 300.0})
    number = submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))

    found = fail(store, "hook", detail="no token")

    assert (found["phase"], found["actor"]) == ("held", "policy")
    assert remark(found["note"]) == "hook: no token"
    assert not is_settled(store, number)
    assert wait(store, NOW + 299) == "held"
    assert wait(store, NOW + 300) == "ready"
    assert row(store)["tried_from"] == 0


def test_a_package_held_for_good_waits_for_a_person_whose_release_counts_anew(store: Store) -> None:
    say(store, exit_code={"hold": True})
    number = submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))
    found = fail(store, "exit-code")

    assert (found["phase"], found["not_before"]) == ("held", None)
    assert is_settled(store, number)
    with store.writing():
        selected = store.select([1])
        lifecycle.release(selected, actor="eve", note=None, now=NOW)
    assert (row(store)["phase"], row(store)["tried_from"]) == ("ready", 1)


def test_a_package_that_is_held_in_its_cool_off_cools_off_for_the_rest_once_it_is_released(
    store: Store,
) -> None:
    submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))
    cause = fail(store, "stage-in")["note"]

    for later in (10, 40):
        hold(store, now=NOW + later)
        assert wait(store, NOW + later + 10) == "held"
        release(store, now=NOW + later + 20)

        assert (row(store)["phase"], row(store)["not_before"]) == ("cooloff", NOW + 300)
        assert (row(store)["actor"], row(store)["note"]) == (None, cause)
    assert wait(store, NOW + 299) == "cooloff"
    assert wait(store, NOW + 300) == "ready"
    assert (row(store)["tried_from"], faults(store)) == (0, {})


def test_a_package_that_a_user_holds_is_not_released_when_its_cool_off_ends(store: Store) -> None:
    number = submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))
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
    launch(Site.of(store, cpus=2))
    cause = fail(store, "stage-in")["note"]

    with store.writing():
        selected = store.select([1])
        pausing.pause(selected, running=False, actor="eve", note=None, now=NOW + 10)
        pausing.resume(selected, actor="eve", note=None, now=NOW + 20)

    assert (row(store)["phase"], row(store)["not_before"]) == ("cooloff", NOW + 300)
    assert row(store)["note"] == cause
    assert wait(store, NOW + 300) == "ready"
    assert faults(store) == {}


def test_a_passive_rule_counts_and_does_not_act(store: Store) -> None:
    say(store, stage_in={"passive": True})
    submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))

    found = fail(store, "stage-in")

    assert found["phase"] == "failed"
    assert remark(found["note"]) == "stage-in; the rule is passive: it would be tried again"


def test_the_package_overrules_its_job_and_the_job_the_site(store: Store) -> None:
    say(store, exit_code={"tries": 9})
    own = simple(policy={"exit-code": {"tries": 0}})
    submitted(store, job("one", stage(simple(), own), policy={"exit-code": {"delay": [60.0]}}))
    site = Site.of(store, cpus=2)
    site.schedule()
    site.hand_out(site.node("localhost"))
    ends = [end_message(n, "failed", "exit-code") for n in (1, 2)]
    with store.writing():
        messages.apply(store, ends, now=NOW)

    assert (row(store, 1)["phase"], row(store, 1)["not_before"]) == (Phase.COOLOFF, NOW + 60)
    assert row(store, 2)["phase"] == Phase.FAILED


def test_a_launch_refused_again_and_again_is_held_and_is_no_failure(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    site = Site.of(store, "other", cpus=2)
    gone = NOW
    for phase in ("cooloff", "cooloff", "cooloff", "held"):
        name = launch(site)
        gone += 10_000
        with store.writing():
            launches.refuse(store, site.node(name).id, row(store)["attempt_id"], "launch-failed",
                            "fork: no", now=gone)  # fmt: skip
        found = row(store)
        assert (found["phase"], found["avoid"].split()[0]) == (phase, name)
        wait(store, found["not_before"] - 1)
        assert row(store)["phase"] == phase
        wait(store, found["not_before"])
    assert row(store)["phase"] == "ready"
    assert store.connection.execute("select count(*) from failure").fetchone()[0] == 0
    assert faults(store) == {}


def test_a_second_end_of_the_same_attempt_changes_nothing(store: Store) -> None:
    submitted(store, job("one", [simple()]))
    launch(Site.of(store, cpus=2))
    message = end_message(1, "failed", "hook")
    for _ in range(2):
        with store.writing():
            messages.apply(store, [message, message], now=NOW)

    assert kinds(store) == [("first", "resubmit")]
    assert row(store)["not_before"] == NOW + 300
