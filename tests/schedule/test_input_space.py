"""Inputs that must be brought to caches with a capacity: packages go only where these fit."""

from collections.abc import Mapping

import pytest

from d0ctl.schedule.place import place
from d0ctl.schedule.resources import InputCopies, NodeRoom, Requirement

SMALL = NodeRoom(1, "small", 1, cpus=8, used=0, disk=30, disk_free=30)
LARGE = NodeRoom(2, "large", 2, cpus=2, used=0)


def nodes_of(
    nodes: list[NodeRoom], *absent: Mapping[int, int], seconds: float | None = None
) -> dict[int, int]:
    """The node of each package that got one; `absent` are its inputs by file, nowhere yet."""
    inputs = {
        package: InputCopies(len(files), {}, {SMALL.cluster: files})
        for package, files in enumerate(absent)
    }
    found = place(
        nodes,
        [Requirement(7, ready=len(absent), fetches=True, seconds=seconds)],
        lambda requirement, limit: list(range(limit)),
        lambda packages: {},
        lambda packages: inputs,
    )
    return {decision.package: decision.node for decision in found}


@pytest.mark.parametrize("nodes", [[SMALL, LARGE], [LARGE, SMALL]])
def test_packages_go_to_the_node_that_has_space_for_their_inputs(nodes: list[NodeRoom]) -> None:
    large = {1: 12, 2: 12, 3: 12}

    assert nodes_of(nodes, large, large) == {0: 2, 1: 2}


def test_packages_whose_inputs_fit_pass_one_whose_inputs_do_not() -> None:
    assert nodes_of([SMALL], {1: 31}, {2: 10}) == {1: 1}


def test_an_input_of_several_packages_is_counted_once() -> None:
    assert nodes_of([SMALL], {1: 20}, {1: 20, 2: 10}, {1: 20, 3: 1}) == {0: 1, 1: 1}


def test_no_package_waits_for_a_node_that_has_no_space_for_its_outputs() -> None:
    fast = NodeRoom(1, "fast", 1, cpus=8, used=0, disk=30, disk_free=4, speed=9.0)
    slow = NodeRoom(2, "slow", 2, cpus=8, used=0, disk=30, disk_free=8)

    for sizes in ({"space": 5}, {"space_expected": 5}):
        wanted = Requirement(7, ready=1, seconds=600.0, **sizes)  # type: ignore[arg-type]
        (found,) = place(
            [fast, slow], [wanted], lambda requirement, limit: [1], lambda packages: {},
            lambda packages: {},
        )  # fmt: skip
        assert found.node == slow.id


def test_no_package_waits_for_a_node_that_has_no_space_for_its_inputs() -> None:
    assert nodes_of([SMALL, LARGE], {1: 40}, seconds=600.0) == {0: 2}
