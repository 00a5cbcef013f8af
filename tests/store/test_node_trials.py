"""Drained nodes: a package tries them again, and people decide about them."""

import pytest

from d0ctl.errors import Refused
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs import retry
from d0ctl.store.nodes import draining
from tests.store.bad_nodes import StillSite, drained, set_up
from tests.support.acting import act
from tests.support.jobs import NOW
from tests.support.messages import end_message


def wait(site: StillSite) -> None:
    """Let time go on until the drained node is to be tried."""
    bad = draining.bad_node(site.store, site.node("hole").id)
    assert bad is not None
    site.at = bad.next_try


def test_after_a_while_one_package_tries_it_and_a_success_brings_it_back(
    store: Store,
) -> None:
    site = drained(store)
    site.at += 1000.0
    site.fill()
    assert not site.running(site.node("hole"))
    wait(site)
    site.fill()
    site.fill()
    assert len(site.running(site.node("hole"))) == 1

    site.end_running(site.node("hole"), "successful")

    assert not site.row("hole").drained
    assert site.problems() == []
    site.fill()
    assert len(site.running(site.node("hole"))) == 1
    deeds = store.rows("node_deeds", name="hole", limit=1)
    assert [(row["actor"], row["verb"]) for row in deeds] == [("d0ctl", "node resume")]


def test_a_node_that_fails_again_rests_twice_as_long_without_spending_a_try(store: Store) -> None:
    site = drained(store)
    wait(site)
    tried = site.at
    site.fill()
    (attempt,) = site.running(site.node("hole"))

    site.end_running(site.node("hole"), "failed", "exit-code")

    bad = draining.bad_node(store, site.node("hole").id)
    assert bad is not None
    assert (bad.times, bad.next_try) == (2, tried + 3600)
    row = store.connection.execute(
        "select attempt.answer, package.phase from attempt"
        " join package on package.id = attempt.package_id where attempt.id = ?", [attempt],
    ).fetchone()  # fmt: skip
    assert tuple(row) == ("restart", "ready")
    (deed,) = store.rows("node_deeds", name="hole", limit=1)
    assert (deed["verb"], remark(deed["note"])) == (
        "node drain", "a trial package failed, too; the next trial is in 1 h 00 min"
    )  # fmt: skip
    site.fill()
    assert not site.running(site.node("hole"))


def test_the_trial_is_made_again_when_its_package_is_gone(store: Store) -> None:
    site = drained(store)
    wait(site)
    site.fill()
    hole = site.node("hole")
    site.unlink(hole)
    assert site.problems() == [("hole", "down"), ("hole", "drained")]
    hole.attempts.clear()
    site.link(hole)
    site.fill()

    assert len(site.running(hole)) == 1


def test_a_person_who_resumes_it_clears_its_record(store: Store) -> None:
    site = drained(store)

    act(store, "node resume", "hole", actor="eve", note="new disk", now=NOW)

    assert site.problems() == []
    site.fill()
    assert len(site.running(site.node("hole"))) == 1
    assert store.rows("streaks", stages="[1]") == []


def test_a_person_who_drains_it_has_it_stay_so(store: Store) -> None:
    site = drained(store)

    act(store, "node drain", "hole", actor="eve", note="to the shop", now=NOW + 1)
    with pytest.raises(Refused, match="drained by eve"):
        act(store, "node drain", "hole", actor="bob", note="mine", now=NOW + 2)
    site.at += 1e6
    site.fill()

    row = site.row("hole")
    assert (row.drain_note, row.drained_at) == ("to the shop", NOW + 1)
    assert not site.running(site.node("hole"))


def test_a_retry_by_a_person_clears_the_nodes_of_its_job(store: Store) -> None:
    site = drained(store)
    site.fill()
    site.end_running(site.node("good"), "failed", "exit-code")
    failed = [row[0] for row in store.connection.execute(
        "select id from package where phase = 'failed'")]  # fmt: skip
    assert failed

    with store.writing():
        selected = store.select(failed)
        retry.retry(selected, actor="eve", note=None, now=site.at)

    assert site.problems() == []
    assert store.rows("job_node_records", job=1) == []


def test_kills_and_lost_contact_drain_nobody(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=200)
    for _ in range(6):
        site.fill()
        hole = site.node("hole")
        with store.writing():
            messages.fail(store, hole.id, site.running(hole), reason="platform-failure",
                          message="rebooted", now=site.at)  # fmt: skip
        hole.attempts.clear()
        for name in ("localhost", "good"):
            site.end_running(site.node(name), "successful")
        site.at += 60.0

    assert site.problems() == []
    assert {row["node_id"]: row["failed"] for row in store.rows("job_node_records", job=1)}[
        site.node("hole").id
    ] == 6


def test_launches_that_a_node_refuses_speak_against_it(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=200)
    hole = site.node("hole")
    for _ in range(200):
        site.fill()
        with store.writing():
            for attempt in site.running(hole):
                launches.refuse(store, hole.id, attempt, "launch-failed", "fork: no", now=site.at)
        hole.attempts.clear()
        for name in ("localhost", "good"):
            site.end_running(site.node(name), "successful")
        site.at += 10.0

    assert site.problems() == [("hole", "drained")]
    assert site.launched_on("hole") == 3


def test_an_end_reported_twice_counts_once(store: Store) -> None:
    site = set_up(store, "hole")
    site.fill()
    (attempt,) = site.running(site.node("hole"))
    message = end_message(attempt, "failed", "exit-code")
    for _ in range(2):
        with store.writing():
            messages.apply(store, [message, message], now=site.at)

    (row,) = store.rows("streaks", stages="[1]")
    assert (row["streak"], row["failed"]) == (1, 1)
