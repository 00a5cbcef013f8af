"""Jobs in which a stage fails alike again and again, in the store: held, and released."""

from typing import Any

import pytest

from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store, lifecycle
from d0ctl.store.jobs import retry
from d0ctl.store.views import browse
from tests.store.bad_nodes import StillSite, set_up
from tests.support.jobs import NOW


def alone(store: Store, packages: int = 40, cpus: int = 4, **more: Any) -> StillSite:
    """A job of many packages for one node."""
    site = set_up(store, "farm", packages=packages, cpus=cpus, **more)
    store.connection.execute("update node set drained = 1 where name = 'localhost'")
    return site


def fail(site: StillSite, most: int, reason: str = "exit-code", outcome: str = "failed") -> int:
    """Let packages end so until there were so many, or no more run; how many there were."""
    ended = 0
    while ended < most:
        site.fill()
        now = site.end_running(site.node("farm"), outcome, reason, most - ended)
        if not now:
            break
        ended += now
        site.at += 3600.0
    return ended


def count_of(store: Store, phase: str) -> int:
    """How many packages are in a phase."""
    query = "select count(*) from package where phase = ?"
    return int(store.connection.execute(query, [phase]).fetchone()[0])


def hold_of(store: Store) -> tuple[bool, str | None, str | None]:
    """Whether the job is held, by whom and why."""
    job = browse.job(store, "sim")
    return bool(job.hold), job.hold_actor, remark(job.hold_note)


def test_a_job_is_held_after_twenty_alike_failures_and_no_success(store: Store) -> None:
    site = alone(store, packages=200, cpus=1)

    assert fail(site, 19) == 19
    assert hold_of(store)[0] is False
    fail(site, 200)

    note = "20 packages of `sim/1` failed alike (exit-code), and none had succeeded by then"
    assert hold_of(store) == (True, "d0ctl", note)
    assert (count_of(store, "failed"), count_of(store, "ready")) == (20, 180)
    deeds = store.connection.execute("select actor, verb, target, undo from action").fetchall()
    assert ("d0ctl", "hold", "sim", "d0ctl release sim") in [tuple(row) for row in deeds]


def test_a_stage_of_which_one_package_succeeded_is_not_stopped(store: Store) -> None:
    site = alone(store)
    site.fill()
    site.end_running(site.node("farm"), "successful", most=1)

    assert fail(site, 39) == 39
    assert hold_of(store) == (False, None, None)


def test_other_reasons_count_apart(store: Store) -> None:
    site = alone(store)

    fail(site, 19, "exit-code")
    fail(site, 19, "missing-output")

    assert hold_of(store)[0] is False


@pytest.mark.parametrize("reason", ["killed", "no-inputs"])
def test_failures_that_no_package_caused_do_not_count(store: Store, reason: str) -> None:
    site = alone(store)

    assert fail(site, 40, reason) == 40
    assert hold_of(store)[0] is False


def test_failures_that_are_tried_again_do_not_count(store: Store) -> None:
    site = alone(store, policy={"exit-code": {"tries": 9, "delay": [60.0]}})

    assert fail(site, 60) == 60
    assert hold_of(store)[0] is False


@pytest.mark.parametrize(("most", "is_held"), [(3, True), (0, False)])
def test_a_job_sets_its_limit_of_alike_failures(store: Store, most: int, is_held: bool) -> None:
    site = alone(store, max_alike_failures=most)

    fail(site, 40)

    assert hold_of(store)[0] is is_held
    assert (count_of(store, "failed") < 10) is is_held


def test_failures_that_are_not_alike_hold_a_job_that_limits_them(store: Store) -> None:
    site = alone(store, cpus=1, packages=60, max_failures=4)
    site.fill()
    site.end_running(site.node("farm"), "successful", most=1)

    fail(site, 2, "exit-code")
    fail(site, 50, "missing-output")

    note = "4 packages of `sim` failed, and its `max-failures` is 4"
    assert hold_of(store) == (True, "d0ctl", note)
    assert count_of(store, "failed") == 4
    with store.writing():
        lifecycle.release_job(store, browse.job(store, "sim").id, now=NOW)
    fail(site, 50, "exit-code")
    assert count_of(store, "failed") == 8
    failed = store.connection.execute("select id from package where phase = 'failed'").fetchall()
    with store.writing():
        selected = store.select([row[0] for row in failed[:6]])
        retry.retry(selected, actor="emmy", note=None, now=NOW)
    fail(site, 50, "exit-code")
    assert count_of(store, "failed") == 2 + 4


def test_after_a_release_the_failures_count_anew(store: Store) -> None:
    site = alone(store, cpus=1, packages=60)
    fail(site, 60)
    assert count_of(store, "failed") == 20

    with store.writing():
        lifecycle.release_job(store, browse.job(store, "sim").id, now=NOW)
    fail(site, 60)

    assert count_of(store, "failed") == 40
    assert hold_of(store)[0] is True


def test_a_retry_of_failed_packages_lets_the_job_go_on(store: Store) -> None:
    site = alone(store, cpus=1, packages=30)
    fail(site, 30)
    assert hold_of(store)[0] is True

    failed = store.connection.execute("select id from package where phase = 'failed'").fetchall()
    with store.writing():
        selected = store.select([row[0] for row in failed])
        assert retry.retry(selected, actor="emmy", note=None, now=NOW) == 20

    assert hold_of(store) == (False, None, None)
    assert fail(site, 19) == 19
    assert hold_of(store)[0] is False


def test_a_retry_does_not_release_what_a_person_holds(store: Store) -> None:
    site = alone(store, cpus=1, packages=30)
    fail(site, 5)
    job = browse.job(store, "sim").id

    with store.writing():
        lifecycle.hold_job(store, job, actor="emmy", note=None, now=NOW)
        rows = store.connection.execute("select id from package where phase = 'failed'").fetchall()
        selected = store.select([row[0] for row in rows])
        retry.retry(selected, actor="emmy", note=None, now=NOW)

    assert hold_of(store)[:2] == (True, "emmy")


def test_a_node_that_still_runs_the_stage_without_a_failure_is_waited_for(store: Store) -> None:
    site = set_up(store, "farm", "slow", packages=60, cpus=30, max_alike_failures=8)
    store.connection.execute("update node set drained = 1 where name = 'localhost'")
    site.fill()
    assert site.end_running(site.node("farm"), "failed", "exit-code") >= 8
    assert hold_of(store)[0] is False

    site.end_running(site.node("slow"), "failed", "exit-code", most=1)

    assert hold_of(store)[0] is True


def test_the_site_says_how_many_where_a_job_does_not(store: Store) -> None:
    with store.writing():
        store.change("keep_setting", name="defaults", value='{"max-alike-failures": 3}')
    site = alone(store, cpus=1)

    fail(site, 40)

    assert (hold_of(store)[0], count_of(store, "failed")) == (True, 3)
