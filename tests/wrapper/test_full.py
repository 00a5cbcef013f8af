"""What an attempt tells while not a byte can be written on its disk."""

from pathlib import Path

from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.test_command import state
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
