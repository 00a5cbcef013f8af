"""Times for which attempts were suspended: they do not count as running time."""

import pytest
from msgspec.structs import replace

from d0ctl.schedule.estimates import Range
from d0ctl.store import Store
from d0ctl.store.attempts.history.estimates import Program, samples
from d0ctl.store.history import attempt_spans
from d0ctl.store.nodes import leases, placement
from d0ctl.store.views.job_files import eta, eta_audit
from tests.store.telling import apply, more, progress
from tests.store.test_urgency import timed
from tests.support.jobs import NOW, job, submitted
from tests.support.messages import Message, end_message
from tests.support.rows import change, value
from tests.support.site import Site


@pytest.fixture
def running(store: Store) -> Store:
    """A package of 30 s on this machine with one CPU, which began now."""
    site = Site.of(store, cpus=1)
    submitted(store, job("one", [timed(30.0)]))
    node = site.node("localhost")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    site.deliver(node, node.spool)
    return store


def state(seq: int, phase: str, suspended: float) -> Message:
    """A wrapper says that it is suspended, or continues, and for how long it was suspended."""
    return more(1, "state", seq, phase=phase, why="", suspended=suspended)


def suspend(store: Store, since: float, until: float | None = None) -> None:
    """Suspend the package from one time to another, in seconds from its start."""
    apply(store, [state(5, "suspended", 0.0)], at=NOW + since)
    if until is not None:
        apply(store, [state(6, "running", until - since)], at=NOW + until)


def test_a_package_is_no_straggler_because_it_was_suspended(running: Store) -> None:
    suspend(running, since=10, until=1010)
    with running.writing():
        leases.take_lease(running, "daemon", now=NOW)

    assert not eta.stragglers(running, None, 9, now=NOW + 1020)
    (late,) = eta.stragglers(running, None, 9, now=NOW + 1400)
    assert late.started == NOW
    assert late.ran(NOW + 1400) == 400.0


def test_the_timeline_counts_no_time_since_it_was_suspended(running: Store) -> None:
    suspend(running, since=10)
    (span,) = attempt_spans.latest(running, None)
    suspend(running, since=10, until=1010)
    (later,) = attempt_spans.latest(running, None)

    with_driver = (replace(each, last_heard=None) for each in (span, later))
    assert [each.ran(NOW + 1020) for each in with_driver] == [10.0, 20.0]


def test_a_second_copy_of_the_message_counts_once(running: Store) -> None:
    suspend(running, since=10, until=1010)
    apply(running, [state(6, "running", 1000.0)], at=NOW + 1030)

    assert value(running, "attempt", "suspended") == 1000.0


def test_an_end_is_as_much_later_as_a_package_was_suspended(running: Store) -> None:
    before = eta.package_times(running, 1, now=NOW + 10)
    suspend(running, since=10)
    meanwhile = eta.package_times(running, 1, now=NOW + 35)
    long = eta.package_times(running, 1, now=NOW + 500)
    suspend(running, since=10, until=1010)
    after = eta.package_times(running, 1, now=NOW + 1010)

    assert before is not None and meanwhile is not None and after is not None
    assert before.end == Range(NOW + 15, NOW + 30, NOW + 60)
    assert meanwhile.end.middle == before.end.middle + 25 and long is None
    assert after.end.middle == before.end.middle + 1000


def test_the_rest_of_a_run_stays_the_same_while_it_is_suspended(running: Store) -> None:
    def left_s(now: float) -> tuple[float, float]:
        ((package,),) = placement.busy(running, now=now).values()
        return package.left_s, eta.horizon(running, now=now).jobs[1].begun.middle

    suspend(running, since=10)
    before = left_s(NOW + 10)
    meanwhile = left_s(NOW + 35)
    suspend(running, since=10, until=1010)

    assert before == meanwhile == left_s(NOW + 1010) == pytest.approx((20.0, 20.0))


def test_an_end_that_was_reported_before_a_suspension_is_forgotten(running: Store) -> None:
    apply(running, [progress(1, 4, 50.0, eta=NOW + 20)], at=NOW + 10)
    suspend(running, since=10, until=1010)
    assert value(running, "progress", "eta") is None

    apply(running, [progress(1, 7, 60.0, eta=NOW + 1020)], at=NOW + 1012)
    assert value(running, "progress", "eta") is not None


def test_suspended_time_is_no_run_time_to_learn_from(running: Store) -> None:
    change(running, "attempt", {}, launched=NOW)
    suspend(running, since=10, until=1010)
    end = end_message(1) | {"ended": NOW + 1040, "suspended": 1000.0, "began": 1}
    applied = apply(running, [end], at=NOW + 1040)

    assert list(samples(running, Program("stage", "1"))["seconds"]) == [40.0]
    assert applied.durations == {1: [(40.0, 1.0)]}
    (found,) = eta_audit.audit(running, None, 9)
    assert list(found.pairs) == [(30.0, 40.0)]


def test_a_suspension_without_a_start_leaves_the_estimates_readable(running: Store) -> None:
    change(running, "attempt", {}, started=None)
    suspend(running, since=10, until=20)
    change(running, "attempt", {}, started=None)

    assert eta.horizon(running, now=NOW + 30).jobs[1].begun.middle > 0
