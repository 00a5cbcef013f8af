"""Files that a wrapper hands on from one attempt to the next."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from d0ctl_wrapper.attempt.slot import Slot
from d0ctl_wrapper.protocol.paths import NodePaths
from tests.support.waiting import wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.serving import process_of


def inode(path: Path) -> int:
    return path.stat().st_ino


def spares(node: Client, kind: str = "work") -> list[Path]:
    return list((node.base / "cache/aside").glob(f"{kind}-*"))


def test_a_short_attempt_sends_all_its_messages_in_one_file(single: Client) -> None:
    single.run(binary("true"))

    assert list(single.files) == ["1.1"]
    assert [one["kind"] for one in single.messages(1)] == ["start", "end"]


def test_the_start_of_a_longer_attempt_is_sent_while_it_runs(single: Client) -> None:
    single.launch(launch(1, binary("sleep", "300")))

    assert single.message(1, "start")["phase"] == "running"
    single.send("kill", attempts=[1], grace=0)
    single.end(1)


def test_the_start_is_sent_while_outputs_are_read(single: Client) -> None:
    step = binary(script="head -c 600M /dev/zero > x", outputs=[{"name": "x", "min_size": None}])
    single.launch(launch(1, step, keep=["x"]))
    single.message(1, "start")

    assert single.end(1)["outcome"] == "successful"
    assert "1.1" in single.files and len(single.files) > 1


def test_equal_records_and_empty_lists_of_inputs_are_links(single: Client) -> None:
    for attempt in (1, 2, 3):
        assert single.run(binary("true"), attempt=attempt)["outcome"] == "successful"

    for name in ("wrapper", "inputs"):
        assert len({inode(single.folder(attempt) / name) for attempt in (1, 2, 3)}) == 1
    assert (single.folder(3) / "inputs").read_bytes() == b""


def test_a_record_with_other_cpus_is_not_a_link(connect: Connect) -> None:
    node = connect(cpus=4)
    node.run(binary("true"), cpus=1)
    node.run(binary("true"), attempt=2, cpus=3)
    records = [(node.folder(attempt) / "wrapper").read_text().split() for attempt in (1, 2)]

    assert [record[-1] for record in records] == ["1", "3"]
    assert records[0][0] == records[1][0]


def test_a_list_of_inputs_that_a_program_has_written_to_is_not_shared(single: Client) -> None:
    single.run(binary(script='echo mine > "$D0CTL_INPUTS"'))
    single.run(binary("cp", "../inputs", "../seen"), attempt=2)
    single.run(binary("cp", "../inputs", "../seen"), attempt=3)

    assert [(single.folder(attempt) / "seen").read_bytes() for attempt in (2, 3)] == [b"", b""]


def test_a_later_list_of_inputs_leaves_the_shared_one_empty(single: Client, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("data\n")
    entry = {"name": "data", "path": f"{tmp_path}/data", "size": 5, "required": True}
    single.run(binary("true"))
    single.run(binary("true"), binary("true", inputs=["data"]), attempt=2, inputs=[entry])
    single.run(binary("cp", "../inputs", "../seen"), attempt=3)

    assert (single.folder(2) / "inputs").read_text() == "data\n"
    assert (single.folder(1) / "inputs").read_text() == ""
    assert (single.folder(3) / "seen").read_text() == ""


def test_attempts_run_without_the_files_of_the_one_before(single: Client) -> None:
    single.run(binary("true"))
    single.send("forget", attempts=[1], paths=[])
    single.wait("forgotten")
    wait_until(lambda: not single.folder(1).exists())

    assert single.run(binary("true"), attempt=2)["outcome"] == "successful"
    assert (single.folder(2) / "wrapper").read_text().endswith("\n")
    assert (single.folder(2) / "inputs").read_bytes() == b""


def test_an_empty_working_directory_is_handed_on(single: Client) -> None:
    single.run(binary(script="stat -c %i . > ../inode"))
    assert not (single.folder(1) / "work").exists()
    single.run(binary(script="stat -c %i . > ../inode"), attempt=2)

    assert len({(single.folder(attempt) / "inode").read_text() for attempt in (1, 2)}) == 1
    idle = process_of(single, 2)
    assert len(spares(single)) == 1
    single.process.kill()
    wait_until(lambda: not idle.lives())
    assert not spares(single)


def test_a_working_directory_with_links_to_inputs_is_handed_on(
    single: Client, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("data\n")
    entry = {"name": "data", "path": f"{tmp_path}/data", "size": 5, "required": True}
    for attempt in (1, 2):
        script = "cat data; stat -c %i . > ../inode"
        single.run(binary(script=script, inputs=["data"]), attempt=attempt, inputs=[entry])

    assert len({(single.folder(attempt) / "inode").read_text() for attempt in (1, 2)}) == 1
    assert not list(spares(single)[0].iterdir())
    assert (tmp_path / "data").read_text() == "data\n"


def test_the_marks_of_whole_lists_of_inputs_are_links(single: Client, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("data\n")
    entry = {"name": "data", "path": f"{tmp_path}/data", "size": 5, "required": True}
    for attempt in (1, 2):
        single.run(binary("true", inputs=["data"]), attempt=attempt, inputs=[entry])

    assert len({inode(single.folder(attempt) / "inputs.closed") for attempt in (1, 2)}) == 1


@pytest.mark.parametrize(
    "script", ["touch left", "mkdir left", "chmod 755 .", "rmdir ../work; mkdir -m 755 ../work"]
)
def test_a_working_directory_that_was_changed_is_not_handed_on(single: Client, script: str) -> None:
    assert single.run(binary(script=script))["outcome"] == "successful"
    assert not spares(single)
    single.run(binary(script="stat -c '%a %h' . > ../found; ls -A >> ../found"), attempt=2)

    assert (single.folder(2) / "found").read_text().split()[0] == "700"
    assert (single.folder(2) / "found").read_text().count("\n") == 1


PRINTS = "stat -c '%i %h %s %a' ../1.out ../1.err > ../found"
"""Tells the inode, the number of hard links, the size and the mode of its logs."""


def logs(node: Client, attempt: int) -> list[Path]:
    return [node.folder(attempt) / name for name in ("1.out", "1.err")]


def test_empty_logs_are_handed_on_and_leave_empty_files(single: Client) -> None:
    found = []
    for attempt in (1, 2, 3):
        single.run(binary(script=PRINTS), attempt=attempt)
        found.append((single.folder(attempt) / "found").read_text().splitlines())

    assert sorted(found[0]) == sorted(found[1]) == sorted(found[2])
    assert len(set(found[0])) == 2 and all(line.endswith(" 1 0 600") for line in found[0])
    left = [log for attempt in (1, 2, 3) for log in logs(single, attempt)]
    assert [log.read_bytes() for log in left] == [b""] * 6
    assert {inode(log) for log in left}.isdisjoint(int(line.split()[0]) for line in found[0])
    assert len(spares(single, "log")) == 2
    single.process.kill()
    wait_until(lambda: not spares(single, "log"))


def test_a_log_handed_on_is_as_young_as_its_binary(single: Client) -> None:
    single.run(binary("true"))
    log = logs(single, 1)[0].stat().st_mtime_ns
    end = (single.folder(1) / "end").stat().st_mtime_ns
    wait_until(lambda: ticked(single.folder(1) / "tick") > max(log, end))
    single.run(binary(script="touch -r /dev/stdout ../copy"), attempt=2)

    assert (single.folder(2) / "copy").stat().st_mtime_ns > max(log, end)


def ticked(path: Path) -> int:
    """The time of the file system: some take only that of the last tick of the kernel."""
    path.touch()
    return path.stat().st_mtime_ns


@pytest.mark.parametrize(
    "script",
    ["echo said", "echo said >&2", "chmod 644 /dev/stdout", "ln ../1.out ../mine",
     "mv ../1.out ../mine", "rm ../1.out; mkfifo ../1.out", "rm ../1.out ../1.err"],
)  # fmt: skip
def test_a_log_that_is_not_as_new_is_not_handed_on(single: Client, script: str) -> None:
    assert single.run(binary(script=script))["outcome"] == "successful"
    kept = "".join(log.read_text() for log in logs(single, 1) if log.is_file())
    assert kept == ("said\n" if "echo" in script else "")
    inodes = {inode(log) for log in logs(single, 1) if log.exists()}
    mine = single.folder(1) / "mine"
    inodes |= {inode(mine)} if mine.exists() else set()

    single.run(binary(script=PRINTS), attempt=2)

    found = (single.folder(2) / "found").read_text().splitlines()
    assert all(line.endswith(" 1 0 600") for line in found)
    assert inodes.isdisjoint(int(line.split()[0]) for line in found)


def test_each_attempt_has_its_own_output_in_its_logs(single: Client) -> None:
    for attempt, word in enumerate(["", "first", "", "", "second", ""], 1):
        single.run(binary(script=f"printf '{word}'"), attempt=attempt)

    printed = [(single.folder(attempt) / "1.out").read_text() for attempt in range(1, 7)]
    assert printed == ["", "first", "", "", "second", ""]


def test_a_file_system_without_links_or_spare_folders_is_no_obstacle(tmp_path: Path) -> None:
    paths = NodePaths(os.fsencode(tmp_path / "base"))
    paths.make()
    slot = Slot(paths)
    folder = tmp_path / "attempt"
    folder.mkdir()
    slot.make_folder(os.fsencode(folder / "work"))
    assert slot.keep_folder(os.fsencode(folder / "work"))
    (tmp_path / "base/cache/aside" / f"work-{os.getpid()}").rmdir()
    slot.make_folder(os.fsencode(folder / "work"))
    assert (folder / "work").stat().st_mode & 0o777 == 0o700

    slot.make_empty_file(os.fsencode(folder / "1"))
    (folder / "1").unlink()
    slot.make_empty_file(os.fsencode(folder / "2"))
    assert (folder / "2").read_bytes() == b""
    slot.close()


def test_a_list_is_made_anew_at_the_limit_of_links() -> None:
    with TemporaryDirectory(dir="/var/tmp") as disk:  # a disk in memory has no limit
        paths = NodePaths(os.fsencode(f"{disk}/base"))
        paths.make()
        slot = Slot(paths)
        folder = Path(disk, "lists")
        folder.mkdir()
        most = os.pathconf(folder, "PC_LINK_MAX")
        if most > 70_000:
            pytest.skip(f"the file system here allows {most} links")
        for number in range(most + 1):
            slot.make_empty_file(os.fsencode(folder / str(number)))

        assert (folder / str(most)).stat().st_nlink == 1
