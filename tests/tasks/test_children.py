"""Tasks that process what other tasks make."""

from pathlib import Path
from typing import Any

import pytest

from d0ctl.errors import BadJobFile, NotFound
from d0ctl.show.tasks.task_why import why
from d0ctl.store import Store
from d0ctl.store.tasks import state
from d0ctl.taskfile import reader
from tests.support.jobs import NOW
from tests.support.site import Site
from tests.tasks.making import read, status_of, submit, text, work
from tests.tasks.test_commands import act
from tests.tasks.test_whole import submit as submit_file

FROM_RECO = "{raw: {task: reco, match: 'out-*.txt'}}"
EARLY = "{raw: {task: reco, early-start: yes}}"
FILES = '["{files}"]'


def reco(store: Store, **parts: Any) -> int:
    """A task that makes four files of four numbers."""
    return submit(store, name="reco", inputs="{seeds: {range: [1, 4]}}", **parts)


def child(store: Store, inputs: str, **parts: Any) -> int:
    """A task that processes the files of `reco`, two by two."""
    return submit(store, name="merge", inputs=inputs, split="{files-per-package: 2}", files=FILES,
                  run="cat {files} > all-{package.index}.txt", output="all-{package.index}.txt",
                  **parts)  # fmt: skip


def files(store: Store, task: int) -> dict[str, str]:
    """The input files of a task."""
    rows = store.connection.execute(
        "select content.name, content.status from content join dataset"
        " on dataset.id = content.dataset_id where task_id = ? and content.output = 0"
        " order by content.seq", [task])  # fmt: skip
    return dict(tuple(row) for row in rows)


def end(store: Store, most: int = 99) -> None:
    """Let packages be successful, at most so many, as if their inputs were there."""
    ask = store.connection.execute
    for (package,) in ask("select id from package where phase <> 'done' order by id limit ?",
                          [most]).fetchall():  # fmt: skip
        for phase in ("ready", "assigned", "starting", "running", "done"):
            ask("update package set phase = ? where id = ?", [phase, package])


def test_a_child_is_pending_until_the_other_task_has_ended(store: Store) -> None:
    reco(store)
    task = child(store, FROM_RECO)
    work(store)
    assert status_of(store, task) == "pending"
    assert "dataset `raw`: task `reco` has not ended" in why(store, task, NOW).answer

    end(store)
    work(store)
    assert files(store, task) == {f"reco:out-{n}.txt": "picked" for n in range(1, 5)}
    end(store)
    work(store)
    assert status_of(store, task) == "done"


def test_an_early_child_takes_files_as_they_are_made(store: Store) -> None:
    reco(store)
    task = child(store, EARLY)
    work(store)
    assert (status_of(store, task), files(store, task)) == ("ready", {})

    end(store, 1)
    work(store)
    assert files(store, task) == {"reco:out-1.txt": "ready"}, "its package waits for a second file"

    end(store, 1)
    work(store)
    assert set(files(store, task).values()) == {"picked"}
    assert "it gets more files from task `reco`" in str(why(store, task, NOW).facts)

    end(store)
    work(store)
    end(store)
    work(store)
    assert set(files(store, task).values()) == {"finished"}
    assert status_of(store, task) == "done"


def test_a_file_that_was_replaced_is_processed_again_by_incexec(store: Store) -> None:
    reco(store)
    task = child(store, FROM_RECO)
    for _ in range(3):
        work(store)
        end(store)
    work(store)
    assert status_of(store, task) == "done"
    ask = store.connection.execute
    ask(
        "update content set checksum = 'other' where output = 1 and name = 'out-2.txt'"
        " and seq = (select min(seq) from content where output = 1 and name = 'out-2.txt')"
    )
    ask("delete from content where output = 1 and name = 'out-4.txt'")

    act(store, "task incexec", "merge")
    work(store)
    assert files(store, task) == {
        "reco:out-1.txt": "picked",  # the package of two files is made again
        "reco:out-2.txt": "picked",
        "reco:out-3.txt": "finished",
        "reco:out-4.txt": "finished",
    }


def test_a_task_with_a_parent_waits_until_that_is_done(store: Store) -> None:
    reco(store)
    task = submit(store, name="next", more="parent: reco")
    work(store)
    assert status_of(store, task) == "pending"
    assert why(store, task, NOW).answer == "task `next` is pending: task `reco` has not ended"

    end(store)
    work(store)
    assert status_of(store, task) == "running"


def test_a_task_or_a_dataset_that_is_not_there_is_refused_at_the_submission(store: Store) -> None:
    with pytest.raises(NotFound, match="there is no task `reco`"):
        child(store, FROM_RECO)
    with pytest.raises(NotFound, match="there is no task `mc`"):
        submit(store, more="parent: mc")
    reco(store)
    with pytest.raises(NotFound, match="task `reco` has no output dataset `hists`"):
        child(store, "{raw: {task: reco, dataset: hists}}")
    assert not state.counts(store, 2)


def test_late_outputs_are_not_merged() -> None:
    merge = 'merge: {files-per-merge: 2, run: x, inputs: ["{files}"], outputs: [all]}'
    late = text(more=merge).replace(
        '["out-{package.index}.txt"]', '[{file: "out-*.txt", late: yes}]'
    )
    with pytest.raises(BadJobFile, match="late outputs can't be merged"):
        reader.read_text(late, "task.yaml", Path("/"))


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"inputs": "{raw: {task: reco, early-start: soon}}"}, "`early-start` takes"),
        ({"inputs": "{raw: {glob: x, early-start: yes}}"}, "`early-start` is for files of a"),
    ],
)
def test_keys_without_effect_are_refused(parts: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadJobFile) as caught:
        read(Path("/"), **parts)

    assert fault in str(caught.value.faults)


def test_packages_of_a_child_read_what_the_other_task_made(real_site: Site) -> None:
    submit_file(real_site, "reco", inputs="{seeds: {range: [1, 4]}}")
    submit_file(real_site, "merge", inputs="{raw: {task: reco}}", split="{files-per-package: 4}",
                files=FILES, run="cat {files} > all.txt", output="all.txt")  # fmt: skip
    real_site.drive("reco")
    real_site.drive("merge")

    assert real_site.json("task", "status", "merge")["status"] == "done"
    assert real_site.result("merge/all.txt") == "1\n2\n3\n4\n"
