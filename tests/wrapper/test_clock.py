"""The clock of a node that jumps while an attempt runs."""

import time
from pathlib import Path

import pytest

from tests.support.faketime import Clock
from tests.wrapper.client import binary, launch
from tests.wrapper.conftest import Connect


@pytest.mark.parametrize("offset", ["+1d", "-1d"])
def test_the_times_of_an_attempt_go_on_when_the_clock_jumps(
    clock: Clock, connect: Connect, tmp_path: Path, offset: str
) -> None:
    node = connect(environment=clock.environment)
    began = time.time()
    node.launch(launch(1, binary(script=f"until [ -e {tmp_path}/go ]; do sleep 0.02; done")))
    node.started(1)

    clock.jump(offset)
    name = node.ping()
    assert abs(node.wait("pong", id=name)["time"] - time.time()) > 80_000, "the clock has jumped"
    (tmp_path / "go").touch()
    end = node.end(1)

    assert end["outcome"] == "successful"
    assert began - 1 < end["started"] <= end["ended"] < time.time() + 1
    times = [one["time"] for one in node.messages(1)]
    assert times == sorted(times)
    assert not [frame for frame in node.frames if frame["kind"] == "dead"]
