"""The scheduler with run times: packages go where they end first, and wait for it."""

from collections.abc import Mapping, Sequence

from d0ctl.schedule.costs import LINK_RATE, Links, queued
from d0ctl.schedule.node_capacity import Busy
from d0ctl.schedule.place import MOST_WAITING, place
from d0ctl.schedule.resources import InputCopies, NodeRoom, Requirement

FAST = NodeRoom(1, "fast", 1, cpus=1, used=0, speed=4.0)
FULL = NodeRoom(1, "fast", 1, cpus=1, used=1, speed=4.0)
SLOW = NodeRoom(2, "slow", 2, cpus=1, used=0, speed=1.0)


def decide(
    nodes: Sequence[NodeRoom],
    requirements: Sequence[Requirement],
    busy: Mapping[int, Sequence[Busy]] | None = None,
    where: Mapping[int, Mapping[int, int]] | None = None,
    rate: float = 1e6,
) -> list[tuple[int, int]]:
    """Place the packages 1000, 1001 ... of requirement 1 and so on; each has one input."""
    places = where or {}
    return [
        (decision.package, decision.node)
        for decision in place(
            nodes,
            requirements,
            lambda requirement, limit: [requirement * 1000 + n for n in range(limit)],
            lambda packages: places,
            lambda packages: {
                package: InputCopies(1, dict.fromkeys(places.get(package, ()), 1))
                for package in packages
            },
            busy=lambda: busy or {},
            links=lambda: Links(rate=rate),
        )
    ]


def test_of_two_free_nodes_the_faster_one_is_taken_first() -> None:
    assert decide([SLOW, FAST], [Requirement(1, ready=1, seconds=60.0)]) == [(1000, 1)]
    assert decide([SLOW, FAST], [Requirement(1, ready=1)]) != []


def test_a_package_waits_for_a_faster_node_if_it_ends_earlier_there() -> None:
    wanted = [Requirement(1, ready=1, seconds=60.0)]

    assert decide([FULL, SLOW], wanted, {1: [Busy(1, 30.0)]}) == []
    assert decide([FULL, SLOW], wanted, {1: [Busy(1, 50.0)]}) == [(1000, 2)]


def test_packages_that_wait_use_up_the_fast_node_so_that_the_next_takes_the_slow_one() -> None:
    many = [Requirement(1, ready=8, seconds=60.0)]

    assert decide([FULL, SLOW], many, {1: [Busy(1, 10.0)]}) == [(1003, 2)]


def test_no_cpu_is_left_idle_however_many_would_rather_wait() -> None:
    fast = NodeRoom(1, "fast", 1, cpus=99, used=99, speed=50.0)
    many = [Requirement(n, ready=50, seconds=60.0) for n in range(1, 8)]

    placed = decide([fast, SLOW], many, {1: [Busy(1, 1.0)] * 99})

    assert [node for _, node in placed] == [2]
    assert MOST_WAITING < 300


def test_packages_of_a_wide_workflow_wait_for_the_fast_node() -> None:
    fast = NodeRoom(1, "fast", 1, cpus=99, used=99, speed=50.0)
    many = [Requirement(n, ready=50, seconds=60.0) for n in range(1, 6)]

    assert decide([fast, SLOW], many, {1: [Busy(1, 1.0)] * 99}) == []


def test_a_package_of_unknown_run_time_takes_any_free_node() -> None:
    assert decide([FULL, SLOW], [Requirement(1, ready=1)], {1: [Busy(1, 1.0)]}) == [(1000, 2)]


def test_a_package_waits_for_the_node_with_its_inputs_if_copying_them_takes_longer() -> None:
    there, other = NodeRoom(1, "a", 1, cpus=1, used=1), NodeRoom(2, "b", 2, cpus=1, used=0)
    wanted = [Requirement(1, ready=1, seconds=60.0, fetches=True)]
    where = {1000: {0: 50_000_000, 1: 50_000_000}}

    assert decide([there, other], wanted, {1: [Busy(1, 20.0)]}, where) == []
    assert decide([there, other], wanted, {1: [Busy(1, 80.0)]}, where) == [(1000, 2)]


def test_a_package_is_bound_to_a_node_in_use_only_when_its_inputs_have_to_come() -> None:
    node = NodeRoom(1, "a", 1, cpus=1, used=1)
    wanted = [Requirement(1, ready=1, seconds=60.0, fetches=True)]
    where = {1000: {0: 50_000_000, 2: 50_000_000}}

    assert decide([node], wanted, {1: [Busy(1, 90.0)]}, where) == []
    assert decide([node], wanted, {1: [Busy(1, 40.0)]}, where) == [(1000, 1)]


def test_cpus_that_a_longer_chain_is_about_to_need_are_not_promised_in_advance() -> None:
    node = NodeRoom(1, "a", 1, cpus=1, used=1)
    where = {1000: {0: 50_000_000, 2: 50_000_000}}

    def decided(rank: float, job: int = 1, *, queued: bool = False) -> list[tuple[int, int]]:
        wanted = Requirement(1, ready=1, seconds=60.0, rank=rank, job=job, fetches=True)
        busy = Busy(1, 40.0, queued, job=1, after=200.0)
        return decide([node], [wanted], {1: [busy]}, where)

    assert decided(rank=60.0) == []
    assert decided(rank=200.0) == [(1000, 1)]
    assert decided(rank=160.0) == [(1000, 1)]
    assert decided(rank=60.0, job=2) == [(1000, 1)]
    assert decided(rank=60.0, queued=True) == [(1000, 1)]


def test_bytes_in_transit_to_a_cluster_delay_later_ones() -> None:
    busy = Links({7: 30e6}, rate=1e6, file_s=0.5)

    assert busy.seconds(7, 10e6, 2) == 41.0
    assert busy.seconds(8, 10e6, 2) == 11.0
    assert busy.seconds(7, 0, 0) == 0.0


def test_no_package_waits_while_many_similar_ones_are_ready_for_each_cpu() -> None:
    deep = [Requirement(1, ready=90, seconds=60.0)]

    assert decide([FULL, SLOW], deep, {1: [Busy(1, 10.0)]}) == [(1000, 2)]


def test_a_link_that_was_measured_goes_before_what_is_assumed() -> None:
    links = Links(file_s=0.0, rates={(3, 7): 1e6, (0, 7): 4e6})

    assert links.seconds(7, 8e6, 1, source=3) == 8.0
    assert links.seconds(7, 8e6, 1, source=4) == 2.0, "another source: as all to that cluster"
    assert links.seconds(8, 8e6, 1, source=3) == 8e6 / LINK_RATE


def test_the_backlog_of_a_slow_link_takes_as_long_as_that_link_needs() -> None:
    links = queued(
        Links(file_s=0.0, rates={(3, 7): 1e6, (0, 7): 4e6}), {(3, 7): (5e6, 1), (4, 7): (4e6, 1)}
    )

    assert links.seconds(7, 0, 1) == 6.0


def test_a_package_goes_to_the_node_whose_link_is_fast() -> None:
    nodes = [
        NodeRoom(number, name, number, cpus=1, used=0) for number, name in ((1, "a"), (2, "b"))
    ]
    links = Links(rates={(9, 1): 1e6, (9, 2): 50e6, (0, 1): 1e6, (0, 2): 50e6})
    inputs = {1000: {0: 100_000_000, 9: 100_000_000}}

    decided = place(
        nodes, [Requirement(1, ready=1, seconds=60.0, fetches=True)], lambda key, limit: [1000],
        lambda packages: inputs, lambda packages: {1000: InputCopies(1, {9: 1})},
        links=lambda: links,
    )  # fmt: skip

    assert [decision.node for decision in decided] == [2]


def test_the_pass_says_when_inputs_have_to_leave_for_a_node_in_use() -> None:
    inputs, due = {1000: {0: 10_000_000, 9: 10_000_000}}, list[float]()

    def placed(left_s: float) -> list[int]:
        decided = place(
            [FULL], [Requirement(1, ready=1, seconds=60.0, fetches=True)],
            lambda key, limit: [1000], lambda packages: inputs,
            lambda packages: {1000: InputCopies(1, {9: 1})}, busy=lambda: {1: [Busy(1, left_s)]},
            links=lambda: Links(rate=1e6, file_s=0.0), early_s=0.5, due=due.append,
        )  # fmt: skip
        return [decision.node for decision in decided]

    assert (placed(30.0), due) == ([], [19.5])
    assert (placed(10.4), due) == ([1], [19.5])
