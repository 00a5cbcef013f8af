"""Jobs on a virtual clock."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from d0ctl.schedule import critical_path
from d0ctl.schedule.costs import Links
from d0ctl.schedule.quota import Throttle
from d0ctl.schedule.rehearsal.records import Conditions, Failure, File, Outcome, Task
from d0ctl.schedule.rehearsal.run import LAUNCH_S, rehearse
from d0ctl.schedule.resources import NodeRoom, Requirement


def node(number: int, cpus: int = 1, speed: float = 1.0) -> NodeRoom:
    """An empty node with a cache of its own."""
    return NodeRoom(number, f"n{number}", number + 1, cpus, 0, speed=speed)


def run(
    nodes: list[NodeRoom],
    tasks: list[Task],
    files: list[File] | None = None,
    conditions: Conditions | None = None,
) -> Outcome:
    """Rehearse packages that all take one CPU and 10 s, with slow links."""
    requirement = Requirement(1, 0, seconds=10.0, fetches=bool(files))
    conditions = replace(conditions or Conditions(), links=Links(rate=1e6, file_s=0.0))
    return rehearse(nodes, [requirement], tasks, files or [], conditions)


def test_packages_share_the_cpus_there_are() -> None:
    found = run([node(1, cpus=2)], [Task(1, 10.0)] * 5)

    assert found.makespan_s == pytest.approx(30 + 3 * LAUNCH_S)
    assert found.busy_s == {1: 50.0}


def test_a_package_begins_when_those_before_it_have_ended_also_through_marks() -> None:
    tasks = [Task(1, 10.0), Task(0, 0.0, after=(0,)), Task(1, 10.0, after=(1,))]

    found = run([node(1, cpus=2)], tasks)

    assert found.starts[2] == pytest.approx(found.ends[0] + LAUNCH_S)
    assert found.nodes == [1, -1, 1]


def test_inputs_come_at_the_rate_of_the_link_and_one_after_the_other() -> None:
    files = [File(5_000_000, cluster=1), File(5_000_000, cluster=1)]

    found = run([node(1, cpus=2)], [Task(1, 10.0, inputs=(0,)), Task(1, 10.0, inputs=(1,))], files)

    assert found.starts == [5.0, 10.0]
    assert found.carried == 10_000_000
    assert found.peaks == {2: 10_000_000}


def test_a_reader_runs_where_its_file_is_and_the_file_goes_when_it_has_ended() -> None:
    tasks = [Task(1, 10.0, outputs=(0,)), Task(1, 10.0, inputs=(0,)), Task(1, 10.0)]

    found = run([node(1), node(2)], tasks, [File(90_000_000)])

    assert found.nodes[0] == found.nodes[1]
    assert found.carried == 0
    assert list(found.peaks.values()) == [90_000_000]


def test_a_file_that_nobody_reads_goes_with_the_end_of_its_maker_unless_it_stays() -> None:
    tasks = [Task(1, 10.0, outputs=(number,)) for number in range(3)]
    sizes = [10**9] * 3

    goes = run([node(1)], tasks, [File(size) for size in sizes])
    stays = run([node(1)], tasks, [File(size, stays=True) for size in sizes])

    assert goes.peaks == {2: 10**9}
    assert stays.peaks == {2: 3 * 10**9}


def test_no_more_packages_of_a_stage_run_than_it_allows() -> None:
    requirement = Requirement(1, 0, seconds=10.0, stage=7)

    found = rehearse(
        [node(1, cpus=4)], [requirement], [Task(1, 10.0)] * 4, [], Conditions(limits={7: 2})
    )
    whole = rehearse(
        [node(1, cpus=4)], [requirement], [Task(1, 10.0)] * 4, [], Conditions(limits={0: 1})
    )

    assert found.makespan_s == pytest.approx(20, abs=1)
    assert whole.makespan_s == pytest.approx(40, abs=1)


def test_a_package_that_fails_is_tried_again_elsewhere_after_its_pause() -> None:
    tries: list[int] = []

    def fails(task: int, node: int) -> Failure | None:
        tries.append(node)
        return Failure("stage-in", 2.0, 30.0, elsewhere=True) if len(tries) == 1 else None

    found = run([node(1), node(2)], [Task(1, 10.0)], conditions=Conditions(fails=fails))

    assert sorted(tries) == [1, 2]
    assert found.retried == {"stage-in": 1} and not found.failed
    assert found.wasted_s == 2.0
    assert found.makespan_s == pytest.approx(2 + 30 + 10 + 2 * LAUNCH_S)


def test_each_package_that_failed_is_tried_again_once() -> None:
    tries: Counter[int] = Counter()

    def fails(task: int, node: int) -> Failure | None:
        tries[task] += 1
        return Failure("lost", 1.0, 0.0) if tries[task] < 3 else None

    files = [File(90_000_000, cluster=2 + n % 3 // 2) for n in range(12)]
    tasks = [Task(1, 10.0, inputs=(n,)) for n in range(12)]
    found = run([node(1), node(2)], tasks, files, Conditions(fails=fails))

    assert set(tries.values()) == {3}
    assert (found.retried, found.stuck) == ({"lost": 24}, 0)


def test_readers_of_a_failed_package_run_only_if_it_is_not_required() -> None:
    tasks = [Task(1, 10.0, outputs=(0,)), Task(1, 10.0, outputs=(1,)), Task(1, 10.0, inputs=(0, 1))]
    files = [File(1_000), File(1_000)]

    def rehearsed(excused: int) -> Outcome:
        conditions = Conditions(
            fails=lambda task, node: Failure("exit-code", 1.0) if task == 0 else None,
            excused={0: excused},
        )
        return run([node(1)], tasks, files, conditions)

    assert (rehearsed(0).stuck, rehearsed(0).failed) == (1, {"exit-code": 1})
    assert (rehearsed(1).stuck, rehearsed(1).nodes[2]) == (0, 1)


@pytest.mark.parametrize(
    ("throttle", "takes_s"),
    [
        (Throttle("node", "n*", max_running=1), 20.0),
        (Throttle("researcher", "emmy", max_running=1), 40.0),
        (Throttle("job", "mc", launches=1, per_s=60.0), 190.0),
        (Throttle("job", "other", max_running=1), 10.0),
    ],
)
def test_throttles_hold_back_packages(throttle: Throttle, takes_s: float) -> None:
    conditions = Conditions(throttles=[throttle], job="mc", researcher="emmy")

    found = run([node(1, cpus=2), node(2, cpus=2)], [Task(1, 10.0)] * 4, conditions=conditions)

    assert found.makespan_s == pytest.approx(takes_s, abs=0.5)


def test_a_node_takes_no_package_whose_files_its_cache_cannot_hold() -> None:
    small = replace(node(1, cpus=2), disk=3_000, disk_free=3_000)
    requirement = Requirement(1, 0, seconds=10.0, space=1_000)

    found = rehearse(
        [small, node(2)],
        [requirement],
        [Task(1, 10.0, outputs=(n,)) for n in range(8)],
        [File(1_000, stays=True) for _ in range(8)],
    )

    assert found.stuck == 0
    assert found.peaks[small.cluster] == 3_000


@given(
    st.lists(
        st.tuples(st.integers(1, 2), st.sampled_from([0.5, 1.0, 4.0])), min_size=1, max_size=3
    ),
    st.lists(
        st.tuples(st.floats(0.5, 50), st.sets(st.integers(0, 15), max_size=3)),
        min_size=1,
        max_size=16,
    ),
)
def test_all_packages_end_in_order_and_none_before_the_bounds(
    sizes: list[tuple[int, float]], wanted: list[tuple[float, set[int]]]
) -> None:
    nodes = [node(n, cpus, speed) for n, (cpus, speed) in enumerate(sizes, 1)]
    before = [sorted(step for step in after if step < n) for n, (_, after) in enumerate(wanted)]
    seconds = [took for took, _ in wanted]
    ranks = critical_path.ranks(seconds, before)
    requirements = [
        Requirement(n, 0, seconds=took, rank=rank, fetches=True)
        for n, (took, rank) in enumerate(zip(seconds, ranks, strict=True), 1)
    ]
    tasks = [
        Task(n, took, inputs=after, outputs=(n - 1,))
        for n, (took, after) in enumerate(zip(seconds, before, strict=True), 1)
    ]

    found = rehearse(nodes, sorted(requirements, key=lambda requirement: -requirement.rank), tasks,
                     [File(100_000)] * len(tasks))  # fmt: skip

    assert found.stuck == 0
    for number, after in enumerate(before):
        assert all(found.ends[step] <= found.starts[number] for step in after)
    capacity = sum(cpus * speed for cpus, speed in sizes)
    fastest = max(speed for _, speed in sizes)
    least = max(sum(seconds) / capacity, max(ranks) / fastest)
    assert found.makespan_s >= least * (1 - 1e-9)
    events = sorted([(found.starts[n], 1, found.nodes[n]) for n in range(len(tasks))]
                    + [(found.ends[n], -1, found.nodes[n]) for n in range(len(tasks))])  # fmt: skip
    running = dict.fromkeys((node.id for node in nodes), 0)
    for _, more, where in events:
        running[where] += more
        assert running[where] <= next(node.cpus for node in nodes if node.id == where)
