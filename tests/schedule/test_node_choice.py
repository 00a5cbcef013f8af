"""Why the scheduler gives packages to a node, and not to the next best one."""

from collections.abc import Mapping
from random import Random

import pytest
from msgspec.structs import replace

from d0ctl.schedule.choice import NodeChoice
from d0ctl.schedule.costs import Links
from d0ctl.schedule.node_capacity import Busy
from d0ctl.schedule.place import place
from d0ctl.schedule.resources import InputCopies, NodeRoom, Requirement

A = NodeRoom(1, "a", 1, cpus=4, used=0)
B = NodeRoom(2, "b", 2, cpus=4, used=0)
ANY = Requirement(7, ready=1)


def reasons(
    nodes: list[NodeRoom],
    requirement: Requirement,
    where: Mapping[int, int] | None = None,
    copies: Mapping[int, int] | None = None,
) -> list[NodeChoice | None]:
    """Why each package goes to its node; `where` has the bytes of its input by cluster, `copies`
    the number of its inputs: one where it has bytes, if that is not given.
    """
    places = where or {}
    there = dict.fromkeys(places, 1) if copies is None else copies
    return [
        decision.why
        for decision in place(
            nodes,
            [requirement],
            lambda requirement, limit: list(range(limit)),
            lambda packages: dict.fromkeys(packages, places),
            lambda packages: dict.fromkeys(packages, InputCopies(1, there)),
        )
    ]


@pytest.mark.parametrize(
    ("nodes", "requirement", "where", "reason"),
    [
        ([A], ANY, {}, NodeChoice(7, 1, "only", 1, 1)),
        ([A, replace(B, cpus=1)], replace(ANY, cpus=2), {}, NodeChoice(7, 1, "only", 1, 1)),
        ([A, replace(B, used=4)], ANY, {}, NodeChoice(7, 1, "only", 1, 2)),
        ([A, replace(B, used=2)], ANY, {}, NodeChoice(7, 1, "free", 2, 2, "b", 1.0, 0.5)),
        ([A, B], ANY, {}, NodeChoice(7, 1, "alike", 2, 2, "b", 0.0, 0.0)),
        ([A, B], ANY, {1: 5, 2: 9}, NodeChoice(7, 2, "inputs", 2, 2, "a", 9.0, 5.0)),
        ([A, replace(B, speed=4.0)], replace(ANY, seconds=60.0), {},
         NodeChoice(7, 2, "earliest", 2, 2, "a", 15.0, 60.0)),
        ([A, B], replace(ANY, preferred={"b": 2.0}), {},
         NodeChoice(7, 2, "preferred", 2, 2, "a", 2.0, 0.0)),
    ],
)  # fmt: skip
def test_the_rule_that_decides_is_the_reason(
    nodes: list[NodeRoom], requirement: Requirement, where: dict[int, int], reason: NodeChoice
) -> None:
    assert reasons(nodes, requirement, where) == [reason]


def test_packages_of_one_pass_share_the_reason_of_their_node() -> None:
    found = reasons([A, B], replace(ANY, ready=8))

    assert len(found) == 8
    assert len(set(found)) == 2


def test_a_node_with_an_empty_input_is_compared_as_it_was_chosen() -> None:
    nodes = [replace(A, used=2), replace(B, used=3)]

    (found,) = reasons(nodes, replace(ANY, fetches=True), copies={1: 1})

    assert found == NodeChoice(7, 1, "free", 2, 2, "b", 1.5, 1.25)


def site(draw: Random) -> list[NodeRoom]:
    """Nodes of clusters of their own, some of whose CPUs are in use."""
    return [
        NodeRoom(n, str(n), n, cpus=draw.randint(1, 4), used=draw.randint(0, 4),
                 speed=draw.choice([0.5, 1.0, 2.0]))
        for n in range(1, draw.randint(2, 4) + 1)
    ]  # fmt: skip


def test_no_reason_compares_a_node_with_a_better_one() -> None:
    draw = Random(3)
    for _ in range(2000):
        nodes = site(draw)
        sizes: list[dict[int, int]] = [
            {
                draw.randint(0, 4): draw.choice([0, 10, 10**6, 10**9])
                for _ in range(draw.randint(0, 3))
            }
            for _ in range(8)
        ]
        busy = {node.id: [Busy(1, draw.uniform(0, 5))] * int(node.used) for node in nodes}
        rates = {(n, m): draw.choice([1e5, 1e7, 1e9]) for n in range(5) for m in range(1, 5)}
        links = Links(rates=draw.choice([{}, rates]), backlog={1: draw.uniform(0, 1e6)})
        decisions = place(
            nodes,
            [replace(ANY, ready=8, seconds=draw.choice([None, 0.3, 2.0, 20.0]), fetches=True)],
            lambda requirement, limit: list(range(limit)),
            lambda packages: {n: sizes[n] for n in packages},  # noqa: B023
            lambda packages: {n: InputCopies(draw.randint(0, 2), dict.fromkeys(sizes[n], 1))  # noqa: B023
                              for n in packages},
            busy=lambda: busy,  # noqa: B023
            links=lambda: links,  # noqa: B023
        )  # fmt: skip

        for why in (decision.why for decision in decisions):
            if why is not None and why.mine is not None and why.theirs is not None:
                sign = 1 if why.rule in ("earliest", "starts") else -1
                assert sign * why.mine <= sign * why.theirs
