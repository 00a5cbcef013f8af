"""A node that goes away in the middle: frozen, cut off, or without room for more."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import paramiko
import pytest

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes.transports import ssh
from d0ctl.nodes.transports.download import Limits
from d0ctl.nodes.transports.transport import Stream, Transport
from tests.nodes.conftest import Opener, one_plain_line, trust
from tests.support.sshd import Sshd
from tests.support.waiting import wait_until

IO_TIMEOUT = 1.0
SOON_S = 15.0
SSH = pytest.mark.parametrize("via", ["fabric", "openssh"])


def fails_soon(work: Callable[[], object]) -> str:
    """The plain line with which `work` fails, well before anyone loses patience."""
    began = time.monotonic()
    with pytest.raises(NodeUnreachable) as failure:
        work()
    assert time.monotonic() - began < SOON_S
    assert one_plain_line(str(failure.value))
    return str(failure.value)


def echo(node: Transport) -> Stream:
    """A stream that has answered once."""
    stream = node.start("exec cat")
    stream.write(b"x")
    assert stream.read() == b"x"
    return stream


@SSH
def test_a_frozen_node_fails_a_write(sshd: Sshd, reach: Opener, via: str) -> None:
    stream = echo(reach(sshd, via, io_timeout=IO_TIMEOUT))
    sshd.freeze()

    fails_soon(lambda: stream.write(bytes(30_000_000)))


@SSH
def test_a_frozen_node_fails_file_copies(
    sshd: Sshd, reach: Opener, tmp_path: Path, via: str
) -> None:
    node = reach(sshd, via, io_timeout=2 * IO_TIMEOUT)
    (tmp_path / "source").write_bytes(bytes(20_000_000))
    node.put(tmp_path / "source", str(tmp_path / "there"))
    sshd.freeze()

    fails_soon(lambda: node.put(tmp_path / "source", str(tmp_path / "there")))
    fails_soon(lambda: node.get(str(tmp_path / "there"), tmp_path / "back", Limits()))
    fails_soon(node.home)


def test_a_frozen_node_fails_a_start(sshd: Sshd, reach: Opener) -> None:
    node = reach(sshd, io_timeout=IO_TIMEOUT)
    sshd.freeze()

    fails_soon(lambda: node.start("exec cat"))


@SSH
def test_a_node_frozen_from_the_start_fails_in_time(sshd: Sshd, reach: Opener, via: str) -> None:
    sshd.freeze()

    fails_soon(lambda: reach(sshd, via, connect_timeout=1))


def test_a_frozen_write_fails_readers_and_other_streams(sshd: Sshd, reach: Opener) -> None:
    node = reach(sshd, io_timeout=IO_TIMEOUT)
    streams = [echo(node) for _ in range(3)]
    sshd.freeze()
    said: list[str] = []
    readers = [
        threading.Thread(target=lambda s=stream: said.append(fails_soon(s.read)))
        for stream in streams
    ]
    for reader in readers:
        reader.start()

    fails_soon(lambda: streams[0].write(bytes(30_000_000)))

    for reader in readers:
        reader.join(SOON_S)
    assert len(said) == 3


@SSH
def test_a_pause_shorter_than_the_time_out_harms_nothing(
    sshd: Sshd, reach: Opener, via: str
) -> None:
    stream = echo(reach(sshd, via))
    sshd.freeze()
    data = os.urandom(1_000_000)
    writer = threading.Thread(target=stream.write, args=[data])
    writer.start()

    sshd.thaw()

    came = b""
    while len(came) < len(data):
        came += stream.read()
    writer.join()
    assert came == data


@SSH
def test_a_silent_process_is_waited_for(sshd: Sshd, reach: Opener, via: str) -> None:
    stream = reach(sshd, via, io_timeout=IO_TIMEOUT).start("exec sleep 2")
    began = time.monotonic()

    assert stream.read() == b""
    assert time.monotonic() - began > IO_TIMEOUT


@SSH
def test_a_cut_connection_is_no_end_of_a_stream(sshd: Sshd, reach: Opener, via: str) -> None:
    stream = echo(reach(sshd, via))

    sshd.cut()

    assert "broke" in fails_soon(stream.read)
    fails_soon(lambda: stream.write(bytes(30_000_000)))


@SSH
def test_a_cut_connection_fails_a_reader_that_waits(sshd: Sshd, reach: Opener, via: str) -> None:
    stream = echo(reach(sshd, via))
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.append(fails_soon(stream.read)))
    reader.start()

    sshd.cut()

    reader.join(SOON_S)
    assert said


def test_a_library_thread_that_ends_with_its_link_takes_a_line_and_ours_a_traceback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answer: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda end: answer.append(str(end.exc_value)))
    ssh.quiet_reader_threads.__wrapped__()

    with caplog.at_level("INFO"):
        for work in (lambda: paramiko.RSAKey(filename="/no/such/key"), lambda: 1 / 0):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()

    assert "No such file" in caplog.text and "Traceback" not in caplog.text
    assert answer == ["division by zero"]


@SSH
def test_after_a_cut_everything_fails_and_a_new_connection_works(
    sshd: Sshd, reach: Opener, tmp_path: Path, via: str
) -> None:
    node = reach(sshd, via)
    (tmp_path / "source").write_text("x")
    node.put(tmp_path / "source", str(tmp_path / "there"))
    sshd.cut()

    fails_soon(lambda: node.put(tmp_path / "source", str(tmp_path / "there")))
    fails_soon(node.home)
    node.close()

    assert reach(sshd, via).home() == str(sshd.home)


@SSH
def test_a_closed_transport_ends_its_streams(sshd: Sshd, reach: Opener, via: str) -> None:
    node = reach(sshd, via)
    stream = echo(node)

    node.close()

    with pytest.raises(D0Error):
        stream.write(b"x")


def test_more_sessions_than_sshd_has_room_for_are_named(sshd: Sshd, reach: Opener) -> None:
    node = reach(sshd)
    streams = [echo(node) for _ in range(10)]

    assert "MaxSessions" in fails_soon(lambda: node.start("exec cat"))
    streams[0].write(b"y")
    assert streams[0].read() == b"y"


@SSH
def test_no_process_outlives_a_killed_driver(sshd: Sshd, known_hosts: Path, via: str) -> None:
    trust(known_hosts, sshd)
    words = [sshd.destination, str(sshd.identity), via, str(known_hosts)]
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, *words], stdout=subprocess.PIPE)
    assert victim.stdout
    folder = Path(victim.stdout.readline().decode().strip())

    victim.kill()

    victim.wait()
    victim.stdout.close()
    wait_until(lambda: not sshd.connections() and not folder.exists())


VICTIM = """
import sys
from pathlib import Path
from d0ctl.nodes.transports.connect import connect
from d0ctl.nodes.transports.download import Limits
from d0ctl.nodes.transports.transport import Address
destination, identity, via, known_hosts = sys.argv[1:]
node = connect(Address("n", "ssh", destination, identity, via=via), Path(known_hosts))
stream = node.start("exec cat")
stream.write(b"ready")
assert stream.read() == b"ready"
print(getattr(node, "_folder", "/none"), flush=True)
stream.read()
"""


@SSH
def test_closing_a_frozen_node_does_not_take_long(sshd: Sshd, reach: Opener, via: str) -> None:
    node = reach(sshd, via, io_timeout=IO_TIMEOUT)
    stream = echo(node)
    sshd.freeze()
    began = time.monotonic()

    stream.close()
    node.close()

    assert time.monotonic() - began < SOON_S
