"""The pure scheduler: room, order, requirements, and packages sent ahead."""

from collections import Counter
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from d0ctl.schedule.choice import Decision
from d0ctl.schedule.early import place_open
from d0ctl.schedule.place import place
from d0ctl.schedule.resources import AHEAD_MOST, NodeRoom, Requirement, misfit, suited
from d0ctl.units import size


def decide(
    nodes: Sequence[NodeRoom],
    requirements: Sequence[Requirement],
    where: Mapping[int, Mapping[int, int]] | None = None,
) -> list[Decision]:
    """Place the packages 1000, 1001 ... of requirement 1, 2000 ... of requirement 2 and so on."""
    return place(
        nodes,
        requirements,
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
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

requirement_sets = st.builds(
    Requirement,
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
    st.lists(requirement_sets, max_size=6, unique_by=lambda requirement: requirement.id),
)
def test_packages_go_only_where_they_fit(
    nodes: list[NodeRoom], requirements: list[Requirement]
) -> None:
    decisions = decide(nodes, requirements)

    by_id, by_requirement = {n.id: n for n in nodes}, {d.id: d for d in requirements}
    given_out = dict.fromkeys(by_id, 0)
    for decision in decisions:
        requirement, node = by_requirement[decision.package // 1000], by_id[decision.node]
        assert misfit(requirement, node) is None
        given_out[node.id] += requirement.cpus
        limit = node.cpus + requirement.ahead(node.cpus)
        assert node.used + given_out[node.id] <= limit
    packages = [decision.package for decision in decisions]
    assert len(set(packages)) == len(packages)
    for requirement in requirements:
        mine = [package for package in packages if package // 1000 == requirement.id]
        assert len(mine) <= requirement.ready
        assert mine == sorted(mine)


def test_the_first_requirement_is_served_before_the_next() -> None:
    node = NodeRoom(1, "a", 1, cpus=3, used=0)

    decisions = decide([node], [Requirement(1, ready=2), Requirement(2, ready=5)])

    assert [decision.package for decision in decisions] == [1000, 1001, 2000]


def test_a_package_goes_where_its_inputs_are() -> None:
    nodes = [NodeRoom(1, "a", 1, cpus=8, used=0), NodeRoom(2, "b", 2, cpus=1, used=0)]

    (decision,) = decide(nodes, [Requirement(1, ready=1)], {1000: {1: 10, 2: 500}})

    assert replace(decision, why=None) == Decision(1000, 2, cost=0)


def test_the_cost_of_a_decision_is_the_bytes_to_carry() -> None:
    nodes = [NodeRoom(1, "a", 1, cpus=1, used=0)]

    (decision,) = decide(nodes, [Requirement(1, ready=1)], {1000: {1: 10, 2: 500}})

    assert decision.cost == 490


def test_packages_without_inputs_spread_over_the_nodes() -> None:
    nodes = [NodeRoom(n, str(n), n, cpus=4, used=0) for n in (1, 2)]

    decisions = decide(nodes, [Requirement(1, ready=4)])

    assert sorted(decision.node for decision in decisions) == [1, 1, 2, 2]


def test_a_wide_package_that_fits_nowhere_now_lets_narrow_ones_pass() -> None:
    node = NodeRoom(1, "a", 1, cpus=4, used=2)

    decisions = decide([node], [Requirement(1, ready=1, cpus=4), Requirement(2, ready=3)])

    assert [decision.package for decision in decisions] == [2000, 2001]


def test_short_packages_are_sent_ahead_and_long_ones_are_not() -> None:
    node = NodeRoom(1, "a", 1, cpus=2, used=2)

    assert decide([node], [Requirement(1, ready=500, pace=10.0)]) == []
    assert decide([node], [Requirement(1, ready=500)]) == []
    assert len(decide([node], [Requirement(1, ready=500, pace=0.0625)])) == 9
    assert len(decide([node], [Requirement(1, ready=500, pace=0.0)])) == AHEAD_MOST


def test_the_node_of_the_last_attempt_is_left_out_when_another_fits() -> None:
    bad, good = NodeRoom(1, "bad", 1, cpus=4, used=0), NodeRoom(2, "good", 2, cpus=4, used=3)
    requirement = Requirement(1, ready=3, avoid="bad")

    assert [decision.node for decision in decide([bad, good], [requirement])] == [2]
    assert [decision.node for decision in decide([bad], [requirement])] == [1, 1, 1]
    small = NodeRoom(2, "small", 2, cpus=1, used=0)
    assert [
        decision.node for decision in decide([bad, small], [Requirement(1, 1, cpus=2, avoid="bad")])
    ] == [1]


def test_each_misfit_says_why() -> None:
    node = NodeRoom(1, "a", 1, cpus=2, used=0, memory=100, platform="linux-aarch64")

    assert misfit(Requirement(1, 1), node) is None
    assert misfit(Requirement(1, 1, nodes=["b"]), node) == "not in its node list"
    assert misfit(Requirement(1, 1, exclude_nodes=["a"]), node) == "excluded by the package"
    assert "platform linux-aarch64" in (misfit(Requirement(1, 1, platform="x"), node) or "")
    assert misfit(Requirement(1, 1, cpus=3), node) == "2 CPUs, needs 3"
    assert misfit(Requirement(1, 1, memory=200), node) == ("100 B of memory, needs 200 B")
    assert misfit(Requirement(1, 1, gpus=1), node) == "0 GPUs, needs 1"


@given(
    st.lists(rooms, max_size=5, unique_by=lambda room: room.id),
    st.lists(requirement_sets, max_size=6, unique_by=lambda requirement: requirement.id),
    st.data(),
)
def test_a_node_gets_no_more_of_a_stage_than_it_is_trusted_with(
    nodes: list[NodeRoom], requirements: list[Requirement], data: st.DataObject
) -> None:
    requirements = [
        replace(requirement, stage=data.draw(st.integers(1, 2))) for requirement in requirements
    ]
    nodes = [replace(node, on_trial=data.draw(st.none() | st.integers(1, 3))) for node in nodes]
    pairs = [(stage, node.id) for stage in (1, 2) for node in nodes]
    bounds = data.draw(st.dictionaries(st.sampled_from(pairs), st.integers(0, 3))) if pairs else {}

    decisions = place(
        nodes, requirements,
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
        lambda packages: {}, bounds=bounds,
    )  # fmt: skip

    stages = {requirement.id: requirement.stage for requirement in requirements}
    given_out = Counter((stages[decision.package // 1000], decision.node) for decision in decisions)
    tried = {node.id: node.on_trial for node in nodes if node.on_trial is not None}
    for (stage, node), n in given_out.items():
        assert node in tried or n <= bounds.get((stage, node), n)
    for node, own in tried.items():
        got = [stage for (stage, where), n in given_out.items() for _ in range(n) if where == node]
        assert len(got) <= 1
        others = [requirement for requirement in requirements if requirement.stage == own]
        room = next(candidate for candidate in nodes if candidate.id == node)
        if got and got != [own]:
            assert not any(room in suited(requirement, nodes) for requirement in others)


def test_a_node_on_trial_is_no_alternative_for_other_packages() -> None:
    well = NodeRoom(1, "a", 1, cpus=1, used=0)
    tried = NodeRoom(2, "b", 2, cpus=1, used=0, on_trial=7)
    requirement = Requirement(1, ready=2, avoid="a", stage=7)

    assert [room.name for room in suited(requirement, [well, tried])] == ["a", "b"]


def test_a_node_on_trial_takes_one_package_of_the_stage_that_failed_there_and_none_before_it() -> (
    None
):
    tried = NodeRoom(1, "a", 1, cpus=8, used=0, on_trial=7)
    other, failed = Requirement(1, ready=3, stage=6), Requirement(2, ready=3, stage=7)

    assert [decision.package for decision in decide([tried], [other, failed])] == [2000]
    assert [decision.package for decision in decide([tried], [other])] == [1000]


def test_packages_on_a_node_share_its_memory() -> None:
    node = NodeRoom(1, "a", 1, cpus=8, used=0, memory=1000, memory_used=200)

    assert len(decide([node], [Requirement(1, ready=9, memory=300)])) == 2
    assert len(decide([node], [Requirement(1, ready=9, memory=900)])) == 0
    assert len(decide([node], [Requirement(1, ready=9)])) == 8
    assert misfit(Requirement(1, ready=1, memory=900), node) is None


def test_packages_on_a_node_share_its_gpus() -> None:
    node = NodeRoom(1, "a", 1, cpus=8, used=0, gpus=4, gpus_used=1)

    assert len(decide([node], [Requirement(1, ready=9, gpus=1)])) == 3
    assert len(decide([node], [Requirement(1, ready=9, gpus=2)])) == 1
    assert len(decide([node], [Requirement(1, ready=9, gpus=4)])) == 0


def test_packages_on_a_node_share_its_free_disk() -> None:
    node = NodeRoom(1, "a", 1, cpus=8, used=0, disk=1000, disk_free=500, disk_used=100)

    assert len(decide([node], [Requirement(1, ready=9, space=200)])) == 2
    assert len(decide([node], [Requirement(1, ready=9, space=600)])) == 0
    assert misfit(Requirement(1, ready=1, space=600), node) is None
    assert (
        misfit(Requirement(1, ready=1, space=1200), node)
        == f"a disk of {size(1000)}, needs {size(1200)}"
    )


def test_a_node_below_its_reserve_takes_no_package_and_none_waits_for_it() -> None:
    full = NodeRoom(1, "a", 1, cpus=1, used=0, disk_short=1, speed=4.0)
    other = NodeRoom(2, "b", 2, cpus=1, used=0)

    assert [one.node for one in decide([full, other], [Requirement(1, 9, seconds=9.0)])] == [2]
    assert decide([full], [Requirement(1, ready=9)]) == []
    assert place_open([full], Requirement(1, 1, early=True), [7], {}) == []


def test_an_estimate_of_disk_keeps_no_package_off_a_node_where_nothing_is_reserved() -> None:
    one = Requirement(1, ready=3, space=2, space_expected=4)

    for free, used, taken in ((3, 0, 1), (8, 0, 2), (1, 0, 0), (5, 2, 0)):
        node = NodeRoom(1, "a", 1, cpus=8, used=0, disk=9, disk_free=free, disk_used=used)
        assert len(decide([node], [one])) == taken


def test_a_package_waits_for_a_busy_node_with_the_disk_that_it_is_expected_to_take() -> None:
    small = NodeRoom(1, "a", 1, cpus=2, used=0, disk=126, disk_free=37)
    busy = NodeRoom(2, "b", 2, cpus=2, used=2, disk=900, disk_free=800, disk_used=80)
    crowded = replace(busy, disk_free=39)

    for other, expected, taken in ((busy, 40, []), (busy, 37, [1]), (crowded, 40, [1]),
                                   (replace(busy, disk_short=1), 40, [1])):  # fmt: skip
        wanted = [Requirement(1, ready=9, space_expected=expected)]
        assert [decision.node for decision in decide([small, other], wanted)] == taken


def test_a_package_that_finds_too_little_memory_goes_to_another_node() -> None:
    full = NodeRoom(1, "a", 1, cpus=8, used=0, memory=1000, memory_used=900)
    other = NodeRoom(2, "b", 2, cpus=1, used=0, memory=1000)

    assert [
        decision.node for decision in decide([full, other], [Requirement(1, ready=3, memory=500)])
    ] == [2]


@given(st.integers(1, 8), st.integers(0, 8), st.integers(1, 100), st.integers(1, 3))
def test_packages_share_cpus_by_the_part_that_they_use(
    cpus: int, used: int, cpu: int, each: int
) -> None:
    node = NodeRoom(1, "a", 1, cpus, used)

    number = len(decide([node], [Requirement(1, 900, cpus=each, cpu=cpu)]))

    assert number == (max(0, cpus - used) * 100 // (each * cpu) if each <= cpus else 0)


def test_a_node_that_the_broker_refuses_gets_nothing() -> None:
    nodes = [NodeRoom(1, "a", 1, 4, 0), NodeRoom(2, "b", 2, 2, 0)]
    asked = Requirement(1, 9, refused={"a": "its tape is full"})

    decisions = decide(nodes, [asked, Requirement(2, 9)])

    assert [decision.node for decision in decisions if decision.package < 2000] == [2, 2]
    assert {decision.node for decision in decisions if decision.package >= 2000} == {1}
    assert misfit(asked, nodes[0]) == "refused by the broker: its tape is full"


def test_nodes_that_the_broker_prefers_are_filled_first() -> None:
    nodes = [NodeRoom(1, "a", 1, 2, 0), NodeRoom(2, "b", 2, 2, 0), NodeRoom(3, "c", 3, 2, 0)]
    asked = Requirement(1, 5, preferred={"c": 2.0, "a": -1.0}, seconds=60.0, fetches=True)

    decisions = decide(nodes, [asked], {1000: {1: 10**9}})

    assert [decision.node for decision in decisions] == [3, 3, 2, 2, 1]
