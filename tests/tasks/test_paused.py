"""A task that is paused or defined: no other command resumes it unasked or claims to."""

import pytest

from d0ctl import actions
from d0ctl.errors import Refused
from d0ctl.select import parse
from d0ctl.show.outcome import way_back
from d0ctl.store import Store
from d0ctl.store.views import browse
from tests.support.jobs import NOW
from tests.tasks.making import status_of, submit, work
from tests.tasks.test_commands import act, end, phases


@pytest.fixture
def task(store: Store) -> int:
    """A paused task of eight numbers, of which one has failed."""
    number = submit(store, inputs="{seeds: {range: [1, 8]}}", split="{attempts: 1}",
                    more="timeouts: {paused: {after: 1h, action: finish}}")  # fmt: skip
    work(store)
    end(store, "failed", *["running"] * 7)
    work(store)
    act(store, "task pause")
    return number


def is_paused(store: Store) -> bool:
    """Whether the job of the task is paused."""
    return bool(store.connection.execute("select pause from job").fetchone()[0])


def test_incexec_of_a_task_whose_inputs_were_not_looked_up_yet_says_so(store: Store) -> None:
    submit(store, inputs="{seeds: {range: [1, 2]}}")

    with pytest.raises(Refused, match="`demo` is defined: its inputs are being looked up already"):
        act(store, "task incexec")


def test_incexec_of_a_paused_task_waits_for_its_resumption(store: Store, task: int) -> None:
    act(store, "task incexec")
    work(store)
    assert (status_of(store, task), is_paused(store)) == ("paused", True)

    act(store, "task resume")
    work(store)
    assert (status_of(store, task), is_paused(store)) == ("running", False)
    assert phases(store)["ready"] == 1, "the file that failed"


def test_the_job_of_a_paused_task_is_resumed_with_that(store: Store, task: int) -> None:
    assert way_back(browse.job(store, "demo")) == "d0ctl task resume demo"
    request = actions.request("resume", parse("demo"))
    with pytest.raises(Refused, match="task `demo` is paused, and its job is resumed with it"):
        actions.apply(store, request, actor="emmy", note=None, now=NOW)

    act(store, "task resume")
    assert not is_paused(store)


def test_retry_of_a_paused_task_is_refused(store: Store, task: int) -> None:
    with pytest.raises(Refused, match="is paused, so it can't be retried") as caught:
        act(store, "task retry")
    assert caught.value.hint == "d0ctl task resume demo"


@pytest.mark.parametrize("verb", ["task finish", "task kill"])
def test_the_packages_of_a_paused_task_go_on_when_it_is_ended(
    store: Store, task: int, verb: str
) -> None:
    act(store, verb)
    assert not is_paused(store)


def test_the_watchdog_lets_the_packages_of_a_paused_task_end(store: Store, task: int) -> None:
    work(store, NOW + 3600)
    assert (status_of(store, task), is_paused(store)) == ("finishing", False)
