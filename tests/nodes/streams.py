"""Files in the caches of nodes, and copies of them, for tests of streams."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import d0ctl_wrapper
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier
from d0ctl_wrapper.protocol import file_stream
from tests.support.sshd import Sshd
from tests.support.waiting import descendants, proc


def made(courier: Courier, name: str, data: bytes) -> Path:
    """A file in the cache of a node."""
    path = Path(courier.open_link().base, "cache", "7", name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o400)
    return path


def copy_of(path: Path, target: Courier, data: bytes) -> Copy:
    """A copy of a file that was made with these contents."""
    to = f"{target.open_link().base}/cache/in/9/{path.name}"
    return Copy(str(path), to, len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")


def leftovers(courier: Courier) -> list[str]:
    """What is still aside on a node."""
    return [path.name for path in Path(courier.open_link().base, "cache/aside").iterdir()]


def large(size: int = 3 * file_stream.RESUMED) -> bytes:
    """Contents of a large file."""
    return os.urandom(1 << 20) * (size >> 20)


def receive(copy: Copy, courier: Courier, sent: bytes) -> "subprocess.CompletedProcess[bytes]":
    """Run a receiver for one file, whose sender ends after these bytes."""
    file = {"path": copy.target, "size": copy.size, "checksum": copy.checksum}
    order = {"nonce": "n", "base": courier.open_link().base, "files": [file]}
    said = file_stream.encode(order) + b"Welcome!\n" + file_stream.greet("n") + sent
    folder = str(Path(d0ctl_wrapper.__path__[0]).parent)
    words = [sys.executable, "-S", "-m", "d0ctl_wrapper", "receive"]
    return subprocess.run(
        words, input=said, capture_output=True, timeout=60, env={"PYTHONPATH": folder}
    )


def entry(size: int) -> bytes:
    """The line before a file."""
    return file_stream.encode({"size": size, "executable": False, "fault": "", "message": ""})


def stream_processes(sshd: Sshd) -> list[int]:
    """The processes on a node that wait for orders to send or receive."""
    return sorted(_waiting(sshd))


def _waiting(sshd: Sshd) -> Iterator[int]:
    for process in descendants(sshd.pid):
        with suppress(OSError):
            if proc(process.number, "cmdline").endswith(b"\0streams\0"):
                yield process.number
