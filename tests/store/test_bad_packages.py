"""Packages that fail on any node, and the node that happened to get them first."""

from collections.abc import Collection

import pytest

from d0ctl.policy.remarks import NodeFailing, read
from d0ctl.store import Store
from d0ctl.store.attempts import node_record
from d0ctl.store.jobs import retry
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes import draining
from tests.store.bad_nodes import StillSite, fail_on, set_up
from tests.support import rows
from tests.support.jobs import phases


def end_others(site: StillSite, bad: Collection[tuple[int]]) -> int:
    """End the attempts on the good nodes, those of bad packages with a failure; how many failed."""
    site.fill()
    times = 0
    for node in (site.node("localhost"), site.node("good")):
        for attempt in site.running(node):
            is_bad = rows.read(site.store, "attempt", "package_id", id=attempt)[0] in bad
            times += is_bad
            node.end(attempt, *(("failed", "exit-code") if is_bad else ("successful", None)))
        site.deliver(node, node.spool)
    site.at += 1.0
    return times


def failed_packages(store: Store) -> Collection[tuple[int]]:
    """The packages with a failed attempt."""
    return rows.read(store, "attempt", "package_id", outcome="failed")


def succeed_elsewhere(site: StillSite) -> None:
    """Let packages succeed on the good nodes, while the other has some, too."""
    for name in ("good", "localhost"):
        site.fill()
        site.end_running(site.node(name), "successful")


def test_a_node_takes_packages_again_if_most_that_failed_there_fail_elsewhere_too(
    store: Store,
) -> None:
    site = set_up(store, "good", "hole", packages=400, cpus=5)
    succeed_elsewhere(site)
    site.end_running(site.node("hole"), "failed", "exit-code")
    assert site.row("hole").drained
    failed = failed_packages(store)
    times = 0

    while site.row("hole").drained:
        times += end_others(site, failed)

    deed = store.rows("node_deeds", name="hole", limit=1)[0]
    assert (deed["verb"], deed["note"]) == ("node resume", "failed-elsewhere")
    assert len(failed) == 5 and times >= 3


def test_a_node_is_not_drained_for_packages_that_failed_elsewhere_since(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=400, cpus=5)
    hole = site.node("hole")
    succeed_elsewhere(site)
    site.end_running(hole, "failed", "exit-code", most=2)
    failed, times = failed_packages(store), 0
    while times < 2:
        times += end_others(site, failed)

    site.end_running(hole, "failed", "exit-code", most=1)
    end_others(site, ())

    assert not site.row("hole").drained
    assert node_record.worse_than_elsewhere(store, hole.id, since=0.0, limit=9) == []

    site.end_running(hole, "failed", "exit-code")
    assert site.row("hole").drained


def test_failures_before_a_retry_by_a_person_do_not_clear_a_node(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=12, max_alike_failures=0)
    for _ in range(4):
        site.round("localhost", "good", "hole", step=0.1)
    assert set(phases(store).values()) == {"failed"}

    with store.writing():
        selected = store.select(range(1, 13))
        retry.retry(selected, actor="eve", note=None, now=site.at)
    fail_on(site, "hole", rounds=200)

    assert len(rows.read(store, "attempt", "id", node_name="hole")) <= 4 + 3


def test_failures_that_were_blamed_on_a_node_are_tries_if_the_package_fails_elsewhere_too(
    store: Store,
) -> None:
    policy = {"exit-code": {"tries": 1, "delay": [0.0]}}
    site = set_up(store, "good", "hole", packages=400, cpus=5, policy=policy)
    succeed_elsewhere(site)
    site.end_running(site.node("hole"), "failed", "exit-code", most=2)
    failed = failed_packages(store)
    for _ in range(30):
        end_others(site, failed)

    for (package,) in failed:
        tried = rows.read(store, "attempt", "node_name", "answer", package_id=package)
        assert [answer for _, answer in tried] == ["restart", "fail"]


def test_the_evidence_has_only_failures_that_were_counted(store: Store) -> None:
    policy = {"exit-code": {"tries": 9, "delay": [0.0]}}
    site = set_up(store, "good", "hole", packages=60, cpus=5, policy=policy)
    bad = [(package,) for package in range(1, 12)]
    for _ in range(40):
        end_others(site, bad)
        site.end_running(site.node("hole"), "failed", "exit-code")
        if site.row("hole").drained:
            break

    found = draining.bad_node(store, site.node("hole").id)
    assert found is not None
    evidence = read(found.evidence)
    assert isinstance(evidence, NodeFailing)
    assert sum(evidence.reasons.values()) <= evidence.failures


@pytest.mark.parametrize("rounds_after", [0, 1])
def test_successes_elsewhere_before_an_update_of_the_job_say_nothing_of_a_node(
    store: Store, rounds_after: int
) -> None:
    site = set_up(store, "one", "two", packages=80)
    for _ in range(5):
        site.round()
    with store.writing():
        keep_action(store, verb="update", target="sim", actor="me", note=None, packages=9,
                    now=site.at)  # fmt: skip
    for _ in range(rounds_after):
        site.round()
    for _ in range(10):
        site.at += 3600.0
        site.fill()
        site.end_running(site.node("one"), "failed", "exit-code")

    assert site.problems() == [("one", "drained")] * rounds_after
