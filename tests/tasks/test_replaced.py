"""Files that shrink away, or are replaced by others of the same name, while tasks run."""

from pathlib import Path

import pytest

from d0ctl.store import Store
from tests.support.site import Site
from tests.tasks.making import contents, status_of, submit, work
from tests.tasks.test_commands import act, phases
from tests.tasks.test_merge import MERGE, end, end_running, finish, sources, states


def with_files(store: Store, folder: Path, more: str = "", **parts: str) -> int:
    """A task over four files, two for each package, which makes a file named after the first."""
    for name in "abcd":
        (folder / f"{name}.raw").write_text(name)
    task = submit(store, folder, inputs="{raw: {glob: '*.raw'}}", files='["{files}"]',
                  split=parts.get("split", "{files-per-package: 2}"), more=more,
                  run="cat {files} > {files.first.stem}.txt",
                  output="{files.first.stem}.txt")  # fmt: skip
    work(store)
    return task


@pytest.mark.parametrize("merge", ["", MERGE.format(rules="files-per-merge: 2")])
def test_the_package_of_a_replaced_file_is_made_again(
    store: Store, tmp_path: Path, merge: str
) -> None:
    task = with_files(store, tmp_path, merge)
    finish(store)
    assert status_of(store, task) == "done"
    before = phases(store)["done"]

    (tmp_path / "a.raw").write_text("another")
    act(store, "task incexec")
    work(store)
    assert contents(store) == {
        "a.raw": "picked", "b.raw": "picked", "c.raw": "finished", "d.raw": "finished",
    }  # fmt: skip
    finish(store)
    assert status_of(store, task) == "done"
    assert phases(store) == {"done": before}  # no other package was made
    assert [len(names) for names in sources(store)] == ([2] if merge else [])


def test_a_file_that_is_replaced_while_its_output_is_merged_is_merged_again(
    store: Store, tmp_path: Path
) -> None:
    task = with_files(store, tmp_path, MERGE.format(rules="files-per-merge: 2"))
    end(store)
    work(store)
    end(store, "running")  # the package that merges
    (tmp_path / "a.raw").write_text("another")
    act(store, "task incexec")
    work(store)
    assert phases(store) == {"done": 1, "killing": 1, "ready": 1}
    store.connection.execute("update package set phase = 'canceled' where phase = 'killing'")
    finish(store)
    end_running(store)
    finish(store)

    assert status_of(store, task) == "done"
    assert states(store)["output.unmerged"] == {"finished": 2}


@pytest.mark.parametrize("is_before", [True, False])
def test_a_merge_that_succeeds_although_it_was_killed_for_a_replaced_file_is_merged_again(
    store: Store, tmp_path: Path, is_before: bool
) -> None:
    task = with_files(store, tmp_path, MERGE.format(rules="files-per-merge: 2"))
    end(store)
    work(store)
    end(store, "running")  # the package that merges
    (tmp_path / "a.raw").write_text("another")
    act(store, "task incexec")
    work(store)

    def succeed() -> None:
        store.connection.execute("update package set phase = 'done' where phase = 'killing'")
        store.connection.execute("update file set present = 1 where present = 0 and package_id in"
                                 " (select id from package where phase = 'done')")  # fmt: skip
        work(store)

    if is_before:  # the package of the new version
        succeed()
    end(store)
    if not is_before:
        succeed()
    work(store)
    assert phases(store) == {"done": 2, "ready": 1}
    assert states(store)["output.unmerged"] == {"merging": 2}
    assert status_of(store, task) in ("running", "prepared")

    finish(store)
    assert phases(store) == {"done": 3}
    assert status_of(store, task) == "done"


def test_a_file_that_failed_and_is_replaced_goes_into_another_package(
    store: Store, tmp_path: Path
) -> None:
    task = with_files(store, tmp_path, split="{files-per-package: 1, attempts: 1}")
    end(store, "failed")
    work(store)
    assert status_of(store, task) == "finished"
    (tmp_path / "a.raw").write_text("another")
    act(store, "task incexec")
    work(store)
    assert phases(store) == {"done": 3, "dropped": 1, "ready": 1}
    finish(store)
    assert status_of(store, task) == "done"


def test_outputs_of_events_of_a_replaced_file_leave_the_dataset(
    store: Store, tmp_path: Path
) -> None:
    table = tmp_path / "files.csv"
    table.write_text("file,events,checksum\nx:a,20,1\n")
    task = submit(store, tmp_path, inputs="{raw: {csv: files.csv}}",
                  split="{events-per-package: 10}")  # fmt: skip
    work(store)
    finish(store)
    assert contents(store, 1) == {"out-1.txt": "finished", "out-2.txt": "finished"}
    table.write_text("file,events,checksum\nx:a,20,2\n")
    act(store, "task incexec")
    work(store)
    finish(store)
    assert status_of(store, task) == "done"
    assert contents(store, 1) == {"out-3.txt": "finished", "out-4.txt": "finished"}


def test_a_dataset_that_shrinks_loses_only_files_that_no_package_has(
    store: Store, tmp_path: Path
) -> None:
    task = with_files(store, tmp_path, split="{files-per-package: 1, max-packages: 3}")
    end(store, "done", "running", "failed")
    for name in "abcd":
        (tmp_path / f"{name}.raw").unlink()
    (tmp_path / "e.raw").write_text("e")
    act(store, "task incexec")
    work(store)
    assert contents(store)["d.raw"] == "lost"  # no package had it
    assert contents(store)["a.raw"] == "finished"
    assert contents(store)["b.raw"] == "running"
    assert contents(store)["c.raw"] in ("lost", "missing")
    end_running(store)
    finish(store)
    assert status_of(store, task) == "finished"


def test_the_new_version_of_a_replaced_file_is_read(real_site: Site) -> None:
    for name in "ab":
        (real_site.jobs / f"{name}.raw").write_text(f"{name}\n")
    text = """
task: swap
inputs: {raw: {glob: '*.raw'}}
split: {files-per-package: 2}
process:
  run: cat {files} > both.txt
  inputs: ["{files}"]
  outputs: [both.txt]
"""
    real_site.ok("task", "submit", real_site.write(text, "swap.yaml"))
    real_site.drive("swap")
    assert real_site.result("swap/both.txt") == "a\nb\n"

    (real_site.jobs / "a.raw").write_text("another\n")
    real_site.ok("task", "incexec", "swap")
    real_site.drive("swap")
    assert real_site.json("task", "status", "swap")["status"] == "done"
    assert real_site.result("swap/both.txt") == "another\nb\n"
