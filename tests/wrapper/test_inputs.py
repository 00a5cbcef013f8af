"""Inputs that no program can change for others, and copies that are known by how they look."""

import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.attempt.stage.acquire import MOST_NEAR
from tests.wrapper.client import Client, Frame, binary
from tests.wrapper.serving import wrapper_of

DATA = b"AAAA\n"

OUT = [{"name": "out", "min_size": None}]

CHANGE = "printf X | dd of=raw conv=notrunc; cp raw out"

NOBODY = 65534


def copy(node: Client, data: bytes = DATA) -> Path:
    """A copy as d0ctl keeps them in the cache of a node."""
    path = node.base / "cache/in/7/raw"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    path.chmod(0o400)
    return path


def entry(path: Path, **more: Any) -> Frame:
    """An input whose copy is recorded as it looks now."""
    status = path.stat()
    known = {"inode": status.st_ino, "mtime": status.st_mtime_ns, "size": status.st_size}
    return {"name": "raw", "path": str(path), "required": True, **known, **more}


def original(path: Path, **more: Any) -> Frame:
    """An input beside the job file, on the machine where it is read."""
    return {"name": "raw", "path": None, "size": None, "required": True, "original": str(path),
            **more}  # fmt: skip


def run(node: Client, script: str, *inputs: Frame, attempt: int = 1) -> Frame:
    """Run a package that has these inputs and one output, to its end message."""
    return node.run(
        binary(script=script, outputs=OUT), inputs=list(inputs), keep=["out"], attempt=attempt
    )


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of the user's, beside the job file."""
    path = tmp_path / "jobs/raw"
    path.parent.mkdir()
    path.write_bytes(DATA)
    return path


def may_write(path: Path) -> bool:
    """Whether the mode of a file lets its owner, as any account but root, write into it."""
    return bool(path.stat().st_mode & 0o222)


def test_the_cache_has_read_only_files_alone(node: Client, mine: Path) -> None:
    end = run(node, "cp raw out; chmod 4777 out", original(mine))

    assert end["outcome"] == "successful", end
    (kept,) = end["outputs"]
    (staged,) = end["staged"]
    assert stat.S_IMODE(Path(kept["path"]).stat().st_mode) == 0o500
    assert stat.S_IMODE(Path(staged["path"]).stat().st_mode) == 0o400
    for answer in (kept, staged):
        status = Path(answer["path"]).stat()
        assert (answer["inode"], answer["mtime"]) == (status.st_ino, status.st_mtime_ns)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_no_account_but_root_can_write_into_a_copy(node: Client, mine: Path) -> None:
    (staged,) = run(node, "cp raw out", original(mine))["staged"]
    path = Path(staged["path"])
    for place in [path.parent, *path.parents]:
        if place == Path("/tmp"):
            break
        place.chmod(place.stat().st_mode | 0o711)
    os.chown(path, NOBODY, NOBODY)

    done = subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "sh", "-c",
         f"printf X | dd of={path} conv=notrunc"], capture_output=True, text=True,
    )  # fmt: skip

    assert "Permission denied" in done.stderr
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("way", ["a copy", "the user's own file"])
def test_a_program_that_may_change_its_input_gets_its_own(
    node: Client, mine: Path, way: str
) -> None:
    source = copy(node) if way == "a copy" else mine
    given = entry(source, writable=True) if way == "a copy" else original(mine, writable=True)

    first = run(node, CHANGE, given)
    second = run(node, "cp raw out", given | {"writable": False}, attempt=2)

    assert first["outcome"] == second["outcome"] == "successful", first
    assert Path(first["outputs"][0]["path"]).read_bytes() == b"XAAA\n"
    assert Path(second["outputs"][0]["path"]).read_bytes() == DATA
    assert source.read_bytes() == mine.read_bytes() == DATA


def test_a_program_cannot_change_a_file_beside_the_job_file(node: Client, mine: Path) -> None:
    end = run(node, f"chmod u+w raw; {CHANGE}", original(mine))

    assert mine.read_bytes() == DATA
    assert (end["outcome"], end["reason"]) == ("failed", "verification")
    assert end["detail"].startswith("input `raw` was changed while the package ran")
    assert "`writable: yes`" in end["detail"]
    assert not end["outputs"]


def test_a_copy_that_was_changed_is_made_anew_before_the_next_reads_it(
    node: Client, mine: Path
) -> None:
    (staged,) = run(node, "cp raw out", original(mine))["staged"]
    path = Path(staged["path"])
    path.chmod(0o600)
    path.write_bytes(b"XAAA\n")

    end = run(node, "cp raw out", original(mine), attempt=2)

    assert end["outcome"] == "successful", end
    assert Path(end["outputs"][0]["path"]).read_bytes() == DATA


def test_a_file_that_its_owner_changed_is_copied_again(node: Client, mine: Path) -> None:
    (before,) = run(node, "cp raw out", original(mine))["staged"]
    mine.write_bytes(b"BBBB\n")

    end = run(node, "cp raw out", original(mine) | {"path": before["path"]}, attempt=2)

    assert Path(end["outputs"][0]["path"]).read_bytes() == b"BBBB\n"
    assert end["staged"][0]["path"] != before["path"]


def test_all_packages_share_one_copy_and_report_it_once(node: Client, mine: Path) -> None:
    (staged,) = run(node, "cp raw out", original(mine))["staged"]
    known = original(mine) | {name: staged[name] for name in ("path", "inode", "mtime")}

    end = run(node, "cp raw out", known, attempt=2)

    assert end["outcome"] == "successful", end
    assert end["staged"] == []


def test_a_copy_that_is_made_anew_with_the_same_contents_is_reported(
    node: Client, mine: Path
) -> None:
    (staged,) = run(node, "cp raw out", original(mine))["staged"]
    known = original(mine) | {name: staged[name] for name in ("path", "inode", "mtime")}
    Path(staged["path"]).unlink()

    (again,) = run(node, "cp raw out", known, attempt=2)["staged"]

    assert again["path"] == staged["path"]
    assert again["mtime"] != staged["mtime"]


@pytest.mark.parametrize("what", ["size", "time", "file"])
def test_a_recorded_copy_that_has_changed_is_a_missing_input(node: Client, what: str) -> None:
    path = copy(node)
    given = entry(path)
    if what == "size":
        path.write_bytes(b"AAAAA\n")
        os.utime(path, ns=(given["mtime"], given["mtime"]))
    elif what == "time":
        os.utime(path, ns=(given["mtime"] + 1_000, given["mtime"] + 1_000))
    else:
        kept = path.rename(path.with_name("former"))
        path.write_bytes(DATA)
        os.utime(path, ns=(given["mtime"], given["mtime"]))
        assert path.stat().st_ino != kept.stat().st_ino

    end = run(node, "cp raw out", given)

    assert (end["outcome"], end["reason"]) == ("failed", "missing-input")
    assert end["missing"] == [str(path)]


def test_a_disk_that_rounds_times_does_not_lose_copies(node: Client) -> None:
    path = copy(node)
    os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
    given = entry(path) | {"mtime": 1_700_000_000_123_456_789}

    assert run(node, "cp raw out", given)["outcome"] == "successful"


def test_a_file_of_the_node_that_changes_is_noted(node: Client, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_bytes(DATA)

    end = run(node, CHANGE, {"name": "raw", "path": str(there), "size": None, "required": True})

    assert end["outcome"] == "successful", end
    notes = [m["text"] for m in node.messages(1) if m["kind"] == "note"]
    assert notes == ["input `raw` was changed while the package ran"]


def test_an_output_with_another_hard_link_is_copied_to_the_cache(
    node: Client, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_bytes(DATA)

    end = run(node, f"ln {theirs} out")

    assert end["outcome"] == "successful", end
    kept = Path(end["outputs"][0]["path"])
    assert kept.read_bytes() == DATA
    assert kept.stat().st_ino != theirs.stat().st_ino
    assert may_write(theirs) and not may_write(kept)


def test_a_script_beside_the_job_file_can_be_run(node: Client, mine: Path) -> None:
    mine.write_text("#!/bin/sh\necho ran\n")
    mine.chmod(0o755)

    end = run(node, "./raw > out", original(mine))

    assert Path(end["outputs"][0]["path"]).read_text() == "ran\n"


def test_a_script_made_executable_after_a_failure_can_be_run(node: Client, mine: Path) -> None:
    mine.write_text("#!/bin/sh\necho ran\n")
    mine.chmod(0o644)
    assert run(node, "./raw > out", original(mine))["outcome"] != "successful"

    mine.chmod(0o755)
    end = run(node, "./raw > out", original(mine), attempt=2)

    assert end["outcome"] == "successful", end
    assert Path(end["outputs"][0]["path"]).read_text() == "ran\n"


@pytest.mark.parametrize("size", [5, MOST_NEAR + 1], ids=["small", "large"])
def test_a_wrapper_copies_a_small_file_itself_and_ends_after_it_forked_for_a_large_one(
    single: Client, mine: Path, size: int
) -> None:
    mine.write_bytes(b"x" * size)
    reader = binary(script="wc -c < raw")
    ends = [single.run(reader, inputs=[original(mine)], attempt=attempt) for attempt in (1, 2, 3)]

    wrappers = [wrapper_of(single, attempt) for attempt in (1, 2, 3)]
    assert {end["outcome"] for end in ends} == {"successful"}
    assert len({end["staged"][0]["path"] for end in ends}) == 1
    assert (single.folder(3) / "1.out").read_text().split() == [str(size)]
    assert wrappers[1] == wrappers[2], "the second and third attempts read the same copy"
    assert (wrappers[0] == wrappers[1]) == (size <= MOST_NEAR)
    assert not (single.folder(1) / "staging").exists()
