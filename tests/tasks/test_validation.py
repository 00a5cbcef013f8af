"""Before a task ends, each input file must be once in its outputs."""

import pytest

from d0ctl.show.tasks import task_why
from d0ctl.store import Store
from d0ctl.store.tasks import content_follower, views
from tests.support.jobs import NOW
from tests.tasks.making import contents, status_of, submit, work
from tests.tasks.test_commands import act, known
from tests.tasks.test_merge import MERGE, end, finish
from tests.tasks.test_walks import rows


def ready_to_end(store: Store, merge: str = "", **parts: str) -> int:
    """A task of four numbers whose packages have ended, before the agents have seen that."""
    task = submit(store, inputs="{seeds: {range: [1, 4]}}", split="{files-per-package: 2}",
                  more=merge, **parts)  # type: ignore[arg-type]  # fmt: skip
    work(store)
    end(store)
    return task


FAULTS = [
    ("update content set package_id = null where output = 0 and seq = 3",
     "file `3` counts as processed, but no package has processed it"),
    ("update content set checksum = 'sha256:other' where output = 1 and name = 'out-2.txt'",
     "output `out-2.txt` is another than its package has reported"),
    ("update content set size = 7 where output = 1 and name = 'out-1.txt'",
     "output `out-1.txt` is another than its package has reported"),
    ("update content set package_id = (select max(id) from package), attempts = 2"
     " where output = 0 and seq = 1",
     "package `demo/1/1/1` has processed files that others have processed, too, and its outputs"
     " can't be left out"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "said"), FAULTS)
def test_a_fault_of_the_outputs_stops_the_task_with_the_reason(
    store: Store, damage: str, said: str
) -> None:
    task = ready_to_end(store)
    ask = store.connection.execute
    ask("update file set size = 5, checksum = 'sha256:right' where package_id is not null")
    while content_follower.follow(store, now=NOW):
        pass
    ask(damage)
    work(store)

    assert status_of(store, task) == "exhausted"
    assert known(store, task).note == said
    assert said in task_why.why(store, task, NOW).answer


def test_a_task_whose_fault_is_gone_ends(store: Store) -> None:
    task = ready_to_end(store)
    ask = store.connection.execute
    while content_follower.follow(store, now=NOW):
        pass
    maker = ask("select package_id from content where output = 0 and seq = 3").fetchone()[0]
    ask("update content set package_id = null where output = 0 and seq = 3")
    work(store)
    assert status_of(store, task) == "exhausted"

    ask("update content set package_id = ? where output = 0 and seq = 3", [maker])
    act(store, "task finish")
    work(store)
    assert status_of(store, task) == "done"


def test_outputs_that_were_made_again_are_compared_with_the_last_report(store: Store) -> None:
    task = ready_to_end(store)
    ask = store.connection.execute
    ask("update file set size = 4, checksum = 'sha256:first' where package_id is not null")
    while content_follower.follow(store, now=NOW):
        pass
    for phase in ("ready", "assigned", "starting", "running", "done"):
        ask("update package set phase = ? where id = 1", [phase])
    ask("update file set size = 5, checksum = 'sha256:right' where package_id = 1")
    work(store)

    assert status_of(store, task) == "done"
    assert rows(store, "select size, checksum from content where name = 'out-1.txt'") == [
        (5, "sha256:right")]  # fmt: skip


def test_outputs_of_files_that_others_have_processed_are_left_out(store: Store) -> None:
    task = ready_to_end(store)
    ask = store.connection.execute
    while content_follower.follow(store, now=NOW):
        pass
    ask("update content set package_id = (select max(id) from package), attempts = 2"
        " where output = 0 and seq < 3")  # fmt: skip
    work(store)

    assert status_of(store, task) == "done"
    assert contents(store, 1) == {"out-2.txt": "finished"}
    said = "left out 1 output of package `demo/1/1/1`: others have processed its files, too"
    assert said in [row.note for row in views.log(store, task)]


MERGES = [
    ("delete from content where name = 'out-1.txt'",
     "package `demo/2/1/1` has merged other files than those that count as merged"),
    ("delete from content where name = 'output-1.txt'",
     "output `out-1.txt` counts as merged, but no package has merged it"),
    ("update content set merge_id = null where name = 'out-2.txt'",
     "output `out-2.txt` counts as merged, but no package has merged it"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "said"), MERGES)
def test_a_fault_of_a_merge_stops_the_task_with_the_reason(
    store: Store, damage: str, said: str
) -> None:
    task = ready_to_end(store, MERGE.format(rules="files-per-merge: 2"))
    work(store)
    end(store)  # the package that merges
    while content_follower.follow(store, now=NOW):
        pass
    store.connection.execute(damage)
    finish(store)

    assert status_of(store, task) == "exhausted"
    assert known(store, task).note == said
