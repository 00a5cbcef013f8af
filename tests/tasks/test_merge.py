"""The outputs of a task are merged by packages of a second stage."""

from pathlib import Path
from typing import Any

import pytest

from d0ctl.errors import BadJobFile, Refused
from d0ctl.show.tasks import task_card, task_why
from d0ctl.store import Store
from d0ctl.store.files.copies import remake
from d0ctl.store.tasks import content_follower, views
from tests.support.jobs import NOW
from tests.tasks import test_commands
from tests.tasks.making import read, status_of, submit, work
from tests.tasks.test_commands import act, known, phases
from tests.tasks.test_once import select

MERGE = """
merge:
  {rules}
  run: cat {{files}} > {{package.dataset}}-{{package.index}}.txt
  inputs: ["{{files}}"]
  outputs: ["{{package.dataset}}-{{package.index}}.txt"]
"""


def merging(store: Store, rules: str = "files-per-merge: 2", **parts: str) -> int:
    """A task of six numbers whose six outputs are merged, and the packages that it makes first."""
    more = MERGE.format(rules=rules) + parts.pop("more", "")
    given: dict[str, Any] = {"inputs": "{seeds: {range: [1, 6]}}", **parts}
    task = submit(store, more=more, **given)
    work(store)
    return task


def end(store: Store, *outcomes: str, lost: str = "") -> None:
    """Let ready packages end, the first ones as named, the others successfully, with their files;
    one of them is lost.
    """
    test_commands.end(store, *outcomes)
    store.connection.execute(
        "update file set present = 1 where present = 0 and name <> ?"
        " and package_id in (select id from package where phase = 'done')", [lost]
    )  # fmt: skip
    with store.writing():
        remake(store, now=NOW)  # packages whose files are there are ready


def end_running(store: Store) -> None:
    """Let running packages end successfully."""
    ask = store.connection.execute
    for (package,) in ask("select id from package where phase = 'running'").fetchall():
        ask("update package set phase = 'done' where id = ?", [package])
        ask("update file set present = 1 where package_id = ?", [package])


def finish(store: Store, most: int = 20) -> None:
    """Let packages end successfully, and agents work, until nothing is left."""
    for _ in range(most):
        end(store)
        work(store)


def states(store: Store) -> dict[str, dict[str, int]]:
    """How many files of each dataset have each status."""
    found: dict[str, dict[str, int]] = {}
    for name, status, number in store.connection.execute(
        "select name, dataset_count.status, n from dataset"
        " join dataset_count on dataset_id = dataset.id where n > 0"
    ):
        found.setdefault(name, {})[status] = number
    return found


def sources(store: Store) -> list[tuple[str, ...]]:
    """The names of the files that each package which has merged read."""
    found: dict[int, list[str]] = {}
    for package, name in store.connection.execute(
        "select package.id, file.name from package join input on input.package_id = package.id"
        " join file on file.id = input.file_id join stage on stage.id = package.stage_id"
        " where stage.name = 'merge' and package.phase = 'done' order by 1, file.id"
    ):
        found.setdefault(package, []).append(name)
    return [tuple(names) for names in found.values()]


def test_outputs_are_merged_as_soon_as_a_group_is_full(store: Store) -> None:
    task = merging(store)
    end(store, "done", "running", "running", "done", "running", "running")
    work(store)
    assert status_of(store, task) == "running"
    assert states(store)["output.unmerged"] == {"running": 4, "merging": 2}
    assert states(store)["output"] == {"defined": 1}

    end_running(store)
    finish(store)
    assert status_of(store, task) == "done"
    assert states(store) == {
        "seeds": {"finished": 6}, "output.unmerged": {"finished": 6}, "output": {"finished": 3},
    }  # fmt: skip
    assert sorted(name for names in sources(store) for name in names) == [
        f"out-{number}.txt" for number in range(1, 7)
    ]


def test_a_group_that_is_not_full_waits_for_the_end_of_the_others(store: Store) -> None:
    task = merging(store, "files-per-merge: 4")
    end(store, *["done"] * 3, *["running"] * 3)
    work(store)
    assert states(store)["output.unmerged"] == {"prepared": 3, "running": 3}

    end_running(store)
    work(store)
    assert status_of(store, task) == "prepared"
    said = "6 files of dataset `output.unmerged` are being merged"
    assert said in task_why.why(store, task, NOW).facts
    assert phases(store) == {"done": 6, "ready": 2}
    finish(store)
    assert [len(names) for names in sources(store)] == [4, 2]
    assert status_of(store, task) == "done"


def test_merging_at_the_end_begins_when_all_is_processed(store: Store) -> None:
    merging(store, "files-per-merge: 2\n  at-end: yes")
    end(store, *["done"] * 5, "running")
    work(store)
    assert states(store)["output.unmerged"] == {"prepared": 5, "running": 1}


def test_a_merge_that_fails_is_tried_in_smaller_groups_and_then_costs_its_files(
    store: Store,
) -> None:
    task = merging(store, split="{attempts: 2}", more="goal: 90%")
    end(store)
    work(store)
    end(store, "failed")  # the first of three merges
    work(store)
    assert phases(store) == {"done": 8, "dropped": 1, "ready": 2}
    end(store, "failed")
    work(store)

    assert status_of(store, task) == "exhausted"
    said = "6 of 6 files were processed, outputs of 1 were not merged, less than the goal of 90 %"
    assert known(store, task).note == said
    assert states(store)["output.unmerged"] == {"finished": 5, "failed": 1}

    said = "1 file not merged, 0 B: d0ctl file list 'demo:*'"
    assert task_card.remaining("demo", views.remains(store, task)) == said

    act(store, "task retry")
    work(store)
    assert states(store)["output.unmerged"] == {"finished": 5, "merging": 1}
    finish(store)
    assert status_of(store, task) == "done"
    assert len({name for names in sources(store) for name in names}) == 6


def test_a_task_that_is_finished_softly_merges_what_there_is(store: Store) -> None:
    task = merging(store, "files-per-merge: 100", inputs="{seeds: {range: [1, 200]}}")
    act(store, "task finish")
    finish(store)
    assert status_of(store, task) == "finished"
    assert [len(names) for names in sources(store)] == [50]


def test_a_killed_task_merges_after_a_retry(store: Store) -> None:
    task = merging(store)
    end(store, *["done"] * 4, *["running"] * 2)
    work(store)
    act(store, "task kill")
    ask = store.connection.execute
    for (package,) in ask("select id from package where phase = 'killing'").fetchall():
        ask("update package set phase = 'canceled' where id = ?", [package])
    work(store)
    assert status_of(store, task) == "aborted"
    assert states(store)["output.unmerged"] == {"prepared": 4}

    act(store, "task retry")
    work(store)
    finish(store)
    assert status_of(store, task) == "done"
    assert states(store)["output.unmerged"] == {"finished": 6}


def test_an_incexec_merges_what_is_new(store: Store, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.raw").write_text(name)
    task = submit(store, tmp_path, inputs="{raw: {glob: '*.raw'}}", files='["{files}"]',
                  more=MERGE.format(rules="files-per-merge: 2"))  # fmt: skip
    work(store)
    finish(store)
    (tmp_path / "d.raw").write_text("d")
    act(store, "task incexec")
    work(store)
    finish(store)

    assert status_of(store, task) == "done"
    assert [len(names) for names in sources(store)] == [2, 1, 1]


def test_outputs_of_ranges_of_events_are_merged(store: Store, tmp_path: Path) -> None:
    (tmp_path / "files.csv").write_text("file,events\nx:a,20\n")
    task = submit(store, tmp_path, inputs="{raw: {csv: files.csv}}",
                  split="{events-per-package: 10}",
                  more=MERGE.format(rules="files-per-merge: 2"))  # fmt: skip
    work(store)
    finish(store)
    assert status_of(store, task) == "done"
    found = store.connection.execute("select status from event_range").fetchall()
    assert [row[0] for row in found] == ["merged", "merged"]


def test_a_paused_task_does_not_merge(store: Store) -> None:
    task = merging(store, "files-per-merge: 10")
    end(store)
    while content_follower.follow(store, now=NOW):
        pass
    act(store, "task pause")
    work(store)
    assert (status_of(store, task), phases(store)) == ("paused", {"done": 6})
    act(store, "task resume")
    work(store)
    act(store, "task pause")  # while it is prepared
    assert status_of(store, task) == "paused"
    act(store, "task resume")
    assert status_of(store, task) == "prepared"
    finish(store)
    assert status_of(store, task) == "done"


def test_a_lost_file_is_made_again_before_it_is_merged(store: Store) -> None:
    task = merging(store, "files-per-merge: 6")
    end(store, lost="out-2.txt")
    work(store)
    assert phases(store) == {"done": 5, "ready": 1, "waiting": 1}
    assert states(store)["output.unmerged"] == {"merging": 5, "defined": 1}

    end(store)
    finish(store)
    assert status_of(store, task) == "done"
    assert [len(names) for names in sources(store)] == [6]


def test_a_merge_that_waits_for_a_file_that_fails_lets_the_others_go(store: Store) -> None:
    task = merging(store, "files-per-merge: 6", split="{attempts: 1}")
    end(store, lost="out-2.txt")
    work(store)
    end(store, "failed")
    work(store)
    assert states(store)["output.unmerged"] == {"merging": 5, "failed": 1}
    finish(store)
    assert status_of(store, task) == "finished"
    assert [len(names) for names in sources(store)] == [3, 2]


def test_a_dropped_merge_takes_its_files_along_until_a_retry(store: Store) -> None:
    task = merging(store)
    end(store)
    work(store)
    select(store, "kill-line", "demo/2/1", drop_outputs=True)
    finish(store)
    assert status_of(store, task) == "finished"
    assert states(store)["output.unmerged"] == {"failed": 2, "finished": 4}

    act(store, "task retry")
    work(store)
    with pytest.raises(Refused, match="have gone into other packages"):
        select(store, "restore-line", "demo/2/1")
    finish(store)
    assert status_of(store, task) == "done"


@pytest.mark.parametrize(
    "merge, said",
    [
        ("{run: x, inputs: ['{files}']}", "`merge` needs `files-per-merge` or"),
        ("{run: x, files-per-merge: 2}", "`merge` reads no files"),
        ("{run: x, files-per-merge: 0, inputs: ['{files}']}", "`files-per-merge` takes"),
        ("{run: x, files-per-merge: 2, inputs: ['{files}'], datasets: [hist]}",
         "there is no output dataset `hist`"),
        ("{run: x, files-per-merge: 2, inputs: ['{files}'], color: red}", "has no key `color`"),
    ],
)  # fmt: skip
def test_a_wrong_merge_is_refused(merge: str, said: str) -> None:
    with pytest.raises(BadJobFile) as caught:
        read(more=f"merge: {merge}")
    assert said in "\n".join(map(str, caught.value.faults))


def test_codes_say_how_many_files_are_merged() -> None:
    merge = MERGE.format(rules="at-end: yes")
    rules: Any = read(split="{codes: 'ZF=7,ZG=2,ZM=9'}", more=merge).rules
    found = (rules.files_per_merge, rules.bytes_per_merge, rules.max_files_per_merge)
    assert found == (7, 2_000_000_000, 9)
