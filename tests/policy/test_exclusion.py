"""CRAB3, Automatic Site Blacklist Policies: each condition, as the document has it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.policy.bad_nodes import ExclusionLimits, Tally, is_excluded
from d0ctl.sitefile.defaults import EXCLUSION

SEED = ExclusionLimits(**EXCLUSION)

CONDITIONS: dict[str, tuple[tuple[Tally, Tally], tuple[Tally, Tally]]] = {
    "There have been more than 10 completed jobs for this task (failed or successful).": (
        (Tally(0, 5), Tally(6, 5)),
        (Tally(0, 5), Tally(5, 5)),
    ),
    "There are 5 successful jobs for this task. (protects against tasks which are going to fail "
    "everywhere).": (
        (Tally(0, 6), Tally(5, 6)),
        (Tally(0, 7), Tally(4, 7)),
    ),
    "The site success rate is less than 50% for this task.": (
        (Tally(5, 6), Tally(9, 6)),
        (Tally(6, 6), Tally(9, 6)),
    ),
    "The site has failed at least 5 jobs.": (
        (Tally(0, 5), Tally(20, 5)),
        (Tally(0, 4), Tally(20, 4)),
    ),
}
"""What is known of a node and of its job where it is just excluded, and where not any more."""


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_job_may_exclude_a_node_if_all_of_these_are_met(condition: str) -> None:
    met, missed = CONDITIONS[condition]

    assert is_excluded(*met, SEED)
    assert not is_excluded(*missed, SEED)


tallies = st.builds(Tally, st.integers(0, 50), st.integers(0, 50))


@given(tallies, tallies)
def test_one_more_success_never_excludes_a_node(node: Tally, rest: Tally) -> None:
    before = Tally(node.successful + rest.successful, node.failed + rest.failed)
    better = Tally(node.successful + 1, node.failed)

    if not is_excluded(node, before, SEED) and before.completed > SEED.completed:
        after = Tally(before.successful + 1, before.failed)
        if before.successful >= SEED.successful:
            assert not is_excluded(better, after, SEED)


@given(tallies, st.integers(0, 50))
def test_a_job_that_fails_everywhere_excludes_no_node(node: Tally, failed: int) -> None:
    few = Tally(min(node.successful, SEED.successful - 1), node.failed)

    assert not is_excluded(few, Tally(few.successful, few.failed + failed), SEED)
