"""Where the output of a package lies, and pieces of it, on this machine or another."""

from collections.abc import Callable
from dataclasses import dataclass

from d0ctl.config import Home
from d0ctl.errors import D0Error, NotFound
from d0ctl.model import STATUS_OF, Address, Phase, Status
from d0ctl.select import parse
from d0ctl.store import browse
from d0ctl.store.connection import Store
from d0ctl.store.nodes import address_of

STREAMS = ("out", "err")


@dataclass(frozen=True, slots=True)
class Log:
    """The output of one attempt at a package."""

    home: Home
    address: Address
    base: str
    path: str
    attempt: int
    number: int
    attempts: tuple[int, ...]
    binaries: int
    is_live: bool

    @property
    def is_near(self) -> bool:
        """Whether it lies on this machine."""
        return self.address.kind == "local"

    def read(self, name: str, offset: int, length: int) -> bytes:
        """A piece of a stream, such as `1.out`; nothing where there is none."""
        from d0ctl.nodes.peek import read_log

        try:
            return read_log(
                self.home, self.address, self.base, self.attempt, name, offset, length
            )  # fmt: skip
        except NotFound:
            return b""

    def size(self, name: str) -> int:
        """How many bytes a stream has."""
        from d0ctl.nodes.peek import log_size

        try:
            return log_size(self.home, self.address, self.base, self.attempt, name)
        except NotFound:
            return 0

    def tail(self, length: int) -> str:
        """The end of what was printed last: of the last binary that has printed anything."""
        for binary in range(self.binaries, 0, -1):
            for stream in STREAMS:
                if said := self.read(f"{binary}.{stream}", -length, length):
                    whole = said.partition(b"\n")[2] if len(said) == length else said
                    return whole.decode(errors="replace")
        return ""


def find(store: Store, package: str, number: int | None = None) -> Log:
    """The log of an attempt at a package, by default the last. Raises NotFound."""
    one = browse.package(store, parse(package))
    tries = browse.attempts(store, one.id)
    if not tries:
        raise NotFound(f"package `{one.path}` has not run yet: it is {one.phase}")
    tried = next((one for one in tries if one.number == number), tries[-1])
    row = store.row("node_by_name", name=tried.node_name)
    if row is None:
        raise NotFound(f"node `{tried.node_name}`, where its logs lay, was removed")
    is_last = tried is tries[-1]
    live = is_last and STATUS_OF[Phase(one.phase)] is Status.LAUNCHED
    return Log(
        store.home, address_of(row), tried.base or row["base"] or "", one.path, tried.id,
        tried.number, tuple(one.number for one in tries), len(browse.binaries(store, one.id)), live,
    )  # fmt: skip


def guarded(read: Callable[[], str]) -> str:
    """What a read tells, or in brackets why it can't be read."""
    try:
        return read()
    except D0Error as error:
        return f"[{error}]"
