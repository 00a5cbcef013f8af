"""Many files of which some are broken."""

from d0ctl.store import Store
from tests.tasks.making import status_of, submit, work
from tests.tasks.test_commands import act, known, phases

ENDED = """
update package
   set phase = iif(exists (select 1 from content
                            where content.package_id = package.id and output = 0
                              and content.seq % 10 = 0), 'failed', 'done')
 where phase = 'running'
"""
"""Running packages fail if they have a broken file, which is every tenth."""


def end(store: Store) -> None:
    """Let all ready packages end."""
    ask = store.connection.execute
    for old, new in (("ready", "assigned"), ("assigned", "starting"), ("starting", "running")):
        ask("update package set phase = ? where phase = ?", [new, old])
    ask(ENDED)


def test_a_task_ends_with_only_the_broken_tenth_of_its_files_failed(store: Store) -> None:
    task = submit(store, inputs="{seeds: {range: [1, 1000]}}", more="goal: 90%",
                  split="{files-per-package: 20, at-once: yes, attempts: 5}")  # fmt: skip
    for _ in range(5):  # packages of 20, 10, 5, 2 and 1 files
        work(store)
        end(store)
    work(store)

    assert status_of(store, task) == "finished"
    assert known(store, task).note == "900 of 1,000 files were processed"
    failed = store.connection.execute(
        "select count(*), sum(seq % 10 = 0) from content where status = 'failed' and output = 0"
    ).fetchone()
    assert tuple(failed) == (100, 100)


def test_a_retry_of_the_failed_tenth_touches_only_that(store: Store) -> None:
    submit(store, inputs="{seeds: {range: [1, 1000]}}",
           split="{at-once: yes, attempts: 1}")  # fmt: skip
    work(store)
    end(store)
    work(store)
    assert act(store, "task retry") == ["retrying task `demo`: 100 files again"]
    work(store)
    assert phases(store) == {"done": 900, "dropped": 100, "ready": 100}
