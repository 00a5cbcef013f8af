"""The pure scheduler: room, order, wishes, and what is sent ahead."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from d0ctl.schedule.place import AHEAD_MOST, Decision, Demand, NodeRoom, misfit, place


def decide(
    nodes: Sequence[NodeRoom],
    demands: Sequence[Demand],
    where: Mapping[int, Mapping[int, int]] | None = None,
) -> list[Decision]:
    """Place the packages 1000, 1001 ... of demand 1, 2000 ... of demand 2 and so on."""
    return place(
        nodes,
        demands,
        lambda demand, limit: [demand * 1000 + n for n in range(limit)],
        lambda packages: where or {},
    )


rooms = st.builds(
    NodeRoom,
    id=st.integers(1, 99),
    name=st.sampled_from("abc"),
    cluster=st.integers(1, 3),
    cpus=st.integers(1, 8),
    used=st.integers(0, 12),
    memory=st.none() | st.integers(1, 4),
    platform=st.sampled_from([None, "linux-x86_64"]),
)
wishes = st.builds(
    Demand,
    id=st.integers(1, 99),
    ready=st.integers(1, 30),
    cpus=st.integers(1, 6),
    memory=st.none() | st.integers(1, 4),
    platform=st.sampled_from([None, "linux-x86_64"]),
    nodes=st.lists(st.sampled_from("abc"), max_size=2),
    exclude_nodes=st.lists(st.sampled_from("abc"), max_size=1),
    pace=st.none() | st.floats(0, 10),
)


@given(
    st.lists(rooms, max_size=5, unique_by=lambda room: room.id),
    st.lists(wishes, max_size=6, unique_by=lambda wish: wish.id),
)
def test_nothing_goes_where_it_does_not_fit(nodes: list[NodeRoom], demands: list[Demand]) -> None:
    decisions = decide(nodes, demands)

    by_id, by_demand = {n.id: n for n in nodes}, {d.id: d for d in demands}
    given_out = dict.fromkeys(by_id, 0)
    for decision in decisions:
        demand, node = by_demand[decision.package // 1000], by_id[decision.node]
        assert misfit(demand, node) is None
        given_out[node.id] += demand.cpus
        limit = node.cpus + demand.ahead(node.cpus)
        assert node.used + given_out[node.id] <= limit
    packages = [decision.package for decision in decisions]
    assert len(set(packages)) == len(packages)
    for demand in demands:
        mine = [package for package in packages if package // 1000 == demand.id]
        assert len(mine) <= demand.ready
        assert mine == sorted(mine)


def test_the_first_demand_gets_the_room_and_the_next_what_is_left() -> None:
    node = NodeRoom(1, "a", 1, cpus=3, used=0)

    decisions = decide([node], [Demand(1, ready=2), Demand(2, ready=5)])

    assert [decision.package for decision in decisions] == [1000, 1001, 2000]


def test_a_package_goes_where_its_inputs_are() -> None:
    nodes = [NodeRoom(1, "a", 1, cpus=8, used=0), NodeRoom(2, "b", 2, cpus=1, used=0)]

    (decision,) = decide(nodes, [Demand(1, ready=1)], {1000: {1: 10, 2: 500}})

    assert decision == Decision(1000, 2, cost=0)


def test_what_must_be_carried_is_what_a_decision_costs() -> None:
    nodes = [NodeRoom(1, "a", 1, cpus=1, used=0)]

    (decision,) = decide(nodes, [Demand(1, ready=1)], {1000: {1: 10, 2: 500}})

    assert decision.cost == 490


def test_packages_without_inputs_spread_over_the_nodes() -> None:
    nodes = [NodeRoom(n, str(n), n, cpus=4, used=0) for n in (1, 2)]

    decisions = decide(nodes, [Demand(1, ready=4)])

    assert sorted(decision.node for decision in decisions) == [1, 1, 2, 2]


def test_a_wide_package_that_fits_nowhere_now_lets_narrow_ones_pass() -> None:
    node = NodeRoom(1, "a", 1, cpus=4, used=2)

    decisions = decide([node], [Demand(1, ready=1, cpus=4), Demand(2, ready=3)])

    assert [decision.package for decision in decisions] == [2000, 2001]


def test_short_packages_are_sent_ahead_and_long_ones_are_not() -> None:
    node = NodeRoom(1, "a", 1, cpus=2, used=2)

    assert decide([node], [Demand(1, ready=500, pace=10.0)]) == []
    assert decide([node], [Demand(1, ready=500)]) == []
    assert len(decide([node], [Demand(1, ready=500, pace=0.0625)])) == 9
    assert len(decide([node], [Demand(1, ready=500, pace=0.0)])) == AHEAD_MOST


def test_the_node_of_the_last_attempt_is_left_out_when_another_fits() -> None:
    bad, good = NodeRoom(1, "bad", 1, cpus=4, used=0), NodeRoom(2, "good", 2, cpus=4, used=3)
    demand = Demand(1, ready=3, avoid="bad")

    assert [one.node for one in decide([bad, good], [demand])] == [2]
    assert [one.node for one in decide([bad], [demand])] == [1, 1, 1]
    small = NodeRoom(2, "small", 2, cpus=1, used=0)
    assert [one.node for one in decide([bad, small], [Demand(1, 1, cpus=2, avoid="bad")])] == [1]


def test_each_misfit_says_why() -> None:
    node = NodeRoom(1, "a", 1, cpus=2, used=0, memory=100, platform="linux-aarch64")

    assert misfit(Demand(1, 1), node) is None
    assert misfit(Demand(1, 1, nodes=["b"]), node) == "not in its node list"
    assert misfit(Demand(1, 1, exclude_nodes=["a"]), node) == "excluded by the package"
    assert "platform linux-aarch64" in (misfit(Demand(1, 1, platform="x"), node) or "")
    assert misfit(Demand(1, 1, cpus=3), node) == "2 cpus, 3 asked for"
    assert misfit(Demand(1, 1, memory=200), node) == "too little memory"
