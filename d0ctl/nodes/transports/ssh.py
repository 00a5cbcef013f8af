"""The transport by fabric: streams and file copies over one connection, all with time-outs."""

import logging
import math
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import paramiko

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes.transports.download import Download, Limits
from d0ctl.nodes.transports.local import STDERR_KEPT, file_failure
from d0ctl.nodes.transports.shell_commands import copy_in, copy_out, home_of_account
from d0ctl.nodes.transports.time_out import Watch
from d0ctl.nodes.transports.transport import IO_TIMEOUT_S, SILENT_HINT

log = logging.getLogger(__name__)

CHUNK = 32768
MOST_READ = 1 << 20
READ_AHEAD = 64
FILE_SESSIONS = 3
"""Concurrent file copies; sshd allows ten sessions per connection."""


@cache
def quiet_reader_threads() -> None:
    """Log one line, without a traceback, if a read-ahead thread of the library ends early.

    The reader gets the same error.
    """
    others = threading.excepthook

    def hook(end: threading.ExceptHookArgs) -> None:
        last = traceback.extract_tb(end.exc_traceback)[-1:]
        if last and Path(paramiko.__file__).parent in Path(last[0].filename).parents:
            log.info("reading ahead ended: %s", end.exc_value)
        else:
            others(end)

    threading.excepthook = hook


def arrivals(channel: paramiko.Channel) -> threading.Event:
    """Return an event that the buffers of a channel set, for data as for the end.

    A buffer also clears its event, although the other may have data: only the reader may.
    """
    arrived = threading.Event()
    for buffer in (channel.in_buffer, channel.in_stderr_buffer):
        buffer.set_event(SimpleNamespace(set=arrived.set, clear=lambda: None))
    return arrived


class ChannelStream:
    """The stream of one remote process over an ssh channel."""

    def __init__(self, node: "FabricTransport", channel: paramiko.Channel) -> None:
        self._node, self._channel = node, channel
        self._arrived = arrivals(channel)
        self._errors = b""
        self._closed = False

    def read(self, limit: float | None = None) -> bytes:
        """Wait for bytes, at most `limit` seconds if that is given; empty at the end.

        Stderr wakes it too: the process stops when its stderr fills the window of the channel.
        """
        deadline = None if limit is None else time.monotonic() + limit
        while not self._closed:
            self._arrived.clear()
            self._keep_errors()
            if self._channel.recv_ready() or self._channel.eof_received or self._channel.closed:
                return self._received()
            if not self._arrived.wait(None if deadline is None else deadline - time.monotonic()):
                raise self._node.silent()
        return b""

    def _received(self) -> bytes:
        data: bytes = self._channel.recv(MOST_READ)
        if data or self._closed or self._is_ended():
            return data
        raise self._node.broken()

    def write(self, data: bytes) -> None:
        """Send all of `data`; NodeUnreachable if nothing is accepted within the time-out."""
        left = memoryview(data)
        with self._node.operation() as get_on:
            while left:
                with suppress(TimeoutError):
                    sent = self._channel.send(bytes(left[:CHUNK]))
                    left = left[sent:]
                    get_on()

    def finish(self) -> None:
        """Close the stdin of the process, and continue reading."""
        with self._node.operation():
            self._channel.shutdown_write()

    def stderr(self) -> str:
        """Return the last kilobyte of the stderr of the process."""
        self._keep_errors()
        return self._errors.decode(errors="replace").strip()

    def close(self) -> None:
        """Close the channel; a reader or writer in another thread returns at once."""
        self._closed = True
        with suppress(NodeUnreachable), self._node.operation():
            self._channel.close()

    def _is_ended(self) -> bool:
        """Return whether the process has ended, rather than the connection."""
        return bool(self._channel.eof_received) or self._channel.exit_status >= 0

    def _keep_errors(self) -> None:
        while self._channel.recv_stderr_ready():
            self._errors = (self._errors + self._channel.recv_stderr(CHUNK))[-STDERR_KEPT:]


class FabricTransport:
    """A node at the end of an open connection; `release` closes everything that belongs to it."""

    def __init__(
        self,
        name: str,
        transport: paramiko.Transport,
        release: Callable[[], None],
        *,
        io_timeout: float = IO_TIMEOUT_S,
    ) -> None:
        quiet_reader_threads()
        self._name, self._transport, self._release = name, transport, release
        self._watch = Watch(io_timeout, transport.close)
        self._file_sessions = threading.BoundedSemaphore(FILE_SESSIONS)
        self._idle: list[paramiko.SFTPClient] = []
        self._has_sftp = True

    def home(self) -> str:
        """Return the home directory that the login shell has there."""
        return home_of_account(self, self._name, self._watch.limit)

    def start(self, command: str) -> ChannelStream:
        """Start `command` through the login shell."""
        with self.operation():
            channel = self._transport.open_session(timeout=math.inf)
            channel.exec_command(command)
        return ChannelStream(self, channel)

    def put(self, source: Path, target: str) -> None:
        """Copy a file to `target`, with new folders of mode 700 and the file's mode 600."""
        try:
            self._put(source, target)
        except NodeUnreachable:
            raise
        except D0Error:
            if not source.is_file():
                raise
            copy_in(self, source, target, self._watch.limit)  # unlike SFTP, it names the cause

    def _put(self, source: Path, target: str) -> None:
        with self._files() as files, self.operation(target) as get_on:
            if files:
                make_private(files, PurePosixPath(target).parent)
                return send(files, source, target, get_on)
        return copy_in(self, source, target, self._watch.limit)

    def get(self, source: str, target: Path, limits: Limits) -> None:
        """Copy the file at `source` to `target`, within the limits."""
        with self._files() as files, self.operation(source) as get_on:
            if files:
                return fetch(files, source, Download(source, target, limits), get_on)
        return copy_out(self, source, Download(source, target, limits), self._watch.limit)

    def close(self) -> None:
        """Close the connection and all hosts on the route; streams end."""
        self._watch.stop()
        self._release()

    @contextmanager
    def operation(self, path: str = "") -> Iterator[Callable[[], None]]:
        """Limit the time of the block, and turn its errors into those of the node or the file."""
        try:
            with self._watch.over() as get_on:
                yield get_on
        except (paramiko.SSHException, paramiko.SFTPError, OSError, EOFError) as error:
            raise self._failure(path, error) from error

    def broken(self) -> NodeUnreachable:
        """Return the error of a broken connection."""
        return NodeUnreachable(f"the connection to `{self._name}` broke")

    def silent(self) -> NodeUnreachable:
        """Return the error of a node that sends nothing."""
        return NodeUnreachable(
            f"`{self._name}` does not answer: nothing moved for {self._watch.limit:g} s",
            hint=SILENT_HINT,
        )

    def _failure(self, path: str, error: Exception) -> D0Error:
        if self._watch.is_expired or isinstance(error, TimeoutError):
            return self.silent()
        if not self._transport.is_active():
            return self.broken()
        if isinstance(error, paramiko.ChannelException):
            return NodeUnreachable(
                f"`{self._name}` opens no more sessions (MaxSessions of its sshd)"
            )
        if path and isinstance(error, OSError):
            return file_failure(self._name, path, error)
        reason = str(error).rstrip(".").lower() or "it closed the connection"
        return NodeUnreachable(f"the stream to `{self._name}` has ended: {reason}")

    @contextmanager
    def _files(self) -> Iterator[paramiko.SFTPClient | None]:
        """Yield a file session for one copy; None if sshd has no sftp."""
        if not self._has_sftp:
            yield None
            return
        with self._file_sessions:
            files = self._idle.pop() if self._idle else self._open_files()
            try:
                yield files
            except BaseException:
                if files:
                    files.close()
                raise
            if files:
                self._idle.append(files)

    def _open_files(self) -> paramiko.SFTPClient | None:
        with self.operation():
            channel = self._transport.open_session(timeout=math.inf)
            channel.settimeout(self._watch.limit)
            try:
                channel.invoke_subsystem("sftp")
                return paramiko.SFTPClient(channel)
            except (paramiko.SSHException, paramiko.SFTPError):
                if not self._transport.is_active():
                    raise
                channel.close()
                self._has_sftp = False
                return None


def make_private(files: paramiko.SFTPClient, folder: PurePosixPath) -> None:
    """Make a folder and its missing parents, accessible only to this user."""
    with suppress(FileNotFoundError):
        files.stat(str(folder))
        return
    make_private(files, folder.parent)
    with suppress(OSError):  # another copy may have made it; if not, the file can't be written
        files.mkdir(str(folder), 0o700)


def send(files: paramiko.SFTPClient, source: Path, target: str, get_on: Callable[[], None]) -> None:
    """Write a file without waiting for each piece, and check that all of it has arrived."""
    with source.open("rb") as ours, files.open(target, "wb") as theirs:
        theirs.chmod(0o600)
        theirs.set_pipelined(True)
        while piece := ours.read(CHUNK):
            theirs.write(piece)
            get_on()
        sent = ours.tell()
    arrived = files.stat(target).st_size
    if arrived != sent:
        raise OSError(0, f"only {arrived} of {sent} bytes arrived")


def fetch(
    files: paramiko.SFTPClient, source: str, target: Download, get_on: Callable[[], None]
) -> None:
    """Read a file with requests ahead, and check that all of it has arrived.

    The requests are planned for the whole size, which a node can invent: it is checked first.
    """
    with files.open(source, "rb") as theirs, target:
        size = theirs.stat().st_size or 0
        target.expect(size)
        theirs.prefetch(size, READ_AHEAD)
        while piece := theirs.read(CHUNK):
            target.write(piece)
            get_on()
    if target.size != size:
        raise OSError(0, f"only {target.size} of {size} bytes came")
