"""A link to a running relay: frames to it and from it (docs/protocol.md)."""

import os
import secrets
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from d0ctl.errors import NodeUnreachable
from d0ctl.model import ALL_PROCESSORS, CANNOT_RUN, DIRECT, NEWER_HOME, OTHER_DAEMON, Processors
from d0ctl.nodes import frame_checks, ship
from d0ctl.nodes.frame_checks import Frame
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl.nodes.transports.transport import CONNECT_TIMEOUT_S, Address, Stream, Transport
from d0ctl_wrapper.protocol.frames import LONGEST
from d0ctl_wrapper.protocol.lease import LEASE_S
from d0ctl_wrapper.protocol.requests import KEEP_LOGS_S

__all__ = ["Frame", "Link", "Site", "base_of", "open_link"]

MOST_ATTEMPTS = 1_000_000
"""A relay that lists more attempts than this is not d0ctl's."""

MOST_TOLD = 500
"""How many characters of a relay's fault are kept."""

_REFUSALS = {"driven": OTHER_DAEMON, "superseded": NEWER_HOME}
"""The frames with which a relay refuses a daemon, and how to say so."""

SILENCE_S = 120
"""A relay that receives nothing for this many seconds ends."""


class Site(Struct, frozen=True):
    """What a link needs from the home: its name on nodes, its paths, its settings."""

    name: str
    nodes: Path
    known_hosts: Path
    dropbox: Path
    lease: float = LEASE_S
    """How many seconds an attempt without contact may change things outside its folder."""
    keep_logs: float = KEEP_LOGS_S
    """How many seconds the logs of an attempt stay on its node."""
    driver: str = ""
    """The host and home of the daemon, which other daemons of the site are shown."""
    restored: float = 0.0
    """When the home was last restored from a backup; 0 if never."""
    reserve: int | None = None
    """How many bytes downloads leave free on the disk here; None is the default."""


def base_of(address: Address, site: Site, home: str) -> str:
    """Return the folder that holds all files of this site on a node."""
    own = str(site.nodes) if address.kind == "local" else f"{home.rstrip('/')}/.d0ctl"
    top = address.directory or own
    # A relay refuses paths with `..`.
    return os.path.normpath(f"{top.rstrip('/')}/{site.name}/{address.name}")


class DrivenByOther(NodeUnreachable):
    """A node that another daemon of this site drives, or a home that is newer."""


class RelayFault(NodeUnreachable):
    """A relay that reports why it can't work."""


class Link:
    """An open relay. `send` may be used from several threads, `frames` from one."""

    def __init__(self, transport: Transport, stream: Stream, base: str) -> None:
        self.transport = transport
        self.base = base
        self.facts: dict[str, Any] = {}
        """What the node reports about itself."""
        self.attempts: dict[int, str] = {}
        """The attempts that the relay found, with their states."""
        self.cached: tuple[int, ...] = ()
        """Attempts that have a folder in the cache there, a bounded number."""
        self.number = 0
        """Which of a courier's links this is."""
        self.program = ""
        """The command that runs the wrapper's code there, without its last word."""
        self.idle: deque[tuple[float, Stream]] = deque()
        """Ends of streams of files that wait for an order, and since when."""
        self._stream = stream
        self._sending = threading.Lock()
        self._whole: deque[bytes] = deque()
        self._pieces: list[bytes] = []
        self._size = 0

    def send(self, frame: Frame) -> None:
        """Send a frame. Raises NodeUnreachable."""
        with self._sending:
            for line in frame_checks.write(frame):
                self._stream.write(line)

    def frames(self) -> Iterator[Frame]:
        """Yield frames until the relay ends. Raises NodeUnreachable."""
        for line in self._lines():
            if frame := frame_checks.read(line):
                yield frame

    def batches(self) -> Iterator[list[Frame]]:
        """Yield lists of frames that arrived together. Raises NodeUnreachable."""
        for line in self._lines():
            lines = [line, *self._whole]
            self._whole.clear()
            yield [frame for line in lines if (frame := frame_checks.read(line))]

    def greet(self, hello: Frame) -> None:
        """Exchange hellos; output of a login shell before the relay's answer is discarded."""
        nonce = secrets.token_hex(16)
        self.send({"kind": "hello", "nonce": nonce, **hello})
        mark = f"d0ctl {nonce}".encode()
        for line in self._lines():
            if line.rstrip().endswith(mark):  # the output before it may have no line end
                break
        for frame in self.frames():
            if frame["kind"] == "fault":
                raise RelayFault(str(frame.get("message"))[:MOST_TOLD])
            if frame["kind"] in _REFUSALS:
                raise DrivenByOther(f"{_REFUSALS[frame['kind']]}{frame['driver'][:MOST_TOLD]}")
            if frame["kind"] == "hello":
                self.facts = frame["facts"]
                self.cached = tuple(frame["cached"])
            elif frame["kind"] == "messages":
                # A relay sends each message once on a link: one ignored here would stay there.
                raise NodeUnreachable("the relay sent messages before its hello")
            elif frame["kind"] != "listed" or not self.facts:
                continue
            self._list(frame["attempts"])
            if not frame["more"]:
                return
        raise NodeUnreachable(self._stream.stderr() or "the relay ended at once")

    def _list(self, entries: list[Frame]) -> None:
        self.attempts.update((entry["attempt"], sys.intern(entry["state"])) for entry in entries)
        if len(self.attempts) > MOST_ATTEMPTS:
            raise NodeUnreachable(f"the relay lists more than {MOST_ATTEMPTS} attempts")

    @contextmanager
    def bounded(self, seconds: float) -> Iterator[None]:
        """Close the stream if the block takes longer."""
        timer = threading.Timer(seconds, self._stream.close)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def wait_for_end(self) -> None:
        """Wait until the other side has ended, discarding its output."""
        for _ in self._lines():
            pass
        self._stream.close()

    def close(self) -> None:
        """Close the relay and the connection; wrappers continue."""
        self._stream.close()
        self.transport.close()

    def _lines(self) -> Iterator[bytes]:
        while True:
            while self._whole:
                yield self._whole.popleft()
            data = self._stream.read()
            if not data:
                return
            self._size += len(data)
            if self._size > LONGEST and b"\n" not in data:
                raise NodeUnreachable("the relay sent an endless line")
            self._pieces.append(data)
            if b"\n" in data:
                *lines, rest = b"".join(self._pieces).split(b"\n")
                self._whole.extend(lines)
                self._pieces, self._size = [rest], len(rest)


def open_link(
    address: Address,
    site: Site,
    *,
    processors: Processors = ALL_PROCESSORS,
    visit: bool = False,
    aside: bool = False,
    base: str | None = None,
) -> Link:
    """Connect to a node and start its relay, after copying the wrapper if the node lacks it.

    With `visit` the relay is read-only; `aside` keeps messages on the node, whatever its kind;
    `base` is d0ctl's folder there, if a new relay would take another one.
    Raises NodeUnreachable.
    """
    transport = reach(address, site)
    try:
        base = base or base_of(address, site, transport.home())
        hello = {
            "base": base, **processors._asdict(), "read_only": visit,
            "elsewhere": address.job == DIRECT, "silence": SILENCE_S, "keep_logs": site.keep_logs,
            "driver": site.driver, "restored": site.restored,
            "spool": str(site.dropbox) if address.kind == "local" and not aside else None,
        }  # fmt: skip
        return _start(address, transport, base, hello)
    except BaseException:
        transport.close()
        raise


def reach(address: Address, site: Site) -> Transport:
    """Connect to a node. Raises NodeUnreachable."""
    if address.kind == "local":
        return LocalTransport(address.name)
    from d0ctl.nodes.transports.connect import connect

    return connect(address, site.known_hosts)


def _start(address: Address, transport: Transport, base: str, hello: Frame) -> Link:
    """Start the relay with the first python that can run it; copy it there if none has it.

    Raises NodeUnreachable with the error of each python.
    """
    path, renamed = f"{base}/bin/{ship.file_name()}", ""
    pythons = ship.pythons(address)
    is_absent = address.kind == "local" and not Path(path).exists()
    for shipped in (True,) if is_absent else (False, True):
        if shipped:
            renamed = ship.copy(address, transport, path)
        failures: list[NodeUnreachable] = []
        for python in pythons:
            try:
                return _greeted(transport, ship.command(address, python, path), base, hello)
            except DrivenByOther:
                raise
            except NodeUnreachable as error:
                failures.append(error)
    if cause := ship.not_renamed(renamed):
        raise ship.cannot_keep(address, path, cause) from failures[0]
    said = [f"`{python}`: {error}" for python, error in zip(pythons, failures, strict=True)]
    message = f"node `{address.name}` {CANNOT_RUN}: {'; '.join(said)}"
    hint = failures[0].hint or _hint_at_python(address, failures)
    raise NodeUnreachable(message, hint=hint) from failures[0]


def _hint_at_python(address: Address, failures: Sequence[NodeUnreachable]) -> str | None:
    """Return how to name another python; None if one has run the relay."""
    if address.kind == "local" or any(isinstance(error, RelayFault) for error in failures):
        return None
    where = "--python of `node add`, or `python` in the site file,"
    return f"{where} names a Python 3.6 or newer on the node; see `d0ctl help node add`"


def _greeted(transport: Transport, command: str, base: str, hello: Frame) -> Link:
    stream = transport.start(command)
    link = Link(transport, stream, base)
    link.program = command.removesuffix(" relay")
    with link.bounded(CONNECT_TIMEOUT_S):
        try:
            link.greet(hello)
        except (RelayFault, DrivenByOther):
            stream.close()
            raise
        except NodeUnreachable as error:
            stream.close()
            raise NodeUnreachable(stream.stderr() or str(error)) from error
    return link
