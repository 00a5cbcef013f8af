"""Tasks that process what other tasks make, or wait for one to end."""

from collections.abc import Callable

from d0ctl.store.connection import Row, Store
from d0ctl.store.tasks.feeding import CHUNK
from d0ctl.store.tasks.state import Dataset, Task, size_of


def maker(store: Store, dataset: Dataset) -> Row | None:
    """Return the name and the status of the task that makes the files of a dataset; None if it was
    removed.
    """
    return store.row("task_of_dataset", dataset=dataset.source_id)


def feed(store: Store, dataset: Dataset, check: Callable[[], bool]) -> tuple[int, int]:
    """Take the files that another task has made, by short transactions.

    Return how many files are new, and how many have gone. It stops if `check`, asked in each
    transaction, is false. After an interruption the next call takes the rest.
    """
    number, source = dataset.id, dataset.source_id
    job = maker(store, dataset)
    span = store.row("numbers_of_made_files", dataset=source)
    assert job is not None
    assert span is not None
    before = size_of(store, number)
    for after in range((span["first"] or 1) - 1, span["last"] or 0, CHUNK):
        with store.writing():
            if not check():
                return 0, 0
            store.change("take_made_files", dataset=number, job=job["name"], after=after,
                         upto=after + CHUNK)  # fmt: skip
    with store.writing():
        lost = store.change("lose_unmade_files", dataset=number, job=job["name"])
    return size_of(store, number) - before, lost


def makers(store: Store, task: Task) -> list[str]:
    """Return the tasks that still make files which a task takes as they are made."""
    return [row["name"] for row in store.rows("open_sources", task=task.id)]


def wake(store: Store, task: Task) -> None:
    """Let tasks that wait for one look at it, in a transaction."""
    store.change("wake_child_datasets", task=task.id)
    store.change("wake_child_tasks", task=task.id)
