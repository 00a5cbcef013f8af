"""Guards of disk and load: attempts that wait, and give way to others."""

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.attempt.guards.disk_guard import DiskGuard
from d0ctl_wrapper.attempt.guards.rotation import Rotation
from d0ctl_wrapper.attempt.intervals import SOONEST_S
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.protocol.paths import NodePaths
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.test_command import state
from tests.wrapper.test_early import early, fed_input, feed, wait_read
from tests.wrapper.test_guards import SPINS, sums_up

STAYS = "while [ ! -e ../go ]; do sleep 0.05; done"
"""Keeps a binary running until the test says so, and writes nothing."""


def notes(node: Client, attempt: int = 1) -> list[str]:
    """The remarks of an attempt."""
    return [one["text"] for one in node.messages(attempt) if one["kind"] == "note"]


def test_more_disk_than_asked_for_is_disk_full(node: Client) -> None:
    fills = binary(script=f"head -c 3M /dev/zero > scratch; {STAYS}")
    end = node.run(fills, guards={"disk": 2_000_000})

    assert sums_up(end) == ("failed", "disk-full", 1)
    assert end["detail"].startswith("its files take 3.")
    assert end["detail"].endswith(" MB of disk, more than its request of 2.0 MB")


def test_a_limit_that_is_barely_exceeded_has_figures_that_differ(node: Client) -> None:
    fills = binary(script=f"head -c 2030000 /dev/zero > scratch; {STAYS}")
    end = node.run(fills, guards={"disk": 2_000_000})

    found = re.search(r"take (.*) of disk, more than its request of (.*)", end["detail"])
    assert found is not None
    assert found[1] != found[2]
    assert found[2] == "2.00 MB"


def test_more_scratch_than_estimated_is_noted_once(node: Client) -> None:
    grows = "for n in 1 2 3; do head -c 3M /dev/zero > scratch$n; sleep 0.8; done; rm scratch*"
    end = node.run(binary(script=grows, work_size=2_000_000))

    assert end["outcome"] == "successful"
    (note,) = notes(node)
    assert note.endswith("MB of disk, more than its work-size of 2.0 MB")


def test_the_peak_of_an_attempt_s_own_files_is_reported(node: Client, tmp_path: Path) -> None:
    (tmp_path / "master").write_bytes(bytes(2**22))
    path = node.base / "cache" / "in" / "1" / "master"
    path.parent.mkdir(parents=True)
    os.link(tmp_path / "master", path)
    inputs = [{"name": "master", "path": str(path), "required": True, "size": 2**22}]
    first = binary(script="head -c 3M /dev/zero > scratch", inputs=["master"])
    end = node.run(first, binary(script="rm scratch"), inputs=inputs)

    made, removed = (one["disk"] for one in end["binaries"])
    assert 3 * 2**20 <= made < 4 * 2**20, "the input is not its own"
    assert removed < 2**20


def on_disk(connect: Connect, disk: Path, **guards: Any) -> Client:
    """A relay with its BASE on a small disk, an attempt that runs there, and no space left."""
    node = connect(base=str(disk / "base"))
    node.base = disk / "base"
    node.wait("hello")
    (disk / "filler").write_bytes(bytes(39 * 2**20))
    node.launch(launch(1, binary(script=STAYS), guards={"reserve": 10**9, **guards}))
    return node


def need(node: Client) -> Frame:
    """What an attempt asks for, once it does."""
    while not (asked := [one for one in node.messages(1) if one["kind"] == "need"]):
        node.wait("pong", id=node.ping())
    return asked[0]


def test_an_attempt_is_suspended_while_the_disk_is_full(connect: Connect, disk: Path) -> None:
    node = on_disk(connect, disk)
    stood = state(node, "suspended")
    needed = need(node)
    (disk / "filler").unlink()
    goes = state(node, "running")
    (node.folder(1) / "go").touch()

    assert re.match(
        r"the disk has \S+ .B left, less than the reserve of 2\.1 MB; stopped by SIGSTOP",
        stood["why"],
    )
    assert 10**6 < needed["bytes"] < 3 * 10**6
    assert re.fullmatch(r"resumed: the disk has 4\d MB left again", goes["why"])
    assert node.end(1)["outcome"] == "successful"


def test_a_program_that_reports_a_full_disk_is_believed(node: Client) -> None:
    end = node.run(binary(script="echo 'out: No space left on device' >&2; exit 1"))

    assert sums_up(end) == ("failed", "disk-full", 1)
    assert end["detail"].endswith("No space left on device")


def test_a_full_disk_message_followed_by_others_is_believed(node: Client) -> None:
    says = "echo \"dd: writing 'x': No space left on device\" >&2; echo 1+0 records in >&2; exit 1"
    end = node.run(binary(script=says))

    assert sums_up(end) == ("failed", "disk-full", 1)
    assert end["detail"].endswith("1+0 records in: dd: writing 'x': No space left on device")


@pytest.mark.parametrize("says", ["", 'echo "can\'t write x.root" >&2; '])
def test_attempts_that_meet_a_full_disk_together_both_say_so(node: Client, says: str) -> None:
    end = end_after_full_disk(node, f"{STAYS}; {says}exit 3")

    assert sums_up(end) == ("failed", "disk-full", 1)
    assert re.search(r"; the disk was full \d+(\.\d)? s ago$", end["detail"])


def test_another_error_after_a_full_disk_is_believed(node: Client) -> None:
    end = end_after_full_disk(node, f"{STAYS}; echo 'bad event 7' >&2; exit 3")

    assert sums_up(end) == ("failed", "exit-code", 1)
    assert end["detail"].endswith("exit code 3: bad event 7")


def test_a_program_that_began_after_a_full_disk_did_not_meet_it(node: Client) -> None:
    end_after_full_disk(node, STAYS)

    assert sums_up(node.run(binary(script="exit 3"), attempt=3)) == ("failed", "exit-code", 1)


def end_after_full_disk(node: Client, script: str) -> Frame:
    """The end of an attempt that was running while another one met a full disk."""
    node.launch(launch(2, binary(script=script)))
    node.started(2)
    end = node.run(binary(script="echo 'x: No space left on device' >&2; exit 1"))
    assert sums_up(end) == ("failed", "disk-full", 1)
    (node.folder(2) / "go").touch()
    return node.end(2)


def test_a_small_disk_is_checked_soon_again_after_space_has_risen(disk: Path) -> None:
    folder = NodePaths(os.fsencode(disk)).attempt(1)
    guard = DiskGuard(folder, 10**6, 60.0, None, None, None)  # type: ignore[arg-type]
    (disk / "filler").write_bytes(bytes(2**20))
    guard.poll()
    (disk / "filler").unlink()

    assert guard.poll() == SOONEST_S


def test_an_attempt_that_has_space_and_waits_for_its_turn_requests_none(disk: Path) -> None:
    folder = NodePaths(os.fsencode(disk)).attempt(1)
    requests: list[int] = []
    suspension = Suspension(None, None, None, None)  # type: ignore[arg-type]
    turns = Rotation(folder.node, b"disk")
    guard = DiskGuard(folder, 10**6, 60.0, suspension, turns, lambda size, _: requests.append(size))
    guard._suspended_at = time.monotonic()
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "filler").write_bytes(bytes(free - 10_000))
    guard.poll()
    (disk / "filler").unlink()
    assert turns.take()
    guard._asked = 0.0
    guard.poll()

    assert len(requests) == 1
    assert requests[0] > 0


def test_of_attempts_that_all_wait_for_space_the_last_ends_and_others_continue(
    connect: Connect, disk: Path
) -> None:
    node = on_disk(connect, disk)
    state(node, "suspended")
    (disk / "filler").write_bytes(bytes(25 * 2**20))
    makes = f"head -c 14M /dev/zero > scratch; {STAYS}"
    node.launch(launch(2, binary(script=makes), guards={"reserve": 10**9, "patience": 30.0}))

    end = node.end(2)
    state(node, "running")
    (node.folder(1) / "go").touch()

    assert sums_up(end) == ("failed", "disk-full", 1)
    assert end["detail"].endswith("all attempts here wait for space, and this one began last")
    assert node.end(1)["outcome"] == "successful"


def test_an_attempt_that_gets_no_space_fails_after_the_limit(connect: Connect, disk: Path) -> None:
    node = on_disk(connect, disk, patience=1.0)
    end = node.end(1)

    assert sums_up(end) == ("failed", "disk-full", 1)
    assert re.fullmatch(
        r"the disk has \S+ .B left, less than the reserve of 2\.1 MB, for \d+(\.\d)? s now",
        end["detail"],
    )


def test_an_attempt_whose_own_log_fills_the_disk_ends(connect: Connect, disk: Path) -> None:
    node = connect(base=str(disk / "base"))
    node.base = disk / "base"
    node.wait("hello")
    kept = disk / "kept"
    kept.write_bytes(bytes(3_000_000))
    flood = f"echo first; ln {kept} $D0CTL_WORK/../other.out; dd if=/dev/zero bs=1M status=none"
    waits = "until test -e ../go; do sleep 0.05; done"

    node.launch(launch(1, binary(script=f"{waits}; {flood}")))
    node.message(1, "start")
    node.wait("pong", id=node.ping())  # the start message is removed: nothing frees space later
    (node.folder(1) / "go").touch()
    end = node.end(1)

    assert (end["outcome"], end["reason"]) == ("failed", "disk-full"), end
    log = (node.folder(1) / "1.out").read_bytes()
    assert log.startswith(b"first\n")
    assert re.search(rb"\[3\d MB of this log were removed, because it filled the disk\]", log)
    assert len(log) < 700_000
    assert kept.stat().st_size == 3_000_000, "a file that is linked elsewhere is not cut"


def test_inputs_that_a_full_disk_refused_come_before_the_list_is_closed(
    connect: Connect, disk: Path, tmp_path: Path
) -> None:
    node = connect(base=str(disk / "base"))
    node.base = disk / "base"
    node.launch(early(tmp_path, "a"))
    wait_read(node, ["a"])
    with (disk / "filler").open("ab", buffering=0) as filler, suppress(OSError):
        while filler.write(bytes(4096)):
            pass

    feed(node, fed_input(tmp_path, "b"))
    refused = node.wait("fault")["message"]
    (disk / "filler").unlink()
    feed(node, fed_input(tmp_path, "c"), closed=True)
    end = node.end(1)

    assert refused == "can't deliver inputs to attempt 1: No space left on device"
    assert end["outcome"] == "successful"
    assert Path(end["outputs"][0]["path"]).read_text().split() == ["a", "b", "c"]


def test_an_attempt_pauses_for_the_work_of_others(node: Client) -> None:
    busy = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(busy) for _ in range(os.cpu_count() or 1)]
    try:
        for other in others:  # what runs below the usual priority counts as our own
            os.setpriority(os.PRIO_PROCESS, other.pid, 0)
        node.launch(
            launch(1, binary(script=SPINS), guards={"yield_cpu": 0.3, "window": 0.5, "grace": 0.5})
        )
        stood = state(node, "suspended")
    finally:
        for other in others:
            other.kill()
            other.wait()
    node.send("kill", attempts=[1], grace=1)

    assert re.match(
        r"other work takes \d+ % of the CPUs, \d % are idle; stopped by SIGSTOP", stood["why"]
    )
    assert node.end(1)["outcome"] == "killed"


def test_attempts_of_a_node_pause_one_at_a_time(tmp_path: Path) -> None:
    places = NodePaths(os.fsencode(tmp_path))
    one, other = Rotation(places, b"cpu"), Rotation(places, b"cpu")

    assert one.take()
    assert not other.take()
    assert Rotation(places, b"room").take(), "for another cause, others decide"
    (tmp_path / "rotation-cpu").write_text("99999999999.000\n")
    assert other.take(), "a time before the boot is no time"
    (tmp_path / "rotation-cpu").write_text("torn")
    assert other.take()
