"""An idle link: it wakes nobody, and ends at once when it is closed."""

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.transports.connect import KEEPALIVE_S, connect
from d0ctl.nodes.transports.transport import Address, Stream
from tests.nodes.conftest import Opener, in_config, trust
from tests.nodes.test_connect import PIPE
from tests.nodes.test_failures import echo
from tests.support.sshd import Sshd
from tests.support.waiting import wait_until

LOOKS = 40
LOOK_S = 0.05

Since = Callable[[], list[threading.Thread]]


@pytest.fixture
def since() -> Since:
    """The threads that this test has started."""
    former = set(threading.enumerate())
    return lambda: [thread for thread in threading.enumerate() if thread not in former]


def read_in_a_thread(stream: Stream) -> None:
    """Wait for something that never arrives, until the link is closed."""

    def read() -> None:
        with suppress(NodeUnreachable):
            stream.read()

    threading.Thread(target=read, daemon=True).start()


def wake_ups(thread: threading.Thread) -> int:
    """How often a thread has slept so far."""
    lines = Path(f"/proc/self/task/{thread.native_id}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary"))


def test_an_idle_link_wakes_its_threads_less_often_than_twice_a_second(
    sshd: Sshd, reach: Opener, since: Since
) -> None:
    read_in_a_thread(echo(reach(sshd, io_timeout=60)))
    threads = since()
    before = sum(map(wake_ups, threads))

    for _ in range(LOOKS):
        threading.Event().wait(LOOK_S)

    assert len(threads) >= 3, "those of paramiko, of the time-outs, and of the reader"
    assert sum(map(wake_ups, threads)) - before < 2 * LOOKS * LOOK_S * len(threads)


@pytest.mark.parametrize("is_direct", [True, False], ids=["tcp", "proxy"])
def test_a_closed_link_ends_its_threads_at_once(
    sshd: Sshd, known_hosts: Path, ssh_config: Path, tmp_path: Path, since: Since, is_direct: bool
) -> None:
    trust(known_hosts, sshd)
    pipe = tmp_path / "pipe.py"
    pipe.write_text(PIPE)
    proxy = [] if is_direct else [f"ProxyCommand {sys.executable} {pipe} %p"]
    ssh_config.write_text(in_config(sshd, "idle", *proxy))
    node = connect(Address("n1", destination="idle", via="fabric"), known_hosts)
    read_in_a_thread(echo(node))

    node.close()

    wait_until(lambda: not since(), KEEPALIVE_S / 2, "all threads have ended")
