"""A wrapper out of contact computes on, and touches nothing outside its folder."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.protocol import lease
from d0ctl_wrapper.protocol.paths import NodePaths
from tests.support.waiting import Pid, wait_until
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect

SLOW = binary(
    script="while [ ! -e $D0CTL_BASE/go ]; do sleep 0.05; done; echo done > out",
    outputs=[{"name": "out", "min_size": None}],
)


def forwarding(target: Path, **more: Any) -> Frame:
    """An attempt that forwards its output, with a short lease."""
    deliver = [{"name": "out", "locator": str(target)}]
    return launch(1, SLOW, keep=["out"], deliver=deliver, **{"lease": 0.0, **more})


def states(node: Client) -> list[str]:
    """The phases that the attempt reported."""
    return [one["phase"] for one in node.messages(1) if one["kind"] == "state"]


def waits(node: Client, connect: Connect, target: Path) -> Client:
    """Lose contact with an attempt, let it finish its work, and come back to it waiting."""
    node.launch(forwarding(target))
    node.started(1)
    os.kill(node.process.pid, signal.SIGKILL)
    node.process.wait()
    wait_until(lambda: not Path(f"/proc/{node.process.pid}").exists())
    (node.base / "go").touch()
    wait_until(lambda: (node.base / "cache/1/out").exists())
    wait_until(lambda: any((node.base / "spool/new").iterdir()))
    again = connect()
    assert again.wait("hello")["attempts"] == [{"attempt": 1, "state": "running"}]
    wait_until(lambda: again.ping() and again.wait("pong") and states(again) == ["suspended"])
    assert not target.exists()
    return again


def test_an_attempt_out_of_contact_delivers_after_its_lease_is_renewed(
    node: Client, connect: Connect, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    again = waits(node, connect, target)

    again.send("lease", seconds=100)

    assert again.end(1)["outcome"] == "successful"
    assert target.read_text() == "done\n"
    assert states(again) == ["suspended", "running"]


def test_an_attempt_out_of_contact_waits_and_ends_when_killed(
    node: Client, connect: Connect, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    again = waits(node, connect, target)

    again.send("kill", attempts=[1], grace=1.0)
    again.send("lease", seconds=100)

    end = again.end(1)
    assert (end["outcome"], end["stored"]) == ("killed", [])
    assert not target.exists()


def test_a_renewed_lease_allows_deliveries_without_contact(node: Client, tmp_path: Path) -> None:
    target = tmp_path / "out"
    node.send("lease", seconds=100)
    node.launch(forwarding(target))
    node.started(1)
    os.kill(node.process.pid, signal.SIGKILL)
    node.process.wait()

    (node.base / "go").touch()

    wait_until(target.exists)


def test_outputs_that_stay_on_the_node_need_no_lease(node: Client) -> None:
    node.launch(launch(1, SLOW, keep=["out"], lease=0.0))
    node.started(1)
    (node.base / "go").touch()

    assert node.end(1)["outcome"] == "successful"


def test_a_delivery_is_stopped_when_the_lease_expires(node: Client, tmp_path: Path) -> None:
    program = tmp_path / "put"
    program.write_text(
        f"#!/bin/sh\necho $$ >> {tmp_path}/pids; touch {tmp_path}/runs\n"
        f"[ -e {tmp_path}/open ] || exec sleep 1000\ncp $1 {tmp_path}/out\n"
    )
    program.chmod(0o700)
    (node.base / "go").touch()
    deliver = [{"name": "out", "locator": "root://store/out"}]
    transfer = {"commands": {"root": {"store": f"{program} {{source}}"}}}
    node.send("lease", seconds=1000)
    node.launch(launch(1, SLOW, keep=["out"], deliver=deliver, transfer=transfer, lease=0.0))
    wait_until((tmp_path / "runs").exists)
    put = Pid.of(int((tmp_path / "pids").read_text()))
    assert put is not None

    node.send("lease", seconds=0)
    wait_until(lambda: not put.lives())
    wait_until(lambda: node.ping() and node.wait("pong") and states(node) == ["suspended"])
    (tmp_path / "open").touch()
    node.send("lease", seconds=100)

    assert node.end(1)["outcome"] == "successful"
    assert len((tmp_path / "pids").read_text().split()) == 2


def test_a_lease_of_another_boot_does_not_count(tmp_path: Path) -> None:
    places = NodePaths(os.fsencode(tmp_path))
    assert lease.until(places, "boot") == 0.0

    lease.renew(places, "boot", 100)
    assert lease.now() < lease.until(places, "boot") <= lease.now() + 100.01
    assert lease.until(places, "another") == 0.0

    lease.renew(places, "boot", 50)
    assert lease.until(places, "boot") <= lease.now() + 50.01


@pytest.mark.parametrize("text", ["", "boot", "boot x", "boot 1 2", "\udcff"])
def test_a_damaged_lease_does_not_count(tmp_path: Path, text: str) -> None:
    (tmp_path / "lease").write_bytes(os.fsencode(text))

    assert lease.until(NodePaths(os.fsencode(tmp_path)), "boot") == 0.0
