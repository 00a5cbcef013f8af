"""How often a good node is drained by mistake, and how soon a bad one; by simulation."""

from collections.abc import Mapping
from random import Random
from statistics import median

import pytest

from d0ctl.policy.bad_nodes import NodeRecord, Tally, is_at_fault
from tests.policy.test_bad_nodes import SITE

BAD = 1


def verdicts(
    attempts: int,
    nodes: int,
    seed: int,
    rate: float = 0.1,
    bad_from: Mapping[int, float] | None = None,
) -> tuple[int, int | None]:
    """Run a stage whose attempts fail at random, and judge after each failure.

    `bad_from` is the rate of the bad node by the number of attempts from which it has it. Returns
    how many good nodes were drained, and after how many attempts since then the bad one was.
    """
    random, changes = Random(seed), dict(bad_from or {})
    records = [NodeRecord(Tally()) for _ in range(nodes)]
    successful = failed = drained = 0
    rates, since = [rate] * nodes, None
    for number in range(attempts):
        if number in changes:
            rates[BAD], since = changes[number], 0
        node = random.randrange(nodes)
        if node == BAD and since is not None:
            since += 1
        old = records[node]
        if random.random() >= rates[node]:
            records[node] = NodeRecord(Tally(old.tally.successful + 1, old.tally.failed))
            successful += 1
            continue
        tally = Tally(old.tally.successful, old.tally.failed + 1)
        records[node] = NodeRecord(tally, old.streak + 1)
        failed += 1
        others = Tally(successful - tally.successful, failed - tally.failed)
        if is_at_fault(records[node], others, others, SITE):
            if node == BAD and since is not None:
                return drained, since
            drained += 1
            records[node] = NodeRecord(Tally())
            successful, failed = others.successful, others.failed
    return drained, None


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
@pytest.mark.parametrize(
    ("attempts", "nodes", "stages"), [(200, 10, 300), (4000, 4, 40), (40_000, 100, 3)]
)
def test_a_stage_drains_few_good_nodes_however_often_they_are_judged(
    attempts: int, nodes: int, stages: int, rate: float
) -> None:
    drained = sum(verdicts(attempts, nodes, seed, rate)[0] for seed in range(stages))

    assert drained <= 0.05 * stages, drained


@pytest.mark.parametrize(
    ("rate", "before", "usual", "worst"),
    [(1.0, 0, 6, 7), (1.0, 5000, 8, 9), (0.9, 0, 7, 12), (0.9, 5000, 10, 30),
     (0.5, 0, 30, 70), (0.5, 5000, 90, 160)],
)  # fmt: skip
def test_a_bad_node_is_drained_soon_also_if_it_fails_only_every_second_package(
    rate: float, before: int, usual: int, worst: int
) -> None:
    found = [verdicts(before + 20_000, 100, seed, bad_from={before: rate})[1] for seed in range(15)]

    took = [verdict for verdict in found if verdict is not None]
    assert len(took) == len(found)
    assert median(took) <= usual and max(took) <= worst, sorted(took)
