"""A user, and another task, while an agent is at work."""

from collections.abc import Callable

import pytest

from d0ctl.agents import feeder, generator
from d0ctl.errors import NotFound, Refused
from d0ctl.show.tasks.task_why import why
from d0ctl.store import Store
from d0ctl.store.jobs import removal
from d0ctl.store.tasks import state
from tests.support.jobs import NOW
from tests.tasks.making import contents, status_of, submit, work
from tests.tasks.test_commands import act, end, known, phases


def generate(store: Store, task: int, meanwhile: Callable[[], object]) -> bool:
    """Let the generator work; something happens after it has made packages, before it adds them."""

    def clock() -> float:
        meanwhile()
        return NOW

    with state.locked(store, task, now=NOW) as locked:
        assert locked is not None
        return generator.act(store, locked, clock)


@pytest.fixture
def task(store: Store) -> int:
    """A task of 80 numbers of which 50 have packages, which have ended."""
    store.connection.execute(
        "insert into node (name, cluster_id, kind, cpus) values ('farm', 1, 'ssh', 4)"
    )
    number = submit(store, inputs="{seeds: {range: [1, 80]}}", split="{attempts: 1}",
                    more="parameters: {calibration: v1}")  # fmt: skip
    work(store)
    end(store, "failed")
    return number


def test_packages_that_were_being_made_follow_a_reassignment(store: Store, task: int) -> None:
    assert not generate(store, task, lambda: act(store, "task reassign", nodes=("farm",)))
    work(store)

    found = store.connection.execute(
        "select distinct nodes from package join requirement"
        " on requirement.id = package.requirement_id where phase = 'ready'"
    ).fetchall()
    assert [tuple(row) for row in found] == [('["farm"]',)]


def test_an_avalanche_while_scouts_are_being_made_makes_none(store: Store) -> None:
    number = submit(store, inputs="{seeds: {range: [1, 20]}}", split="{scouts: 4}")
    with state.locked(store, number, now=NOW) as locked:
        assert locked is not None
        feeder.act(store, locked, lambda: NOW)

    assert not generate(store, number, lambda: act(store, "task avalanche"))
    work(store)
    assert (status_of(store, number), phases(store)) == ("running", {"ready": 20})


@pytest.mark.parametrize("verb", ["task incexec", "task pause", "task finish", "task kill"])
def test_no_package_is_made_for_a_task_that_just_got_another_status(
    store: Store, task: int, verb: str
) -> None:
    assert not generate(store, task, lambda: act(store, verb))
    assert sum(phases(store).values()) == 50


def test_packages_that_were_being_made_get_new_values_of_parameters(
    store: Store, task: int
) -> None:
    new = {"calibration": "v2"}
    assert not generate(store, task, lambda: act(store, "task incexec", parameters=new))


def test_a_retry_while_the_task_makes_packages_is_refused_with_what_helps(
    store: Store, task: int
) -> None:
    work(store)
    with pytest.raises(Refused, match="is running, so it can't be retried") as caught:
        act(store, "task retry")
    assert caught.value.hint == "d0ctl task incexec demo   # for failed files now"

    act(store, "task incexec")
    while status_of(store, task) != "done":
        work(store)
        end(store)
    assert set(contents(store).values()) == {"finished"}
    assert phases(store)["done"] == 80


def test_a_second_retry_finds_the_task_at_work(store: Store, task: int) -> None:
    while status_of(store, task) == "running":
        work(store)
        end(store)
    assert status_of(store, task) == "finished"

    act(store, "task retry")
    assert generate(store, task, lambda: None)
    with pytest.raises(Refused, match="is running, so it can't be retried"):
        act(store, "task retry")
    assert phases(store)["ready"] == 1
    assert known(store, task).made == 81


def test_scouts_that_all_fail_exhaust_the_task_before_any_other_package(store: Store) -> None:
    number = submit(store, inputs="{seeds: {range: [1, 100]}}", split="{scouts: 4, attempts: 3}")
    work(store)
    end(store, *["failed"] * 4)
    work(store)

    assert status_of(store, number) == "exhausted"
    assert known(store, number).note == "4 of 4 scouts failed"
    assert known(store, number).made == 4
    act(store, "task retry")
    work(store)
    assert status_of(store, number) == "scouting"


CROSS = "{{raw: {{task: {}}}}}"


def test_two_tasks_that_want_each_other_s_output_are_refused(store: Store) -> None:
    with pytest.raises(NotFound, match="there is no task `b`"):
        submit(store, name="a", inputs=CROSS.format("b"))
    submit(store, name="a")
    submit(store, name="b", inputs=CROSS.format("a"))
    with pytest.raises(Refused, match="job `a` already exists"):
        submit(store, name="a", inputs=CROSS.format("b"))


def test_a_task_does_not_take_the_outputs_of_a_new_task_of_the_same_name(store: Store) -> None:
    submit(store, name="a")
    late = submit(store, name="b", inputs=CROSS.format("a"))
    removal.remove_rows(store, 1, now=NOW)
    submit(store, name="a", inputs=CROSS.format("b"))
    work(store)

    assert status_of(store, late) == "pending"
    assert "the task that makes its files was removed" in why(store, late, NOW).answer
