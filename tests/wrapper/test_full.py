"""What an attempt and its program tell while not a byte can be written on their disk."""

from pathlib import Path

from tests.support.waiting import wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.test_command import state
from tests.wrapper.test_guards import sums_up
from tests.wrapper.test_space import STAYS


def full(connect: Connect, disk: Path, script: str, **guards: float) -> Client:
    """A relay with an attempt that runs, and its disk, which others have filled since."""
    node = connect(base=str(disk / "base"))
    node.base = disk / "base"
    node.wait("hello")
    node.launch(launch(1, binary(script=script), guards={"reserve": 10**9, **guards}))
    node.started(1)
    with (disk / "filler").open("wb") as filler:
        try:
            while filler.write(bytes(2**16)):
                filler.flush()
        except OSError:
            pass
    return node


def test_an_attempt_tells_that_it_is_suspended_on_a_full_disk(connect: Connect, disk: Path) -> None:
    node = full(connect, disk, STAYS)

    stood = state(node, "suspended")
    (disk / "filler").unlink()
    state(node, "running")
    (node.folder(1) / "go").touch()

    assert "B left, less than the reserve of 2.1 MB" in stood["why"]
    assert node.end(1)["outcome"] == "successful"


def test_an_attempt_tells_that_its_end_waits_for_space(connect: Connect, disk: Path) -> None:
    node = full(connect, disk, STAYS, patience=1.0)

    state(node, "suspended")
    waits = "it has ended, but the disk has no space to record that"
    while state(node, "suspended")["why"] != waits:
        node.wait("pong", id=node.ping())
    (disk / "filler").unlink()

    assert node.end(1)["reason"] == "disk-full"


def test_a_program_says_that_the_disk_is_full_though_its_log_is_there_too(
    connect: Connect, disk: Path
) -> None:
    node = connect(base=str(disk / "base"))
    node.base = disk / "base"
    fills = "cat /dev/zero > big || { code=$?; rm big; exit $code; }"
    end = node.run(binary(script=fills), guards={"reserve": 0})

    assert sums_up(end) == ("failed", "disk-full", 1)
    assert end["detail"].endswith("No space left on device")
    log = node.folder(1) / "1.err"
    wait_until(lambda: log.stat().st_blocks * 512 <= 4096, what="the rest is free again")
