"""Nodes that are not as they should be: a clear reason, or no effect at all."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect

Mounted = Callable[[str], Path]


def test_a_base_that_cannot_be_written_is_a_fault_of_one_sentence(
    connect: Connect, mounted: Mounted
) -> None:
    disk = mounted("ro")
    node = connect(base=str(disk / "base"))

    fault = node.wait("fault")["message"]

    assert fault.startswith("the relay cannot continue:")
    assert "Read-only file system" in fault
    assert node.close() == 1


def test_scripts_run_where_nothing_may_be_executed(connect: Connect, mounted: Mounted) -> None:
    node = connect(base=str(mounted("noexec") / "base"))
    assert node.wait("hello")["facts"]["noexec"] is True

    end = node.run(binary(script="echo well"))
    made = node.run(
        binary(script="printf '#!/bin/sh\\necho hi\\n' > tool; chmod +x tool"),
        binary("./tool"),
        attempt=2,
    )

    assert end["outcome"] == "successful"
    assert (made["reason"], made["binary"]) == ("software-missing", 2)
    assert made["detail"].endswith("./tool: Permission denied")


def test_a_node_without_a_temporary_folder_uses_that_of_the_attempt(
    connect: Connect, tmp_path: Path
) -> None:
    node = connect(environment={"TMPDIR": str(tmp_path / "nowhere")})
    node.wait("hello")

    end = node.run(binary(script="cat <<< 'a here-document'; mktemp; echo $TMPDIR"))

    assert end["outcome"] == "successful"
    said = (node.folder(1) / "1.out").read_text().split("\n")
    assert (said[0], said[2]) == ("a here-document", str(node.folder(1)))
    assert said[1].startswith(said[2])


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
def test_an_odd_umask_applies_to_binaries_only(connect: Connect, mask: int) -> None:
    former = os.umask(mask)
    try:
        node = connect(sys.executable)
    finally:
        os.umask(former)
    node.wait("hello")

    end = node.run(binary(script="umask"))

    assert end["outcome"] == "successful"
    assert int((node.folder(1) / "1.out").read_text(), 8) == mask
    assert node.folder(1).stat().st_mode & 0o777 == 0o700


def test_binaries_get_the_environment_of_the_account_not_of_a_session(
    connect: Connect,
) -> None:
    foreign = ["SSH_AUTH_SOCK", "TERM", "DISPLAY", "D0CTL_HOME", "TMUX", "PS1", "OLDPWD"]
    kept = ["ROOTSYS", "LD_LIBRARY_PATH", "PYTHONPATH", "KRB5CCNAME", "LC_ALL"]
    node = connect(environment=dict.fromkeys([*foreign, *kept], "/x"))
    node.wait("hello")

    node.run(binary("env"), environment={"CARD": "7 8"})

    found = dict(line.split("=", 1) for line in (node.folder(1) / "1.out").read_text().splitlines())
    assert found["CARD"] == "7 8"
    assert found["D0CTL_PACKAGE"] == "job/1/1/1"
    assert [name for name in foreign if name in found] == []
    assert [name for name in kept if name not in found] == []


def test_a_log_of_a_million_lines_and_one_of_a_single_line_cost_little(node: Client) -> None:
    rule = {"log": r"event (\d+)/(\d+)"}
    stays = "; while [ ! -e ../go ]; do sleep 0.05; done"
    many = "seq -f 'event %.0f/1000000' 1000000"
    single = "head -c 300M /dev/zero | tr '\\0' x; echo; echo event 1/2"
    node.launch(
        launch(1, binary(script=many + stays, progress=rule)),
        launch(2, binary(script=single + stays, progress=rule)),
    )

    for attempt, percent in ((1, 100.0), (2, 50.0)):
        while not (answer := [m for m in node.messages(attempt) if m["kind"] == "progress"]) or (
            answer[-1]["percent"] != percent
        ):
            node.wait("pong", id=node.ping())
        pid = node.started(attempt)
        peak = Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]
        assert int(peak) < 40_000
        (node.folder(attempt) / "go").touch()
        assert node.end(attempt)["outcome"] == "successful"
