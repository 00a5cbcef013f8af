"""This machine as a node, and the byte stream of any process started here."""

import fcntl
import os
import resource
import select
import shutil
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from d0ctl.errors import D0Error, NodeUnreachable, NotFound
from d0ctl.nodes.transports.download import Download, Limits
from d0ctl.nodes.transports.transport import IO_TIMEOUT_S, SILENT_HINT

CHUNK = 65536
FILE_CHUNK = 1 << 20
STDERR_KEPT = 1024
LAST_WORDS_S = 1.0
"""How long an error message waits for the stderr of a process that has just ended."""
MOST_OPEN = 65_536
"""The highest limit on open files to request; some programs close every number that could be."""

_LIMIT = resource.RLIMIT_NOFILE
_previous = resource.getrlimit(_LIMIT)


class ProcessStream:
    """The stdin, stdout and stderr of a child process, which has a session of its own."""

    def __init__(
        self,
        name: str,
        command: list[str],
        *,
        folder: str | None = None,
        io_timeout: float = IO_TIMEOUT_S,
    ) -> None:
        self.name = name
        self._io_timeout = io_timeout
        self._errors = b""
        self._closed = threading.Event()
        self._reading, self._writing = threading.Lock(), threading.Lock()
        self._process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
        )
        _keep_previous(self._process.pid)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)
        self._last_words = threading.Thread(target=self._read_stderr_and_reap, daemon=True)
        self._last_words.start()

    def read(self, limit: float | None = None) -> bytes:
        """Wait for bytes, at most `limit` seconds if that is given; empty at the end."""
        with self._reading:
            if self._closed.is_set():
                return b""
            if not self._await(self._stdout.fileno(), select.POLLIN, limit):
                message = f"`{self.name}` does not answer: nothing for {limit:g} s"
                raise NodeUnreachable(message, hint=SILENT_HINT)
            if self._closed.is_set():
                return b""
            return os.read(self._stdout.fileno(), CHUNK) or self._ended()

    def write(self, data: bytes) -> None:
        """Send all of `data`; NodeUnreachable if nothing is accepted within the time-out."""
        left = memoryview(data)
        with self._writing:
            while left:
                if self._closed.is_set() or self._stdin.closed:
                    raise NodeUnreachable(f"the stream to `{self.name}` is closed")
                if not self._await(self._stdin.fileno(), select.POLLOUT, self._io_timeout):
                    raise NodeUnreachable(f"`{self.name}` took no data for {self._io_timeout:g} s")
                left = left[self._write_some(left) :]

    def forward(self, sink: object, limit: float) -> bool:
        """Pass the output of the process on to the stdin of another one, without reading it.

        Returns False, before anything was passed on, if the kernel can't.
        """
        if not isinstance(sink, ProcessStream):
            return False
        for pipe in (self._stdout, sink._stdin):
            with suppress(OSError):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, FILE_CHUNK)
        with self._reading, sink._writing:
            while not (self._closed.is_set() or sink._closed.is_set()):
                if not self._await(self._stdout.fileno(), select.POLLIN, limit):
                    raise NodeUnreachable(f"`{self.name}` sends nothing for {limit:g} s")
                if not sink._await(sink._stdin.fileno(), select.POLLOUT, limit):
                    raise NodeUnreachable(f"`{sink.name}` took no data for {limit:g} s")
                if self._splice(sink) == 0:
                    self._ended()
                    return True
        raise NodeUnreachable(f"the stream from `{self.name}` to `{sink.name}` is closed")

    def _splice(self, sink: "ProcessStream") -> int:
        try:
            return os.splice(self._stdout.fileno(), sink._stdin.fileno(), FILE_CHUNK)
        except BlockingIOError:
            return -1
        except BrokenPipeError as error:
            sink._ended()
            raise NodeUnreachable(f"the stream to `{sink.name}` has ended") from error

    def finish(self) -> None:
        """Close the process's stdin, and continue reading."""
        with self._writing:
            self._stdin.close()

    def stderr(self) -> str:
        """Return the last kilobyte of the stderr of the process."""
        return self._errors.decode(errors="replace").strip()

    def is_open(self) -> bool:
        """True until it is closed."""
        return not self._closed.is_set()

    def close(self) -> None:
        """Close the process's stdin; a reader or writer in another thread returns at once."""
        if self._closed.is_set():
            return
        self._closed.set()
        os.eventfd_write(self._wake, 1)
        with self._reading, self._writing:
            self._stdin.close()
            self._stdout.close()
            os.close(self._wake)

    def _ended(self) -> bytes:
        """Return the result of a read after stdout has ended, once stderr has been read."""
        self._last_words.join(LAST_WORDS_S)
        return b""

    def _write_some(self, data: memoryview) -> int:
        try:
            return os.write(self._stdin.fileno(), data[:CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError as error:
            self._ended()
            raise NodeUnreachable(f"the stream to `{self.name}` has ended") from error

    def _await(self, descriptor: int, event: int, limit: float | None) -> bool:
        """Wait until the pipe is ready or the stream is closed; false when time is up."""
        poll = select.poll()
        poll.register(descriptor, event)
        poll.register(self._wake, select.POLLIN)
        return bool(poll.poll(None if limit is None else limit * 1000))

    def _read_stderr_and_reap(self) -> None:
        """Read the stderr of the process, then reap it."""
        assert self._process.stderr
        with self._process.stderr as pipe:
            while chunk := pipe.read(CHUNK):
                self._errors = (self._errors + chunk)[-STDERR_KEPT:]
        self._process.wait()


class LocalTransport:
    """A node of kind `local`: processes of this machine, files copied on it."""

    def __init__(self, name: str, *, io_timeout: float = IO_TIMEOUT_S) -> None:
        self._name = name
        self._io_timeout = io_timeout
        self._streams: list[ProcessStream] = []

    def home(self) -> str:
        """Return the home directory of this user."""
        return str(Path.home())

    def start(self, command: str) -> ProcessStream:
        """Start `command` in the home directory; ctrl-C at this terminal does not reach it."""
        arguments = ["/bin/sh", "-c", command]
        try:
            stream = ProcessStream(
                self._name, arguments, folder=self.home(), io_timeout=self._io_timeout
            )
        except OSError as error:
            raise NodeUnreachable(f"`{self._name}` can't start: {error.strerror}") from error
        self._streams = [*filter(ProcessStream.is_open, self._streams), stream]
        return stream

    def put(self, source: Path, target: str) -> None:
        """Copy a file to `target`, with new folders of mode 700 and the file's mode 600."""
        try:
            make_private(Path(target).parent)
            create_private(Path(target))
            shutil.copyfile(source, target)
        except OSError as error:
            # a copy that fails halfway names its source first
            path = error.filename2 or error.filename or target
            raise file_failure(self._name, path, error) from error

    def get(self, source: str, target: Path, limits: Limits) -> None:
        """Copy the file at `source` to `target`, within the limits."""
        try:
            copy_file(source, target, limits)
        except OSError as error:
            raise file_failure(self._name, source, error) from error

    def close(self) -> None:
        """Close all streams; their processes see their stdin close."""
        for stream in self._streams:
            stream.close()


def copy_file(source: str, target: Path, limits: Limits) -> None:
    """Copy a file of this machine, within the limits; a link may lead to an endless device."""
    with open(source, "rb", buffering=0) as theirs, Download(source, target, limits) as ours:  # noqa: PTH123
        ours.expect(os.fstat(theirs.fileno()).st_size)
        while piece := theirs.read(FILE_CHUNK):
            ours.write(piece)


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents, accessible only to this user."""
    if folder.is_dir():
        return
    make_private(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)


def create_private(path: Path) -> None:
    """Make an empty file, or truncate an existing one, accessible only to this user."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    os.fchmod(descriptor, 0o600)
    os.close(descriptor)


def file_failure(name: str, path: str, error: OSError) -> D0Error:
    """Return the error of a file operation on a node that is up."""
    if isinstance(error, FileNotFoundError):
        return NotFound(f"no file `{path}` on node `{name}`")
    return D0Error(f"can't copy `{path}` on node `{name}`: {error.strerror or error}")


def allow_many() -> None:
    """Raise the limit on open files of this process as far as allowed, up to `MOST_OPEN`.

    A process that drives hundreds of nodes has several connections to each, more than the usual
    1,024. Processes that it starts keep the usual limit: programs that use `select` fail above it.
    """
    soft, hard = resource.getrlimit(_LIMIT)
    most = MOST_OPEN if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(_LIMIT, (most, hard))


def _keep_previous(pid: int) -> None:
    """Give the previous limit to a process that this one has started."""
    try:
        resource.prlimit(pid, _LIMIT, _previous)
    except ProcessLookupError:
        return  # it has ended already
