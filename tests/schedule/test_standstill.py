"""Whether work moves by itself, and what stops it first."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.model import Phase
from d0ctl.schedule.node_state import NodeState
from d0ctl.schedule.resources import NodeRoom, Requirement
from d0ctl.schedule.standstill import Cause, Work, standing
from d0ctl.store.views.awaited import of_part


def node(name: str = "a", state: str = "up", cpus: int = 4, **more: Any) -> NodeState:
    """A node of a few cpus."""
    return NodeState(NodeRoom(1, name, 1, cpus, 0), state, **more)


def ready(number: int = 3, **requirement: object) -> Work:
    """Work of which all is ready."""
    return Work({"ready": number}, [Requirement(1, number, **requirement)])  # type: ignore[arg-type]


def test_ready_packages_move_while_a_node_can_take_them() -> None:
    found = standing(ready(), [node(), node("b", "down")], driven=True)

    assert found.moves
    assert found.cause is None


def test_ready_packages_move_while_suspended_ones_leave_enough_cpus() -> None:
    assert standing(ready(cpus=2), [node(suspended=2.0)], driven=True).moves


@pytest.mark.parametrize("nodes", [[node(cache_left=8)], [node(cache_left=7), node("b")]])
def test_ready_packages_move_while_a_cache_has_room_for_them(nodes: list[NodeState]) -> None:
    assert standing(ready(space=8), nodes, driven=True).moves


def test_packages_that_bring_nothing_to_a_full_cache_move() -> None:
    full = [node(cache_left=0)]

    assert standing(ready(space=8, stay="a"), full, driven=True).moves
    assert standing(ready(space=8, early=True), full, driven=True).moves


def test_a_part_that_waits_for_room_may_get_it_while_the_rest_of_the_job_moves() -> None:
    part, nodes = ready(space=8), [node(cache_left=7)]
    whole = standing(Work({"ready": 3, "running": 1}, part.requirements), nodes, driven=True)
    still = standing(part, nodes, driven=True)

    assert of_part(part, whole, nodes, driven=True).moves
    assert of_part(part, still, nodes, driven=True).cause is Cause.NO_SPACE


def test_packages_queued_behind_suspended_ones_stop_nothing_that_can_run_elsewhere() -> None:
    nodes = [node(suspended=4.0), node("b")]
    starting = Work({"starting": 3}, behind=2)
    mixed = Work({"ready": 3, "starting": 2}, ready().requirements, behind=2)

    assert standing(starting, nodes, driven=True).moves
    assert standing(mixed, nodes, driven=True).moves


@pytest.mark.parametrize(
    ("work", "nodes", "driven", "cause", "returns"),
    [
        (ready(), [node()], False, Cause.NO_DAEMON, False),
        (ready(), [], True, Cause.NO_NODE, False),
        (ready(), [node(state="down")], True, Cause.NO_NODE_UP, True),
        (ready(), [node(drained=True)], True, Cause.NO_NODE_UP, False),
        (ready(), [node(drained=True, retries=True)], True, Cause.NO_NODE_UP, True),
        (Work({"running": 2}), [node(state="down")], True, Cause.NO_NODE_UP, True),
        (Work({"ready": 1}, held=True), [node()], True, Cause.HELD, False),
        (Work({"ready": 1}, held=True), [], True, Cause.HELD, False),
        (Work({"ready": 1}, paused=True), [node(drained=True)], True, Cause.PAUSED, False),
        (
            Work({"ready": 1}, paused=True, resumes=True),
            [node(state="down")],
            True,
            Cause.PAUSED,
            True,
        ),
        (Work({"held": 1}), [node()], True, Cause.HELD, False),
        (Work({"suspended": 1}, paused=True), [node()], True, Cause.PAUSED, False),
        (ready(nodes=["b"]), [node(), node("b", "down")], True, Cause.NO_FITTING_NODE, True),
        (ready(nodes=["b"]), [node(), node("b", drained=True)], True, Cause.NO_FITTING_NODE, False),
        (ready(cpus=64), [node(), node("b", "down")], True, Cause.IMPOSSIBLE, False),
        (ready(space=8), [node(cache_left=7)], True, Cause.NO_SPACE, False),
        (ready(space=8), [node(cache_left=7), node("b", "down")], True, Cause.NO_SPACE, True),
        (ready(brought={1: 8}), [node(cache_left=7)], True, Cause.NO_SPACE, False),
        (ready(), [node(suspended=4.0)], True, Cause.SUSPENDED, True),
        (ready(cpus=2), [node(suspended=3.0), node("b", "down")], True, Cause.SUSPENDED, True),
        (Work({"starting": 3}, behind=3), [node(suspended=4.0)], True, Cause.SUSPENDED, True),
        (Work({"starting": 3}, behind=3), [node(drained=True)], True, Cause.SUSPENDED, True),
        (Work({"cooloff": 2, "waiting": 5}), [node()], True, Cause.NEXT_TRY, True),
        (Work({"held": 2}, releases=True), [node()], True, Cause.NEXT_TRY, True),
        (Work({"cooloff": 2}, held=True), [node()], True, Cause.HELD, False),
        (Work({"cooloff": 2}), [node()], False, Cause.NO_DAEMON, False),
    ],
)
def test_the_cause_of_a_standstill_says_whether_it_may_end_by_itself(
    work: Work, nodes: list[NodeState], driven: bool, cause: Cause, returns: bool
) -> None:
    found = standing(work, nodes, driven=driven)

    assert not found.moves
    assert (found.cause, found.returns) == (cause, returns)


@pytest.mark.parametrize("phase", ["ready", "running", "suspended", "unreachable"])
def test_packages_that_cool_off_stop_nothing_while_another_can_move(phase: str) -> None:
    work = Work({"cooloff": 2, phase: 1}, [Requirement(1, 1)] if phase == "ready" else [])

    assert standing(work, [node()], driven=True).moves


def test_a_daemon_that_is_missing_comes_before_all_else() -> None:
    held = Work({"ready": 1}, [Requirement(1, 1, cpus=99)], held=True)

    assert standing(held, [node(state="down")], driven=False).cause is Cause.NO_DAEMON


def test_a_node_that_is_being_reached_for_the_first_time_stops_nothing() -> None:
    new = node(state="unknown", reached=False, cpus=1)

    assert standing(ready(cpus=8), [new], driven=True).moves


def test_a_node_that_was_never_reached_can_be_ruled_out_by_its_name_alone() -> None:
    new = node(state="unknown", reached=False)

    assert standing(ready(nodes=["other"]), [new], driven=True).cause is Cause.IMPOSSIBLE


def test_packages_that_no_node_can_take_are_counted_while_others_move() -> None:
    work = Work({"ready": 5}, [Requirement(1, 2, cpus=64), Requirement(2, 3)])

    found = standing(work, [node()], driven=True)

    assert found.moves
    assert found.unfit == 2
    assert found.why_unfit == {"a": "4 CPUs, needs 64"}


def test_a_package_that_runs_keeps_a_paused_job_moving() -> None:
    assert standing(Work({"running": 1, "ready": 9}, paused=True), [node()], driven=True).moves


@given(
    st.dictionaries(st.sampled_from([phase.value for phase in Phase]), st.integers(0, 3)),
    st.lists(st.builds(node, state=st.sampled_from(["up", "down", "unknown"]),
                       drained=st.booleans(), retries=st.booleans()), max_size=3),
    st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_work_that_is_left_either_moves_or_has_a_cause(
    counts: dict[str, int], nodes: list[NodeState], driven: bool, held: bool, paused: bool
) -> None:
    requirements = [Requirement(1, n)] if (n := counts.get(Phase.READY, 0)) else []
    work = Work(counts, requirements, held, paused)

    found = standing(work, nodes, driven=driven)

    assert found.moves != found.stands_still or not (work.open or counts.get(Phase.HELD))
    assert not (found.moves and not driven)
    assert not (found.returns and found.moves)
