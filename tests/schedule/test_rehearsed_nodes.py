"""Nodes that fail packages are drained and excluded on a virtual clock, too."""

from collections.abc import Callable
from itertools import count

import pytest

from d0ctl.schedule.rehearsal.records import Conditions, Failure, Outcome, Task
from d0ctl.store.attempts import node_record
from d0ctl.store.jobs.rehearsal.node_trust import NodeTrust
from tests.schedule.test_rehearsal import node, run

BAD = 4


def rehearsed(fails: Callable[[int, int], Failure | None], tasks: int = 60) -> Outcome:
    """Run packages of 10 s on four nodes with one CPU, by the default rules."""
    limits = node_record.limits_of(None), node_record.exclusion_of(None)
    trust = NodeTrust(*limits, {0: frozenset(range(1, BAD + 1))})
    nodes = [node(number) for number in range(1, BAD + 1)]
    return run(nodes, [Task(1, 10.0)] * tasks, conditions=Conditions(fails=fails, trust=trust))


def test_a_node_that_fails_all_packages_is_drained_and_they_run_elsewhere() -> None:
    found = rehearsed(lambda task, at: Failure("exit-code", 1.0) if at == BAD else None)

    assert found.drained == {BAD: 1}
    assert (found.failed, found.stuck) == ({}, 0)
    assert found.retried.total() == 3 and BAD not in found.nodes
    assert found.makespan_s == pytest.approx(60 / 3 * 10, rel=0.1)


def test_a_drained_node_is_tried_with_one_package_after_its_rest() -> None:
    tries, limits = count(), node_record.limits_of(None)

    def fails(task: int, at: int) -> Failure | None:
        return Failure("exit-code", 1.0) if at == BAD and next(tries) < 4 else None

    found = rehearsed(fails, tasks=3000)

    assert found.drained == {BAD: 2}
    back = [start for start, at in zip(found.starts, found.nodes, strict=True) if at == BAD]
    assert min(back) > 3 * limits.try_again and len(back) > 100
    assert (found.failed, found.stuck) == ({}, 0)


def test_packages_leave_out_a_node_that_loses_them() -> None:
    at_bad = count()

    def fails(task: int, at: int) -> Failure | None:
        return Failure("lost", 5.0, 0.0) if at == BAD and next(at_bad) % 3 else None

    found = rehearsed(fails, tasks=200)

    assert found.excluded == {BAD} and not found.drained
    assert found.stuck == 0


def test_nodes_are_not_blamed_for_packages_that_fail_everywhere() -> None:
    found = rehearsed(lambda task, at: Failure("exit-code", 1.0))

    assert (found.drained, found.excluded) == ({}, set())
    assert found.failed == {"exit-code": 60}
    assert found.makespan_s == pytest.approx(60 / BAD, rel=0.1)
