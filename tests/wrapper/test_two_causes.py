"""Attempts that a person pauses while a guard of their node suspends them, with real processes."""

import re
from pathlib import Path

from tests.support.waiting import wait_until
from tests.wrapper.conftest import Connect
from tests.wrapper.test_command import state
from tests.wrapper.test_space import on_disk


def test_an_attempt_that_is_resumed_on_a_full_disk_reports_the_disk(
    connect: Connect, disk: Path
) -> None:
    def reports(beginning: str) -> None:
        said = re.compile(beginning)
        wait_until(lambda: said.match(state(node, "suspended")["why"]), what=beginning)

    full, how = (
        r"the disk has \S+ .B left, less than the reserve of 2\.1 MB",
        "; stopped by SIGSTOP",
    )
    node = on_disk(connect, disk)
    reports(full + how)

    node.send("pause", attempts=[1], grace=0)
    reports(f"paused on request; {full}{how}")
    node.send("resume", attempts=[1])
    reports(full + how)
    (disk / "filler").unlink()

    assert state(node, "running")["why"].startswith("resumed: the disk has ")
    (node.folder(1) / "go").touch()
    assert node.end(1)["outcome"] == "successful"


def test_an_attempt_that_is_paused_stays_so_when_its_disk_has_space_again(
    connect: Connect, disk: Path
) -> None:
    node = on_disk(connect, disk)
    state(node, "suspended")
    node.send("pause", attempts=[1], grace=0)
    (disk / "filler").unlink()

    def why() -> str:
        return str(state(node, "suspended")["why"])

    wait_until(lambda: why().startswith("paused on request; stopped by SIGSTOP"), what="paused")
    node.send("resume", attempts=[1])
    assert state(node, "running")["why"] == "resumed"
