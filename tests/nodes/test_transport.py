"""What every transport does: streams and file copies, on a real sshd and on this machine."""

import os
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from d0ctl.errors import D0Error, NodeUnreachable, NotFound
from d0ctl.nodes.transports.connect import connect
from d0ctl.nodes.transports.download import Limits, NoSpace, Oversized
from d0ctl.nodes.transports.transport import Address, Stream, Transport
from tests.nodes.conftest import Opener, SshdStarter, one_plain_line
from tests.support.users import mounted, needs_root
from tests.support.waiting import wait_until

SHELLS = ["sh", "bash", "tcsh", "fish"]
SSH = ["fabric", "openssh"]
NOISE = {".bashrc": "bash", ".cshrc": "tcsh", ".config/fish/config.fish": "fish"}


@pytest.fixture(params=["local", *SSH])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Transport:
    """A node of each kind."""
    if request.param == "local":
        transport = connect(Address("n1", kind="local"), tmp_path / "none")
        request.addfinalizer(transport.close)
        return transport
    sshd, reach = (request.getfixturevalue(name) for name in ("sshd", "reach"))
    opened: Transport = reach(sshd, request.param)
    return opened


def read_until(stream: Stream, wanted: bytes, limit: float | None = None) -> bytes:
    """All that comes up to and with `wanted`, none of it more than `limit` seconds late."""
    came = b""
    while wanted not in came:
        piece = stream.read(limit)
        assert piece, came
        came += piece
    return came


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_stream_goes_both_ways(node: Transport) -> None:
    stream = node.start("exec cat")

    stream.write(b"one\n")
    assert stream.read() == b"one\n"
    stream.write(bytes(range(256)))
    assert read_until(stream, b"\xff") == bytes(range(256))


def test_more_than_any_buffer_goes_through(node: Transport) -> None:
    stream = node.start("exec cat")
    data = os.urandom(8_000_000)
    writer = in_thread(lambda: stream.write(data))

    came = b""
    while len(came) < len(data):
        came += stream.read()

    writer.join()
    assert came == data


def test_a_stream_ends_when_the_process_does(node: Transport) -> None:
    stream = node.start("echo last words")

    assert read_until(stream, b"words\n") == b"last words\n"
    assert stream.read() == b""
    assert stream.read() == b""


def test_the_process_sees_its_stdin_close(node: Transport, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"echo ready; cat; echo end > {tmp_path}/seen\n")
    stream = node.start(f"exec sh {script}")
    read_until(stream, b"ready\n")

    stream.close()

    wait_until((tmp_path / "seen").exists)


def test_closing_frees_a_reader_at_once(node: Transport) -> None:
    stream = node.start("exec cat")
    stream.write(b"x")
    assert stream.read() == b"x"
    came: list[bytes] = []
    reader = in_thread(lambda: came.append(stream.read()))

    stream.close()

    reader.join(5)
    assert came == [b""]


def test_writing_to_a_closed_stream_is_an_error(node: Transport) -> None:
    stream = node.start("exec cat")
    stream.close()

    with pytest.raises(NodeUnreachable) as failure:
        stream.write(b"x")
    assert one_plain_line(str(failure.value))


def test_stderr_keeps_its_last_kilobyte_and_blocks_nothing(node: Transport, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo the end >&2; echo done\n")
    stream = node.start(f"exec sh {script}")

    assert read_until(stream, b"done\n", limit=50) == b"done\n"
    assert stream.read() == b""
    assert len(stream.stderr()) <= 1024
    assert stream.stderr().endswith("x" * 100 + "the end")


def test_eight_streams_work_at_once(node: Transport) -> None:
    def talk(number: int) -> bool:
        stream = node.start("exec cat")
        lines = [b"%d %d\n" % (number, line) for line in range(200)]
        came = b""
        for line in lines:
            stream.write(line)
            came += read_until(stream, b"\n")
        return came == b"".join(lines)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(talk, range(8)))


def test_home_is_absolute_and_there(node: Transport) -> None:
    assert Path(node.home()).is_absolute()
    assert Path(node.home()).is_dir()


def test_a_file_goes_there_and_comes_back(node: Transport, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "new/folders/it's here"
    source.write_bytes(os.urandom(3_000_001))
    source.chmod(0o644)

    node.put(source, str(target))
    node.get(str(target), tmp_path / "back", Limits())

    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "new/folders").stat().st_mode) == 0o700


def test_an_empty_file_is_a_file_too(node: Transport, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()

    node.put(tmp_path / "empty", str(tmp_path / "there"))
    node.get(str(tmp_path / "there"), tmp_path / "back", Limits())

    assert (tmp_path / "back").read_bytes() == b""


def test_putting_replaces_what_is_there(node: Transport, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("longer than before")
    (tmp_path / "there").chmod(0o644)
    (tmp_path / "source").write_text("short")

    node.put(tmp_path / "source", str(tmp_path / "there"))

    assert (tmp_path / "there").read_text() == "short"
    assert stat.S_IMODE((tmp_path / "there").stat().st_mode) == 0o600


def test_a_file_that_is_not_there_is_not_found(node: Transport, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as failure:
        node.get(str(tmp_path / "none"), tmp_path / "back", Limits())

    assert one_plain_line(str(failure.value))
    assert node.start("exec cat")


def test_an_endless_file_ends_the_copy_at_once(node: Transport, tmp_path: Path) -> None:
    (tmp_path / "endless").symlink_to("/dev/zero")

    with pytest.raises(NotFound) as failure:
        node.get(str(tmp_path / "endless"), tmp_path / "back", Limits(10))

    assert one_plain_line(str(failure.value))
    assert not (tmp_path / "back").exists() or (tmp_path / "back").stat().st_size <= 10


def test_a_file_larger_than_declared_is_not_copied(node: Transport, tmp_path: Path) -> None:
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 1 << 40)

    with pytest.raises(Oversized, match="larger than its 10 bytes"):
        node.get(str(tmp_path / "large"), tmp_path / "back", Limits(10))

    assert not (tmp_path / "back").exists() or (tmp_path / "back").stat().st_size <= 10


def test_a_file_without_a_declared_size_leaves_the_reserve_free(
    node: Transport, tmp_path: Path
) -> None:
    (tmp_path / "source").write_bytes(b"x")

    with pytest.raises(NoSpace) as failure:
        node.get(str(tmp_path / "source"), tmp_path / "back", Limits(None, 1 << 60))

    assert one_plain_line(str(failure.value))


def test_an_impossible_target_fails_only_its_file(node: Transport, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("x")

    with pytest.raises(D0Error) as failure:
        node.put(tmp_path / "source", str(tmp_path / "source/below"))

    assert not isinstance(failure.value, NodeUnreachable)
    node.put(tmp_path / "source", str(tmp_path / "there"))


def test_simultaneous_copies_do_not_interfere(node: Transport, tmp_path: Path) -> None:
    def copy(number: int) -> bool:
        source, back = tmp_path / f"source{number}", tmp_path / f"back{number}"
        source.write_bytes(os.urandom(100_000))
        node.put(source, str(tmp_path / f"there{number}"))
        node.get(str(tmp_path / f"there{number}"), back, Limits())
        return source.read_bytes() == back.read_bytes()

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(copy, range(6)))


@pytest.mark.parametrize("via", SSH)
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("sftp", [True, False], ids=["sftp", "no-sftp"])
def test_any_login_shell_works_even_one_that_prints(
    start_sshd: SshdStarter, reach: Opener, tmp_path: Path, via: str, shell: str, sftp: bool
) -> None:
    sshd = start_sshd(shell=shell, sftp=sftp)
    for name in NOISE:
        path = sshd.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("echo welcome to the farm\n")
    script = sshd.home / "d0.ctl_1/hello-1.sh"

    node = reach(sshd, via)
    (tmp_path / "source").write_text("echo script says hello\ncat\n")
    node.put(tmp_path / "source", str(script))
    node.get(str(script), tmp_path / "back", Limits())
    stream = node.start(f"exec sh {script}")
    stream.write(b"and so do we\n")
    said = read_until(stream, b"we\n")

    assert node.home() == str(sshd.home)
    assert (tmp_path / "back").read_text() == script.read_text()
    assert said.endswith(b"script says hello\nand so do we\n")
    assert (b"welcome" in said) == (shell in NOISE.values())


@needs_root
def test_a_full_disk_of_this_machine_is_reported_with_the_path(
    tmp_path: Path,
) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(1 << 20))
    transport = connect(Address("n1", kind="local"), tmp_path / "none")

    with mounted(tmp_path / "disk", "64k") as disk, pytest.raises(D0Error) as failure:
        transport.put(source, str(disk / "target"))
    transport.close()

    assert str(failure.value) == (
        f"can't copy `{disk}/target` on node `n1`: No space left on device"
    )
