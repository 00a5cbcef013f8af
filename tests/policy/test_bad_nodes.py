"""When a node is a suspect, what it gets then, and what proves that it is a black hole."""

from hypothesis import given
from hypothesis import strategies as st

from d0ctl.model import Reason
from d0ctl.policy.bad_nodes import (
    BlackHoleLimits,
    NodeRecord,
    Tally,
    counts_against_node,
    counts_against_stage,
    is_at_fault,
    is_doubtful,
    most_at_a_time,
    pause_end,
    pause_s,
    rest_s,
    suspect_limits,
)
from d0ctl.sitefile.defaults import BAD_NODES

SITE = BlackHoleLimits(**{key.replace("-", "_"): value for key, value in BAD_NODES.items()})

NOW = 1_000_000.0

NEVER_WELL = Tally(0, 3)

tallies = st.builds(Tally, st.integers(0, 500), st.integers(0, 500))
streaks = st.integers(1, 60)
records = st.builds(
    NodeRecord, tallies, st.integers(0, 60), st.floats(NOW - 5000, NOW), st.floats(0, 4000)
)


def failing(
    streak: int, *, successful: int = 0, ago: float = 0.0, lasted: float = 0.0
) -> NodeRecord:
    """A node whose last attempts failed."""
    return NodeRecord(Tally(successful, streak), streak, NOW - ago, lasted)


def test_three_failures_in_a_row_that_succeed_elsewhere_are_enough() -> None:
    assert is_at_fault(failing(3), Tally(5, 0), Tally(5, 0), SITE)
    assert not is_at_fault(failing(2), Tally(50, 0), Tally(50, 0), SITE)
    assert not is_at_fault(failing(3), Tally(1, 0), Tally(1, 0), SITE)


def test_a_node_that_ran_the_stage_well_yesterday_is_not_spared_today() -> None:
    assert is_at_fault(failing(3, successful=100), Tally(500, 0), Tally(500, 0), SITE)


def test_a_node_that_just_ran_the_stage_well_is_spared_after_three_failures() -> None:
    others = Tally(5, 0)

    assert not is_at_fault(failing(3, successful=3), others, others, SITE)
    assert is_at_fault(failing(5, successful=3), others, others, SITE)


def test_failures_that_its_job_shows_elsewhere_are_chance() -> None:
    assert not is_at_fault(failing(3), Tally(9, 0), Tally(80, 20), SITE)
    assert is_at_fault(failing(3), Tally(9, 0), Tally(100, 0), SITE)


def test_two_failures_on_a_node_that_never_ran_the_stage_well_are_tried_elsewhere() -> None:
    others = Tally(22, 0)

    assert is_doubtful(failing(2), others, others, SITE)
    assert not is_at_fault(failing(2), others, others, SITE)
    assert not is_doubtful(failing(1), others, others, SITE)
    assert not is_doubtful(failing(2, successful=1), others, others, SITE)
    assert not is_doubtful(failing(2), Tally(12, 8), Tally(12, 8), SITE)


@given(records, tallies, tallies)
def test_more_failures_elsewhere_never_make_a_node_guilty(
    record: NodeRecord, others: Tally, job: Tally
) -> None:
    if not is_at_fault(record, others, job, SITE):
        worse = Tally(job.successful, job.failed + 50)
        assert not is_at_fault(record, others, worse, SITE)


def test_where_one_in_ten_fails_everywhere_three_in_a_row_are_chance() -> None:
    others = Tally(900, 100)

    assert not is_at_fault(failing(3, successful=97), others, others, SITE)
    assert is_at_fault(failing(6, successful=97), others, others, SITE)


@given(streaks, st.integers(0, 10_000))
def test_a_failure_that_happens_everywhere_makes_no_node_guilty(streak: int, failed: int) -> None:
    assert not is_at_fault(failing(streak), Tally(0, failed), Tally(0, failed), SITE)


@given(streaks, st.integers(1, 200), st.integers(1, 200))
def test_other_nodes_that_mostly_fail_prove_little(streak: int, successful: int, more: int) -> None:
    others = Tally(successful, successful + more)

    assert not is_at_fault(failing(min(streak, 4)), others, others, SITE)


@given(records, tallies, tallies)
def test_a_node_may_always_fail_as_often_as_the_budget(
    record: NodeRecord, others: Tally, job: Tally
) -> None:
    if is_at_fault(record, others, job, SITE):
        assert record.streak >= SITE.failures
        assert others.successful > 0


@given(records, tallies, tallies)
def test_a_site_without_a_budget_suspects_no_node(
    record: NodeRecord, others: Tally, job: Tally
) -> None:
    none = BlackHoleLimits(0, SITE.pause, SITE.minimum_run, SITE.try_again, SITE.longest)

    assert not is_at_fault(record, others, job, none)
    assert not is_doubtful(record, others, job, none)
    assert suspect_limits({1: record}, frozenset({1, 2}), none, NOW) == {}


@given(st.lists(records, min_size=1, max_size=6))
def test_where_all_nodes_fail_none_pauses(found: list[NodeRecord]) -> None:
    nodes = dict(enumerate(found))
    bounds = suspect_limits(nodes, frozenset(nodes), SITE, NOW)

    assert set(bounds) != set(nodes)
    assert all(most >= 0 for most in bounds.values())


def test_a_node_that_never_ran_the_stage_pauses_after_the_first_failure() -> None:
    assert suspect_limits({1: failing(1)}, frozenset({1, 2}), SITE, NOW) == {1: 0}
    assert suspect_limits({1: failing(1, ago=10)}, frozenset({1, 2}), SITE, NOW) == {1: 1}
    assert suspect_limits({1: failing(1, successful=1)}, frozenset({1, 2}), SITE, NOW) == {}
    assert suspect_limits({1: failing(1)}, frozenset({1}), SITE, NOW) == {}


def test_a_failure_after_the_minimum_run_causes_no_pause() -> None:
    assert most_at_a_time(failing(1, lasted=10.0), SITE, NOW) == 1
    assert pause_end(failing(1, lasted=4.0), SITE) == NOW + 6.0


def test_the_pause_doubles_up_to_the_minimum_run() -> None:
    lengths = [pause_s(failing(n, successful=1), SITE) for n in (3, 4, 5, 9, 60)]

    assert lengths == [40.0, 80.0, 160.0, 1200.0, 1200.0]
    assert pause_s(failing(3), SITE) == SITE.minimum_run


@given(records.filter(lambda record: record.streak > 0), st.floats(0, 1e6))
def test_without_another_failure_a_suspect_gets_more_and_more(
    record: NodeRecord, more: float
) -> None:
    assert most_at_a_time(record, SITE, NOW) <= most_at_a_time(record, SITE, NOW + more)
    assert most_at_a_time(record, SITE, NOW + 40 * SITE.minimum_run) > 10**6


def test_long_packages_do_not_wait_for_the_first_to_end() -> None:
    found = [most_at_a_time(failing(1, ago=seconds), SITE, NOW) for seconds in (9, 10, 20, 30, 60)]

    assert found == [0, 1, 3, 7, 63]


def test_a_node_found_guilty_again_rests_twice_as_long_up_to_a_day() -> None:
    assert [rest_s(times, SITE) for times in (1, 2, 3, 99)] == [1800, 3600, 7200, 86400]


def test_no_node_is_blamed_for_packages_that_a_person_ended_or_that_went_down_with_it() -> None:
    assert not counts_against_node(Reason.KILLED, or_gone=True)
    assert not counts_against_node(Reason.LOST, or_gone=False)
    assert counts_against_node(Reason.PLATFORM_FAILURE, or_gone=True)
    assert counts_against_node(Reason.EXIT_CODE, or_gone=False)
    assert counts_against_node("site:full", or_gone=False)


def test_packages_that_request_too_little_count_against_their_stage_and_no_node() -> None:
    for reason in (Reason.OUT_OF_MEMORY, Reason.WALL_TIME):
        assert not counts_against_node(reason, or_gone=True)
        assert counts_against_stage(reason)
    assert not counts_against_stage(Reason.KILLED)
    assert not counts_against_stage(Reason.LOST)
