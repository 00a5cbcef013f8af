"""Further copies of files that many packages will read."""

import pytest

from d0ctl.schedule.costs import Links
from d0ctl.schedule.moves.replicas import LEAST_READERS, MOST_COPIES, HotFile, Replica, replicas
from d0ctl.schedule.rehearsal.records import Conditions, File, Outcome, Task
from d0ctl.schedule.rehearsal.run import Rehearsal
from d0ctl.schedule.resources import NodeRoom, Requirement

LINKS = Links(rate=100.0, file_s=0.0)
POWERS = {2: 4.0, 3: 4.0, 4: 2.0}


def hot(**more: object) -> HotFile:
    """A file of 1,000 bytes in one cluster, with 100 readers of 40 CPU seconds each."""
    fields = {"file": 1, "size": 1000, "readers": 100, "seconds": 40.0, "clusters": {2},
              "coming": (), "fits": {2, 3, 4}}  # fmt: skip
    return HotFile(**(fields | more))  # type: ignore[arg-type]


def test_a_hot_file_is_copied_to_the_cluster_with_most_cpus_one_copy_for_each_there_is() -> None:
    assert replicas([hot()], POWERS, LINKS, {}) == [Replica(1, 2, 3, 100, 10.0, 500.0)]
    found = replicas([hot(clusters={1, 2})], POWERS, LINKS, {})
    assert [(replica.source, replica.cluster) for replica in found] == [(1, 3), (2, 4)]


@pytest.mark.parametrize(
    "more",
    [
        {"readers": LEAST_READERS - 1},
        {"seconds": 1.0},
        {"size": 50},
        {"coming": {3, 4}},
        {"fits": {2}},
        {"clusters": set(range(2, 2 + MOST_COPIES)), "fits": {99}},
    ],
)
def test_a_file_is_not_copied_where_that_brings_little(more: dict[str, object]) -> None:
    assert replicas([hot(**more)], POWERS | {99: 4.0}, LINKS, {}) == []


def test_links_that_are_in_use_and_full_caches_are_left_alone() -> None:
    assert replicas([hot()], POWERS, LINKS, {3: 999, 4: 1000})[0].cluster == 4
    assert replicas([hot()], POWERS, LINKS, {}, busy={3})[0].cluster == 4
    assert replicas([hot()], POWERS, LINKS, {}, busy={2}) == []
    assert replicas([hot()], POWERS, Links(rate=100.0, backlog={3: 1.0, 4: 1.0}), {}) == []


class Unspread(Rehearsal):
    """A rehearsal in which files come only when a reader has its node."""

    def _spread(self) -> None:
        pass


def rehearsed(kind: type[Rehearsal], size: int) -> Outcome:
    """Thirty-two lines on eight nodes: 100 s, then as long with a file that all read."""
    nodes = [NodeRoom(n, f"n{n}", n + 1, 4, 0) for n in range(1, 9)]
    first = Requirement(1, 0, seconds=100.0, rank=200.0)
    second = Requirement(2, 0, seconds=100.0, rank=100.0, fetches=True)
    tasks = [Task(1, 100.0, outputs=(1 + n,)) for n in range(32)]
    tasks += [Task(2, 100.0, inputs=(0, 1 + n)) for n in range(32)]
    files = [File(size, cluster=2), *(File(1_000) for _ in range(32))]
    return kind(nodes, [first, second], tasks, files, Conditions(links=Links(rate=1e8))).run()


def test_a_file_that_all_nodes_will_need_is_there_in_time() -> None:
    usual, spread = rehearsed(Unspread, 2 * 10**9), rehearsed(Rehearsal, 2 * 10**9)

    assert usual.makespan_s > 240
    assert spread.makespan_s < 205
    assert spread.peaks[2] <= usual.peaks[2]


def test_a_small_file_is_left_to_its_readers() -> None:
    assert rehearsed(Rehearsal, 10**6) == rehearsed(Unspread, 10**6)
