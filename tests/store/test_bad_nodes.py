"""Bad nodes in the store: drained with the evidence, tried again, resumed."""

import json

import pytest
from msgspec.structs import replace

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.policy.remarks import NodeFailing, read
from d0ctl.schedule.choice import Decision
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store
from d0ctl.store.attempts import node_record
from d0ctl.store.attempts.node_record import Ended
from d0ctl.store.attempts.outputs import forget_wrong
from d0ctl.store.nodes import draining, placement
from tests.store.bad_nodes import StillSite, fail_on, set_up
from tests.support import rows
from tests.support.homes import faults
from tests.support.jobs import job, phases, simple, submitted


def test_a_node_that_fails_packages_that_succeed_elsewhere_is_drained_with_the_evidence(
    store: Store,
) -> None:
    site = set_up(store, "good", "hole")

    fail_on(site, "hole", rounds=200)

    assert site.launched_on("hole") == 3
    bad = draining.bad_node(store, site.node("hole").id)
    assert bad is not None
    evidence = read(bad.evidence)
    assert isinstance(evidence, NodeFailing)
    assert (evidence.stage, evidence.failures, evidence.longest_s) == ("sim/1", 3, 0.0)
    assert evidence.reasons == {"exit-code": 3}
    assert len(evidence.packages) == 3
    assert (remark(bad.evidence) or "").startswith(
        "3 attempts of `sim/1` failed here in a row, the longest after 0.0 s (exit-code 3 times),"
        " while "
    )
    assert site.problems() == [("hole", "drained")]
    deeds = store.rows("node_deeds", name="hole", limit=9)
    assert [(row["actor"], row["verb"]) for row in deeds] == [("d0ctl", "node drain")]


def test_a_package_assigned_to_a_node_that_is_drained_is_ready_for_another(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=400)
    hole = site.node("hole")
    query = "select id from package where phase = 'ready' order by id desc limit 1"
    while not site.row("hole").drained:
        site.fill()
        for name in ("localhost", "good"):
            site.end_running(site.node(name), "successful")
        (planned,) = store.connection.execute(query).fetchone()
        with store.writing():
            placement.assign(store, [Decision(planned, hole.id, 0)], now=site.at)
        site.end_running(hole, "failed", "exit-code")
        site.at += 60.0

    query = "select phase, node_id from package where id = ?"
    assert tuple(store.connection.execute(query, [planned]).fetchone()) == ("ready", None)


def test_packages_that_failed_there_run_elsewhere_and_keep_their_tries(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=12)
    fail_on(site, "hole", rounds=200)

    for _ in range(20):
        site.round("hole")

    assert set(phases(store).values()) == {"done"}
    answers = store.connection.execute(
        "select distinct answer from attempt where node_name = 'hole'"
    ).fetchall()
    assert [row[0] for row in answers] == ["restart"]
    assert faults(store) == {}


def test_a_job_that_fails_everywhere_drains_no_node_and_waits_for_none(store: Store) -> None:
    site = set_up(store, "one", "two", packages=60, max_alike_failures=0)

    for _ in range(20):
        site.round("localhost", "one", "two", step=0.1)

    assert set(phases(store).values()) == {"failed"}
    assert site.problems() == []


def test_a_node_with_packages_that_request_too_little_is_neither_drained_nor_pauses(
    store: Store,
) -> None:
    site = set_up(store, "good", "small", packages=60, max_alike_failures=0)

    for reason in ("out-of-memory", "wall-time") * 5:
        site.round("small", reason=reason, step=0.1)

    assert site.launched_on("small") >= 10
    assert site.problems() == []


def test_a_package_that_failed_elsewhere_for_the_same_reason_does_not_speak_against_a_node(
    store: Store,
) -> None:
    site = set_up(store, "one", "two", packages=2)
    site.fill()
    one, two = site.row("one").id, site.row("two").id
    ends = [Ended(1, 1, node, 1, site.at, 1.0, "exit-code") for node in (one, two)]
    rows.change(
        store, "attempt", {"package_id": 1}, node_id=one, outcome="failed", reason="exit-code"
    )

    with store.writing():
        node_record.keep(store, ends)
        node_record.keep(store, [replace(ends[1], package=2)])
        node_record.keep(store, [replace(ends[1], reason="signal")])

    found = rows.read(store, "node_record", "node_id", "failed", by="node_id")
    assert found == [(one, 1), (two, 2)]


def test_before_others_have_run_it_a_node_that_fails_at_once_pauses(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=300)

    for _ in range(600):
        site.fill()
        site.end_running(site.node("hole"), "failed", "software-missing")
        site.at += 1.0

    assert site.launched_on("hole") == 3
    assert not site.row("hole").drained
    for name in ("localhost", "good"):
        site.end_running(site.node(name), "successful")
        site.fill()
    assert not site.row("hole").drained
    for name in ("localhost", "good"):
        site.end_running(site.node(name), "successful")
    assert site.row("hole").drained


def test_one_bad_package_makes_an_honest_node_pause_for_seconds_only(store: Store) -> None:
    site = set_up(store, "honest", cpus=8, packages=60)
    site.fill()
    site.end_running(site.node("honest"), "failed", "exit-code", most=1)
    site.fill()
    assert len(site.running(site.node("honest"))) == 7
    site.at += 40.0
    site.fill()

    assert len(site.running(site.node("honest"))) == 8


def test_packages_that_only_a_suspect_can_take_do_not_wait(store: Store) -> None:
    pinned = [simple(nodes=("hole",)) for _ in range(20)]
    submitted(store, job("sim", [simple(exclude_nodes=("hole",)), *pinned]))
    site = StillSite.of(store, "hole", cpus=1)

    for _ in range(20):
        site.fill()
        site.end_running(site.node("hole"), "failed", "exit-code")

    assert site.launched_on("hole") == 20


def test_a_suspect_pauses_while_its_failed_packages_wait_to_go_elsewhere(
    store: Store,
) -> None:
    with store.writing():
        rules = {"hook": {"tries": 9, "delay": [1.0], "elsewhere": "only"}}
        store.change("keep_setting", name="policy", value=json.dumps(rules))
    site = set_up(store, "hole", packages=50)
    for _ in range(9):
        site.fill()
        site.end_running(site.node("hole"), "failed", "hook")
        site.at += 1.0

    assert site.launched_on("hole") == 1


def test_a_node_that_has_just_run_the_stage_well_is_not_drained_for_three_failures(
    store: Store,
) -> None:
    site = set_up(store, "good", "honest", packages=40)
    honest = site.node("honest")
    for _ in range(3):
        site.round()

    for _ in range(3):
        site.round("honest")

    assert not site.row("honest").drained
    assert site.launched_on("honest") == 6
    assert honest.attempts


def test_a_verdict_is_taken_back_when_a_package_that_began_later_runs_well(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=400, cpus=8)
    good, hole = site.node("good"), site.node("hole")
    for _ in range(9):
        site.fill()
        site.end_running(good, "successful")
    while not site.row("hole").drained:
        site.at += 60.0
        site.fill()
        site.end_running(hole, "failed", "exit-code", most=1)
    assert len(site.running(hole)) > 1

    site.at += 1.0
    site.end_running(hole, "successful", most=1)

    assert not site.row("hole").drained
    assert draining.bad_node(store, hole.id) is None
    (deed,) = store.rows("node_deeds", name="hole", limit=1)
    assert (deed["actor"], deed["verb"]) == ("d0ctl", "node resume")
    assert "succeeded" in deed["note"]


@pytest.mark.parametrize("reason", ["hook", "missing-input"])
def test_what_fails_everywhere_since_it_was_changed_or_removed_drains_no_node(
    store: Store, reason: str
) -> None:
    site = set_up(store, "one", "two", packages=80)
    for _ in range(5):
        site.round()

    site.fill()
    site.end_running(site.node("one"), "successful")
    for _ in range(10):
        site.at += 3600.0
        site.fill()
        site.end_running(site.node("one"), "failed", reason)
    for _ in range(5):
        site.round()

    assert site.problems() == []


@pytest.mark.parametrize("reason", ["hook", "missing-input"])
def test_a_node_where_something_fails_that_works_on_others_is_drained(
    store: Store, reason: str
) -> None:
    site = set_up(store, "good", "hole", packages=400)

    for _ in range(40):
        site.round("hole", reason=reason)

    assert site.problems() == [("hole", "drained")]


def test_a_small_job_does_not_fail_because_of_a_bad_node(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=12)
    hole = site.node("hole")
    for _ in range(2):
        site.at += 3600.0
        site.fill()
        site.end_running(hole, "failed", "exit-code")
    assert site.launched_on("hole") == 2

    others = [node for node in site.nodes.values() if node is not hole]
    while sum(site.end_running(node, "successful") for node in others):
        site.fill()

    assert set(phases(store).values()) == {"done"}
    assert site.launched_on("hole") == 2
    assert not site.row("hole").drained
    assert faults(store) == {}


def test_a_node_whose_results_are_never_what_it_says_is_drained(store: Store) -> None:
    lines = [simple(outputs=[OutputSpec(f"x-{n}", result=True)]) for n in range(40)]
    submitted(store, job("sim", lines))
    site = StillSite.of(store, "liar", cpus=1)
    query = (
        "select file_id, cluster_id from location where cluster_id ="
        " (select cluster_id from node where name = 'liar')"
    )

    for _ in range(9):
        site.round()
        copies = [tuple(row) for row in store.connection.execute(query)]
        with store.writing():
            forget_wrong(store, copies, "`x` is larger than its 7 bytes", now=site.at)

    assert site.launched_on("liar") == 3
    bad = draining.bad_node(store, site.node("liar").id)
    assert bad is not None
    assert (remark(bad.evidence) or "").startswith(
        "3 attempts of `sim/1` failed here in a row, the longest after 0.0 s"
        " (launches refused, or other results than reported), while "
    )
    assert faults(store) == {}
