"""Files that are split into ranges of events."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings

from d0ctl.store import Store, open_store
from d0ctl.store.checks import check
from d0ctl.store.tasks import content_follower, feeding, state, views
from tests.support.examples import examples
from tests.support.homes import make_home
from tests.support.jobs import NOW
from tests.support.site import Site
from tests.tasks.making import contents, read, status_of, submit, work
from tests.tasks.test_walks import PROCESSED_AGAIN_IN_VAIN, STEPS, rows, walk

FILES = "file,size,events\na.raw,10,25\nb.raw,10,5\nc.raw,10,4\n"


def split_task(store: Store, folder: Path, files: str = FILES, more: str = "") -> int:
    """A task over files with known events, ten of them for each package."""
    (folder / "files.csv").write_text(files)
    return submit(store, folder, inputs="{raw: {csv: files.csv}}",
                  split=f"{{events-per-package: 10{more}}}",
                  run="echo {package.first} {package.last} > out-{package.index}.txt")  # fmt: skip


def ranges(store: Store) -> list[tuple[object, ...]]:
    """First and last event, status and attempts of each range."""
    return rows(store, "select first, last, status, attempts from event_range"
                       " order by content_id, first")  # fmt: skip


def give(store: Store, index: int, *phases: str) -> None:
    """Let a package of a task go through phases, in which no table refuses it."""
    for phase in phases:
        with store.writing():
            store.connection.execute(
                "update package set phase = ?, changed = ? where line_id ="
                " (select id from line where seq = ?)", [phase, NOW, index])  # fmt: skip
        while content_follower.follow(store, now=NOW):
            pass


OF_TASKS = {"dataset_counts", "dataset_files", "event_ranges", "split_files"}
"""What `doctor` checks of the files of tasks."""

RUN = ("assigned", "starting", "running")
DONE = (*RUN, "transferring", "done")


def test_a_file_is_split_and_small_ones_share_a_package(store: Store, tmp_path: Path) -> None:
    task = split_task(store, tmp_path)
    work(store)

    assert ranges(store) == [(1, 10, "sent", 1), (11, 20, "sent", 1), (21, 25, "sent", 1)]
    assert contents(store) == dict.fromkeys(("a.raw", "b.raw", "c.raw"), "picked")
    assert rows(store, "select count(*) from line") == [(4,)]
    assert [row.note for row in views.log(store, task)][1] == (
        "dataset `raw`: 3 new files, split into 3 ranges of events"
    )


def test_ranges_follow_their_package_and_a_file_its_ranges(store: Store, tmp_path: Path) -> None:
    split_task(store, tmp_path, "file,events\na.raw,20\n")
    work(store)

    give(store, 1, *RUN)
    assert [row[2] for row in ranges(store)] == ["running", "sent"]
    assert {fault.check for fault in check.rule_faults(store)} & OF_TASKS == set()
    give(store, 1, "transferring")
    assert [row[2] for row in ranges(store)] == ["finished", "sent"]
    give(store, 1, "done")
    assert [row[2] for row in ranges(store)] == ["done", "sent"]
    assert contents(store) == {"a.raw": "running"}
    give(store, 2, *DONE)
    assert [row[2] for row in ranges(store)] == ["done", "done"]
    assert contents(store) == {"a.raw": "finished"}


def test_only_the_range_that_failed_is_made_again_and_then_the_file_is_partial(
    store: Store, tmp_path: Path
) -> None:
    task = split_task(store, tmp_path, "file,events\na.raw,20\n", ", attempts: 2")
    work(store)
    give(store, 1, *DONE)
    give(store, 2, *RUN, "failed")
    assert contents(store) == {"a.raw": "ready"}
    work(store)

    assert ranges(store) == [(1, 10, "done", 1), (11, 20, "sent", 2)]
    assert rows(store, "select line.seq, package.phase from line join package"
                       " on package.line_id = line.id order by 1") == [
        (1, "done"), (2, "dropped"), (3, "ready")]  # fmt: skip

    give(store, 3, *RUN, "failed")
    assert ranges(store) == [(1, 10, "done", 1), (11, 20, "fatal", 2)]
    assert contents(store) == {"a.raw": "partial"}
    work(store)
    assert status_of(store, task) == "finished"


def test_a_retry_of_the_task_makes_only_fatal_ranges_ready(store: Store, tmp_path: Path) -> None:
    task = split_task(store, tmp_path, "file,events\na.raw,20\nb.raw,1\n", ", attempts: 1")
    work(store)
    give(store, 1, *DONE)
    give(store, 2, *RUN, "failed")
    give(store, 3, *DONE)
    work(store)
    assert status_of(store, task) == "finished"

    with store.writing():
        feeding.try_again(store, task, now=NOW)
        known = state.task(store, task)
        assert known is not None
        state.move(store, known, "ready", now=NOW)
    work(store)
    assert ranges(store) == [(1, 10, "done", 1), (11, 20, "sent", 1)]
    assert rows(store, "select count(*) from package where phase = 'dropped'") == [(1,)]
    give(store, 4, *DONE)
    work(store)
    assert status_of(store, task) == "done"


def test_a_killed_package_cancels_its_range_and_another_one_is_made(
    store: Store, tmp_path: Path
) -> None:
    split_task(store, tmp_path, "file,events\na.raw,20\n", ", attempts: 1")
    work(store)

    give(store, 1, "canceled")
    assert ranges(store)[0] == (1, 10, "fatal", 1)
    assert contents(store) == {"a.raw": "picked"}
    give(store, 2, *DONE)
    assert contents(store) == {"a.raw": "partial"}


def test_a_package_that_is_made_again_makes_its_range_corrupted_and_sends_it_again(
    store: Store, tmp_path: Path
) -> None:
    split_task(store, tmp_path, "file,events\na.raw,20\n")
    work(store)
    give(store, 1, *DONE)
    give(store, 2, *DONE)
    assert contents(store) == {"a.raw": "finished"}

    give(store, 2, "waiting")
    assert [row[2] for row in ranges(store)] == ["done", "sent"]
    assert contents(store) == {"a.raw": "running"}


def test_events_are_split_as_nodes_need_them(store: Store, tmp_path: Path) -> None:
    split_task(store, tmp_path, "file,events\na.raw,1000000\n")
    work(store)

    assert rows(store, "select count(*), max(last) from event_range") == [(50, 500)]
    assert rows(store, "select next_event from content where output = 0") == [(501,)]


def test_a_file_that_is_replaced_forgets_its_ranges(store: Store, tmp_path: Path) -> None:
    task = split_task(store, tmp_path, "file,events\na.raw,20\n")
    work(store)
    give(store, 1, *DONE)
    give(store, 2, *DONE)
    (tmp_path / "files.csv").write_text("file,events\na.raw,31\n")
    work(store)
    with store.writing():
        known = state.task(store, task)
        assert known is not None
        state.move(store, known, "defined", now=NOW)
        feeding.look_again(store, task, now=NOW)
    work(store)

    assert [row[:2] for row in ranges(store)] == [(1, 10), (11, 20), (21, 30), (31, 31)]
    counted = "select status, n from event_range_count where n > 0 and content_id = 0"
    assert rows(store, counted) == [("sent", 4)]


def test_more_packages_than_a_job_may_have_break_the_task(store: Store, tmp_path: Path) -> None:
    task = split_task(store, tmp_path, "file,events\na.raw,999999999999\n")
    work(store)

    assert status_of(store, task) == "broken"
    assert "its events make 100,000,000,000 packages" in str(state.task(store, task))


@pytest.mark.parametrize("split", ["{events-per-package: 1}", "{codes: NE=1}"])
def test_one_package_per_event_is_warned_of(split: str) -> None:
    warnings = read(split=split).warnings

    assert len(warnings) == 1
    assert "`events-per-package: 1` makes a package of each event" in warnings[0]


CONSERVED = """
select content.id from content
 where output = 0 and next_event is not null
   and (select coalesce(sum(last - first + 1), 0) from event_range
         where content_id = content.id) <> min(next_event, events + 1) - 1
"""
"""Files of which an event is in no range, or in two."""

COUNTED = """
select content_id, status, n from event_range_count where n > 0 and content_id > 0 order by 1, 2
"""

ACTUAL = "select content_id, status, count(*) from event_range group by 1, 2 order by 1, 2"

LOOSE = """
select event_range.first from event_range left join package on package.id = package_id
 where event_range.status in ('sent', 'running', 'finished')
   and (package.id is null or package.phase in ('done', 'failed', 'canceled', 'dropped'))
"""
"""Ranges in a package that has ended."""

UNMADE = """
select event_range.first from event_range join package on package.id = package_id
 where event_range.status in ('done', 'merged') and package.phase <> 'done'
"""
"""Ranges that count as processed, although their package was not successful."""

ODD = """
select content.id, content.status, (select group_concat(status || n) from event_range_count
                                     where content_id = content.id and n > 0)
  from content
 where output = 0 and next_event is not null
   and (status in ('picked', 'running'))
       <> exists (select 1 from event_range
                   where content_id = content.id
                     and event_range.status in ('sent', 'running', 'finished'))
"""
"""Files whose status does not fit their ranges."""


@settings(max_examples=examples(30))
@example(steps=PROCESSED_AGAIN_IN_VAIN)
@given(steps=STEPS)
def test_events_are_conserved_whatever_packages_do(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("walk")
    with open_store(make_home(folder / "home")) as store:
        split_task(store, folder, more=", attempts: 2")
        walk(store, steps)
        while content_follower.follow(store, now=NOW):
            pass
        assert rows(store, CONSERVED) == []
        assert rows(store, COUNTED) == rows(store, ACTUAL)
        assert rows(store, LOOSE) == []
        assert rows(store, UNMADE) == []
        assert rows(store, ODD) == []


def test_a_task_over_events_is_done_with_real_packages(real_site: Site) -> None:
    for name in ("a", "b"):
        (real_site.jobs / f"{name}.raw").write_text("\n".join(map(str, range(1, 26))) + "\n")
    real_site.write("file,events\na.raw,25\nb.raw,25\n", "files.csv")
    real_site.ok("task", "submit", real_site.write("""
task: split
split: {events-per-package: 10}
inputs: {raw: {csv: files.csv}}
process:
  run: sed -n {package.first},{package.last}p {files} > {files.first.stem}-{package.first}.txt
  inputs: ["{files}"]
  outputs: ["{files.first.stem}-{package.first}.txt"]
""", "split.yaml"))  # fmt: skip
    real_site.drive("split")

    card = real_site.json("task", "status", "split")
    assert card["status"] == "done"
    assert card["datasets"][0]["files"] == {"finished": 2}
    assert card["datasets"][0]["ranges"] == {"done": 6}
    assert real_site.result("split/b-21.txt") == "21\n22\n23\n24\n25\n"
    why = str(real_site.ok("task", "why", "split", "a.raw"))
    assert "file `a.raw` of dataset `raw` is finished: it was processed" in why
    assert "ranges of its events: 3 done" in why
