"""The location of a package's output, and pieces of it, on this machine or another."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.config import Home
from d0ctl.errors import NotFound
from d0ctl.model import STATUS_OF, Address, Phase, Status
from d0ctl.select import parse
from d0ctl.show.following import attempts_at
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.registry import address_of
from d0ctl.store.nodes.site import site_name
from d0ctl.store.views import browse, one_package

if TYPE_CHECKING:
    from d0ctl.nodes.visits.peek import AttemptReader

STREAMS = ("out", "err")


class Log(Struct):
    """The output of one attempt at a package; used by one thread, and closed by it.

    On another machine all reads share one visit. They may raise
    NodeUnreachable.
    """

    home: Home
    site: str
    address: Address
    base: str
    path: str
    attempt: int
    number: int
    attempts: tuple[int, ...]
    binaries: int
    is_live: bool
    has_failed: bool
    failed_binary: int | None = None
    last_errors: str = ""
    """The last lines of its standard error, as its node reported them."""
    _visit: "AttemptReader | None" = None
    _stack: ExitStack = field(default_factory=ExitStack)

    @property
    def is_near(self) -> bool:
        """Whether it is on this machine."""
        return self.address.kind == "local"

    @property
    def folder(self) -> str:
        """The folder of the attempt on its node; empty if that is not known."""
        return f"{self.base}/attempts/{self.attempt}" if self.base else ""

    def latest(self) -> tuple[int, str] | None:
        """Return the last binary that printed, and its stream; None if nothing was printed."""
        for number in range(self.binaries, 0, -1):
            for stream in self._streams:
                if self.size(f"{number}.{stream}"):
                    return number, stream
        return None

    @property
    def likely(self) -> tuple[int, str]:
        """The binary and stream to show first if it is not known what was printed."""
        return self.failed_binary or 1, self._streams[0]

    @property
    def _streams(self) -> tuple[str, ...]:
        """The streams in the order in which they matter: a failure says why on stderr."""
        return STREAMS[::-1] if self.has_failed else STREAMS

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Return a piece of a stream, such as `1.out`; empty if there is none."""
        with suppress(NotFound, FileNotFoundError):
            if not self.is_near:
                return self._far(name, offset, length)
            with self._file(name).open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size + offset) if offset < 0 else offset)
                return file.read(length)
        return b""

    def size(self, name: str) -> int:
        """Return the size of a stream in bytes."""
        with suppress(NotFound, FileNotFoundError):
            if not self.is_near:
                return self._here().read(name, 0, 1).size
            return self._file(name).stat().st_size
        if self.is_near and not self.is_live and not self._file(name).parent.is_dir():
            raise NotFound(f"the folder of attempt {self.number} no longer exists")
        return 0

    def tail(self, length: int) -> str:
        """Return the end of the latest output: of the last binary that has printed anything."""
        return next((text for _, text in self.tails(length)), "")

    def tails(self, length: int) -> Iterator[tuple[str, str]]:
        """Yield the ends of the streams of the last binary that has printed anything."""
        for binary in range(self.binaries, 0, -1):
            has_printed = False
            for stream in self._streams:
                if tail := self.read(f"{binary}.{stream}", -length, length):
                    whole = tail.partition(b"\n")[2] if len(tail) == length else tail
                    has_printed = True
                    yield f"std{stream}", whole.decode(errors="replace")
            if has_printed:
                return

    def again(self) -> "Log":
        """Return the same log for another thread."""
        return replace(self, _visit=None, _stack=ExitStack())

    def close(self) -> None:
        """End the visit."""
        self._stack.close()
        self._visit = None

    def _file(self, name: str) -> Path:
        return Path(self.folder, name)

    def _far(self, name: str, offset: int, length: int) -> bytes:
        first = self._here().read(name, offset, length)
        pieces = [first.data]
        at, left = first.offset + len(first.data), length - len(first.data)
        while left > 0 and pieces[-1]:
            pieces.append(self._here().read(name, at, left).data)
            at, left = at + len(pieces[-1]), left - len(pieces[-1])
        return b"".join(pieces)

    def _here(self) -> "AttemptReader":
        if self._visit is None:
            from d0ctl.nodes.visits.peek import AttemptLocation, visit

            where = AttemptLocation(
                self.home, self.site, self.address, self.base or None, self.attempt
            )
            self._visit = self._stack.enter_context(visit(where))
        return self._visit


def find(store: Store, package: str, number: int | None = None) -> Log:
    """Return the log of an attempt at a package, by default the last. Raises NotFound."""
    view = browse.package(store, parse(package))
    tries = attempts_at(store, view)
    tried = next((attempt for attempt in tries if attempt.number == number), tries[-1])
    row = registry.find(store, tried.node_name)
    if row is None:
        raise NotFound(f"node `{tried.node_name}`, where its logs were, was removed")
    is_live = tried is tries[-1] and STATUS_OF[Phase(view.phase)] is Status.LAUNCHED
    return Log(
        store.home, site_name(store), address_of(row), tried.base or row.base or "",
        view.path, tried.id, tried.number, tuple(attempt.number for attempt in tries),
        len(one_package.binaries(store, view.id)), is_live, tried.outcome == "failed",
        tried.binary, tried.stderr or "",
    )  # fmt: skip
