"""What is sent ahead to nodes: short packages, and others while their inputs are brought."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from d0ctl.schedule.choice import Decision
from d0ctl.schedule.early import MOST_OPEN, place_open
from d0ctl.schedule.node_capacity import Busy
from d0ctl.schedule.place import place
from d0ctl.schedule.quota import Quota
from d0ctl.schedule.resources import InputCopies, NodeRoom, Requirement, Soon, lead_s


def far(*packages: int, files: int = 1) -> Mapping[int, InputCopies]:
    """Packages whose inputs are at no node."""
    return {package: InputCopies(files, {}) for package in packages}


def decide_far(
    nodes: Sequence[NodeRoom], ready: int, input_copies: Mapping[int, InputCopies]
) -> list[int]:
    """The nodes that packages 1000, 1001 ... go to, of which some read what lies elsewhere."""
    found = place(
        nodes,
        [Requirement(1, ready, fetches=True)],
        lambda requirement, limit: [1000 + n for n in range(limit)],
        lambda packages: {},
        lambda packages: input_copies,
    )
    return [decision.node for decision in found]


def test_packages_with_inputs_to_bring_get_as_many_cpus_again_in_advance() -> None:
    everything = far(*range(1000, 1020))
    for used, bringing, ahead in [(0, 0, 4), (2, 0, 2), (2, 2, 0), (3, 1, 0), (0, 3, 1), (5, 0, 0)]:
        node = NodeRoom(1, "a", 1, cpus=2, used=used, bringing=bringing)
        assert len(decide_far([node], 20, everything)) == ahead


def test_packages_with_inputs_there_take_the_cpus_while_other_inputs_are_brought() -> None:
    node = NodeRoom(1, "a", 1, cpus=2, used=0, bringing=2)

    assert len(decide_far([node], 20, {})) == 2
    assert decide_far([node], 3, far(1000, 1001)) == [1, 1]
    assert decide_far([node], 3, far(1000, 1001, 1002)) == [1, 1]


def test_nothing_is_sent_in_advance_for_cpus_of_suspended_packages() -> None:
    everything = far(*range(1000, 1020))
    for suspended, ahead in [(0, 2), (1, 1), (2, 0)]:
        node = NodeRoom(1, "a", 1, cpus=2, used=2, suspended=suspended)
        assert len(decide_far([node], 20, everything)) == ahead


@pytest.mark.parametrize(
    ("first", "ahead"),
    [
        (Requirement(1, ready=5, stage=1), 0),
        (Requirement(1, ready=1, stage=1), 1),
        (Requirement(1, ready=5, stage=1, nodes=["b"]), 2),
        (Requirement(1, ready=5, stage=2), 2),  # its stage has reached its limit
    ],
)
def test_packages_that_come_first_get_the_next_cpus_before_those_whose_inputs_are_brought(
    first: Requirement, ahead: int
) -> None:
    found = place(
        [NodeRoom(1, "a", 1, cpus=2, used=2)],
        [first, Requirement(2, ready=20, fetches=True)],
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
        lambda packages: {},
        lambda packages: far(*packages),
        quota=Quota(stages={2: 0}),
    )

    assert [decision.package for decision in found] == [2000, 2001][:ahead]


@pytest.mark.parametrize(
    ("ready", "there", "ahead"), [(5, 0, 0), (5, 1, 0), (2, 0, 0), (2, 1, 0), (1, 0, 1), (1, 1, 1)]
)
def test_packages_that_wait_for_the_next_cpus_get_them_before_others_whose_inputs_are_brought(
    ready: int, there: int, ahead: int
) -> None:
    found = place(
        [NodeRoom(1, "a", 1, cpus=2, used=2)],
        [Requirement(1, ready, stage=1, seconds=12.0, fetches=True),
         Requirement(2, ready=20, stage=2, fetches=True)],
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
        lambda packages: {},
        lambda packages: {package: InputCopies(1, {1: there * (package < 2000)})
                          for package in packages},
        busy=lambda: {1: [Busy(1, 9.0), Busy(1, 12.0)]},
    )  # fmt: skip

    assert [decision.package for decision in found] == [2000, 2001][:ahead]


@pytest.mark.parametrize(("wait", "ahead"), [(5, 0), (2, 0), (1, 1), (0, 2)])
def test_a_cpu_that_is_free_until_inputs_arrive_is_none_of_the_next_ones(
    wait: int, ahead: int
) -> None:
    found = place(
        [NodeRoom(1, "a", 1, cpus=2, used=1)],
        [Requirement(1, ready=1, job=1, fetches=True), Requirement(2, ready=wait, job=2),
         Requirement(3, ready=20, job=3, fetches=True)],
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
        lambda packages: {},
        lambda packages: far(*packages),
    )  # fmt: skip

    assert [decision.package for decision in found] == [1000, 3000, 3001][: 1 + ahead]


@given(
    cpus=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    asked=st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from([None, 0.5, 5.0, 50.0]), st.booleans()),
        min_size=2, max_size=4,
    ),
    left_s=st.sampled_from([0.1, 5.0, 60.0]),
)  # fmt: skip
def test_what_comes_later_gets_only_those_of_the_next_cpus_that_nothing_before_it_waits_for(
    cpus: list[int], asked: list[tuple[int, float | None, bool]], left_s: float
) -> None:
    nodes = [NodeRoom(n, f"n{n}", n, cpus=each, used=each) for n, each in enumerate(cpus, 1)]
    wanted = [Requirement(n, ready, job=n, seconds=seconds, fetches=True)
              for n, (ready, seconds, _) in enumerate(asked, 1)]  # fmt: skip

    found = place(
        nodes, wanted,
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
        lambda packages: {},
        lambda packages: {package: InputCopies(1, {1: 1} if asked[package // 1000 - 1][2] else {})
                          for package in packages},
        busy=lambda: {node.id: [Busy(1, left_s)] * node.cpus for node in nodes},
    )  # fmt: skip

    placed = Counter(decision.package // 1000 for decision in found)
    free = sum(cpus)
    for requirement in wanted:
        assert placed[requirement.id] <= max(0, free)
        free -= requirement.ready


@pytest.mark.parametrize(
    ("second", "files", "placed"),
    [
        (Requirement(2, 1, job=2), 2, [1000]),  # it may run for days
        (Requirement(2, 1, job=2, seconds=30.0), 2, [1000]),
        (Requirement(2, 1, job=2, seconds=0.1), 2, [1000, 2000]),
        (Requirement(2, 1, job=2), 500, [1000, 2000]),  # they take 5 s
        (Requirement(2, 1, job=1), 2, [1000, 2000]),
    ],
)
def test_a_free_cpu_is_kept_for_inputs_that_are_there_at_once_but_not_within_a_job(
    second: Requirement, files: int, placed: list[int]
) -> None:
    found = place(
        [NodeRoom(1, "a", 1, cpus=1, used=0)],
        [Requirement(1, 1, job=1, fetches=True), second],
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
        lambda packages: {},
        lambda packages: far(*packages, files=files),
    )

    assert [decision.package for decision in found] == placed


def test_no_cpu_is_kept_for_packages_that_are_sent_beyond_the_free_ones() -> None:
    soon: list[Soon] = []

    place(
        [NodeRoom(1, "a", 1, cpus=1, used=1)],
        [Requirement(1, 3, job=1, pace=0.1, fetches=True)],
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
        lambda packages: {},
        lambda packages: far(*packages),
        soon=soon,
    )

    assert soon == []


def test_a_free_cpu_elsewhere_goes_before_one_that_will_be_free() -> None:
    busy = NodeRoom(1, "a", 1, cpus=2, used=2)
    idle = NodeRoom(2, "b", 2, cpus=2, used=1)

    assert decide_far([busy, idle], 4, far(*range(1000, 1004)))[0] == 2


def test_inputs_that_lie_in_the_cluster_are_not_brought() -> None:
    there = {1000: InputCopies(2, {1: 2}), 1001: InputCopies(2, {1: 1})}
    full = NodeRoom(1, "a", 1, cpus=1, used=1)

    assert decide_far([full], 1, there) == []
    assert decide_far([full], 1, {1000: there[1001]}) == [1]


def test_open_packages_go_where_most_of_their_inputs_are_however_busy_that_is() -> None:
    nodes = [NodeRoom(1, "a", 1, cpus=1, used=1), NodeRoom(2, "b", 2, cpus=1, used=0)]
    requirement = Requirement(1, 3, early=True)

    found = place_open(nodes, requirement, [7, 8], {7: {1: 100}})

    assert [replace(decision, why=None) for decision in found] == [
        Decision(7, 1, 0),
        Decision(8, 2, 0),
    ]
    assert [decision.why and (decision.why.rule, decision.why.mine) for decision in found] == [
        ("early", 100.0), ("early", 0.0)
    ]  # fmt: skip


def test_a_node_has_a_bounded_number_of_open_packages() -> None:
    nodes = [NodeRoom(1, "a", 1, cpus=1, used=0, open=MOST_OPEN - 1)]

    assert len(place_open(nodes, Requirement(1, 3, early=True), [1, 2, 3], {})) == 1


def test_a_package_that_only_delivers_goes_to_its_node_however_full_that_is() -> None:
    full = NodeRoom(1, "a", 1, cpus=1, used=1, open=MOST_OPEN)
    nodes = [full, NodeRoom(2, "b", 2, cpus=1, used=0)]

    found = place_open(nodes, Requirement(1, 1, stay="a"), [7], {})
    assert [replace(decision, why=None) for decision in found] == [Decision(7, 1, 0)]
    assert found[0].why is not None
    assert found[0].why.rule == "outputs"


def test_a_node_has_a_bounded_number_of_packages_that_only_deliver() -> None:
    nodes = [NodeRoom(1, "a", 1, cpus=1, used=0, delivering=MOST_OPEN - 1)]

    assert len(place_open(nodes, Requirement(1, 3, stay="a"), [1, 2, 3], {})) == 1


def lead(*used: int, pace: float | None = 0.1, nodes: Sequence[str] = ()) -> float:
    """The lead of nodes `a`, `b` ... of two CPUs, of which so many are given out."""
    rooms = [NodeRoom(i, "abc"[i], 1, 2, cpus) for i, cpus in enumerate(used)]
    return lead_s(rooms, [Requirement(1, ready=9, pace=pace, nodes=nodes)])


def test_the_lead_is_the_time_that_packages_in_advance_take_on_the_node_with_fewest() -> None:
    assert lead(12, 6) == pytest.approx(0.2)


def test_there_is_no_lead_while_a_node_could_begin_a_package_at_once_or_a_pace_is_unknown() -> None:
    assert lead(12, 2) == 0
    assert lead(12, 12, pace=None) == 0
    assert lead_s([], [Requirement(1, ready=9, pace=0.1)]) == 0
    assert lead_s([NodeRoom(1, "a", 1, 2, 12)], []) == 0


def test_a_node_that_may_not_run_the_packages_does_not_count() -> None:
    assert lead(12, 0, nodes=["a"]) == pytest.approx(0.5)
    assert lead(0, 0, nodes=["c"]) == 0


def decide_short(nodes: Sequence[NodeRoom], *before: Requirement) -> list[int]:
    """The nodes of three short packages whose inputs are on node 1, after other packages."""
    found = place(
        nodes,
        [*before, Requirement(2, ready=3, pace=0.1)],
        lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
        lambda packages: {package: {1: 500} for package in packages if package >= 2000},
    )
    return [decision.node for decision in found if decision.package >= 2000]


def test_a_short_package_takes_a_free_cpu_and_does_not_wait_behind_long_ones() -> None:
    full = NodeRoom(1, "a", 1, cpus=2, used=2, lasting=2)
    free = NodeRoom(2, "b", 2, cpus=1, used=0)

    assert decide_short([full, free]) == [2, 2, 2]
    assert decide_short([full]) == []
    assert decide_short([replace(full, cpus=3)]) == [1, 1, 1]
    assert decide_short([replace(full, lasting=0)]) == [1, 1, 1]


def test_nothing_short_is_sent_behind_a_long_package_of_the_same_pass() -> None:
    node = NodeRoom(1, "a", 1, cpus=2, used=0)

    assert decide_short([node], Requirement(1, ready=2, pace=60.0)) == []
    assert decide_short([node], Requirement(1, ready=2, pace=0.2)) == [1, 1, 1]
