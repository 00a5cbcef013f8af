"""Each file is processed once: what users do to packages never gives one file to two."""

import pytest

from d0ctl import actions
from d0ctl.errors import D0Error, Refused
from d0ctl.select import parse
from d0ctl.store import Store
from tests.support.jobs import NOW
from tests.tasks.making import contents, submit, work
from tests.tasks.test_commands import act, end, phases


def select(store: Store, name: str, selector: str, **options: object) -> None:
    """Carry an action on packages out."""
    request = actions.request(name, parse(selector), **options)
    actions.apply(store, request, actor="emmy", note=None, now=NOW)


def test_a_dropped_line_is_not_restored_once_its_files_are_in_other_packages(
    store: Store,
) -> None:
    submit(store, inputs="{seeds: {range: [1, 4]}}", split="{files-per-package: 2}")
    work(store)
    select(store, "kill-line", "demo/1/1", drop_outputs=True)
    work(store)
    assert contents(store) == {"1": "failed", "2": "failed", "3": "picked", "4": "picked"}
    end(store)
    work(store)
    act(store, "task retry")
    work(store)

    said = "the files of package `demo/1/1/1` have gone into other packages of its task"
    with pytest.raises(Refused, match=said):
        select(store, "restore-line", "demo/1/1")
    end(store)
    work(store)
    assert phases(store) == {"done": 3, "dropped": 1}


def test_a_failed_package_is_dropped_when_its_task_is_retried(store: Store) -> None:
    submit(store, inputs="{seeds: {range: [1, 4]}}", split="{files-per-package: 2, attempts: 1}")
    work(store)
    end(store, "failed")
    work(store)
    act(store, "task retry")

    with pytest.raises(D0Error):
        select(store, "retry", "demo")
    work(store)
    assert phases(store) == {"done": 1, "dropped": 1, "ready": 2}


def test_files_of_a_package_that_was_just_retried_stay_with_it(store: Store) -> None:
    submit(store, inputs="{seeds: {range: [1, 4]}}", split="{files-per-package: 2, attempts: 1}")
    work(store)
    end(store, "failed")
    work(store)
    select(store, "retry", "demo")  # the agents have not seen it yet
    act(store, "task retry")
    work(store)

    assert phases(store) == {"done": 1, "ready": 1}
