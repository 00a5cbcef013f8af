"""Outputs are d0ctl's own files, on the disk of the node, before they are reported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl_wrapper import disk
from d0ctl_wrapper.attempt.deliver import outputs
from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.paths import NodePaths, to_path
from tests.support.durability import journal


def test_outputs_and_their_folders_are_synced_before_the_end_message(tmp_path: Path) -> None:
    folder = NodePaths(os.fsencode(tmp_path / "base")).attempt(1)
    work = Path(os.fsdecode(folder.work))
    (work / "deep").mkdir(parents=True)
    (tmp_path / "base" / "cache").mkdir(parents=True)
    names = ["a", "deep/b"]
    for name in names:
        (work / name).write_text(name)

    with journal() as steps:
        kept = outputs.keep(folder, names, {}, Digests(lambda: None), {})

    for output in kept:
        path = Path(os.fsdecode(to_path(output["path"])))
        afterwards = steps[steps.index(("rename", path)) :]
        for synced in (path, *path.parents):
            if synced.is_relative_to(tmp_path / "base" / "cache"):
                assert ("fsync", synced) in afterwards


def test_an_output_with_another_name_outside_is_kept_as_a_copy(tmp_path: Path) -> None:
    folder = NodePaths(os.fsencode(tmp_path / "base")).attempt(1)
    work = Path(os.fsdecode(folder.work))
    work.mkdir(parents=True)
    (tmp_path / "base" / "cache").mkdir(parents=True)
    (tmp_path / "outside").write_text("made")
    os.link(tmp_path / "outside", work / "a")

    [kept] = outputs.keep(folder, ["a"], {}, Digests(lambda: None), {})

    (tmp_path / "outside").write_text("changed")
    assert Path(os.fsdecode(to_path(kept["path"]))).read_text() == "made"


def test_an_output_that_is_still_the_input_of_that_name_was_not_made(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "cached").write_text("input")
    (tmp_path / "work" / "a").symlink_to(tmp_path / "cached")
    (tmp_path / "work" / "made").write_text("output")
    (tmp_path / "work" / "b").symlink_to("made")
    work = os.fsencode(tmp_path / "work")

    with pytest.raises(Failed, match="still the input of that name"):
        outputs.find(work, "a", {"a": {}})
    assert outputs.find(work, "b", {"a": {}}) == (work + b"/made", 6)


@pytest.mark.parametrize("quick_s", [0.0, 60.0], ids=["a slow disk", "a quick disk"])
def test_all_are_synced_at_the_same_time_or_in_turn_and_each_fault_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick_s: float
) -> None:
    monkeypatch.setattr(disk, "QUICK_S", quick_s)
    files = [tmp_path / str(number) for number in range(40)]
    for file in files:
        file.write_text("text")
    gone = os.fsencode(tmp_path / "gone")

    with journal() as steps:
        faults = disk.sync_all([*map(os.fsencode, (*files, *files, tmp_path)), gone])

    assert sorted(steps) == sorted(("fsync", path) for path in (*files, tmp_path))
    assert list(faults) == [gone] and isinstance(faults[gone], FileNotFoundError)


def test_a_process_is_as_before_when_threads_have_synced(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", UNCHANGED, tmp_path], capture_output=True, text=True, check=True
    )

    assert said.stdout == "True\n"


UNCHANGED = """
import os, sys
from d0ctl_wrapper.attempt.serve import observe
from d0ctl_wrapper import disk
disk.QUICK_S = 0.0
os.umask(0o077)
before = observe()
assert not disk.sync_all([os.fsencode(sys.argv[1]), b"/"])
print(observe() == before)
"""
