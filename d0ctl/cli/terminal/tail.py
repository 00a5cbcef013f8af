"""Print the logs of an attempt as they grow: each byte once, whole lines."""

import time
from collections.abc import Callable

from msgspec import Struct

from d0ctl.cli.terminal.output import say
from d0ctl.cli.terminal.passthrough import Passthrough
from d0ctl.errors import NodeUnreachable, NotFound
from d0ctl.nodes.visits.peek import PIECE, AttemptReader, start_of_last, visit
from d0ctl.show import following
from d0ctl.show.visits import log_names, visiting
from d0ctl.store.connection import Store
from d0ctl.store.views.shapes.of_package import AttemptView

SOONEST_S, LATEST_S = 0.1, 1.0
"""How long to wait between two reads of the node: after new output, and after none for long."""

RETRIES_S = (0.5, 1.0, 2.0, 5.0, 10.0)
"""How long to wait before a node that does not answer is tried again; the last value repeats."""

LONGEST_PART = 65536
"""A longer line is printed in parts before its end has arrived."""


class Log(Struct):
    """One log: how much of it was read, and the part of a line that is not printed yet."""

    offset: int = 0
    part: bytes = b""
    has_grown: bool = False


class Tail:
    """What has been printed of the logs of an attempt, in memory that does not grow with them."""

    def __init__(self, store: Store, names: list[str], lines: int = 0) -> None:
        self._store = store
        self._lines = lines
        """How many lines of what is there at first are printed of each log; 0 for all."""
        self._names = names
        self._passthrough = Passthrough()
        self._has_ended: Callable[[], bool] = lambda: False
        self._logs: dict[str, Log] = {}
        self._has_answered = self._is_awaited = False
        self._failures = 0

    def print(self, tried: AttemptView, has_ended: Callable[[], bool]) -> None:
        """Print until the attempt has ended, even if connections are lost meanwhile.

        `has_ended` returns whether the database knows of its end. Raises NodeUnreachable if the
        node does not answer at all.
        """
        self._has_ended = has_ended
        self._is_awaited = False
        self._logs = {name: Log() for name in self._names}
        is_over = False
        while not is_over:
            try:
                with visit(visiting.where(self._store, tried)) as here:
                    self._came_back(tried)
                    is_over = self._stay(here, tried)
            except NodeUnreachable as error:
                self._wait_or_raise(error, tried)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was printed of any attempt."""
        return self._passthrough.is_empty

    def _stay(self, here: AttemptReader, tried: AttemptView) -> bool:
        """Print output until the attempt has ended, and return true."""
        delay = SOONEST_S
        while True:
            listing = here.listing()
            self._print_if_absent(listing["state"], tried)
            sizes = {entry["name"]: entry["size"] for entry in listing["entries"]}
            self._skip(here, sizes)
            news = self._print_new(here, sizes)
            state = listing["state"]
            if state in ("ended", "dead") or (state == "absent" and self._has_ended()):
                self._print_parts(lambda log: True)
                self._passthrough.end_line()
                return True
            delay = SOONEST_S if news else min(LATEST_S, delay * 1.3)
            time.sleep(delay)

    def _skip(self, here: AttemptReader, sizes: dict[str, int | None]) -> None:
        """Begin at the last lines of what is there at first, if only these are wanted."""
        if not self._lines:
            return
        starts = {name: start_of_last(here, name, size, self._lines)
                  for name in self._logs if (size := sizes.get(name))}  # fmt: skip
        for name, start in starts.items():
            self._logs[name].offset = start
        self._lines = 0

    def _print_new(self, here: AttemptReader, sizes: dict[str, int | None]) -> bool:
        """Print new output since the last read; return whether there was any."""
        if self._passthrough.is_empty:
            self._passthrough.has_first_head = (
                sum(bool(sizes.get(name)) for name in self._names) > 1
            )
        for name, log in self._logs.items():
            log.has_grown = False
            size = sizes.get(name) or 0
            try:
                while log.offset < size:
                    piece = here.read(name, log.offset, min(PIECE, size - log.offset))
                    if not piece.data:
                        break
                    log.offset += len(piece.data)
                    self._print_lines(name, log, piece.data)
            except NotFound:  # the node has just removed it
                continue
        if self._passthrough.is_terminal:
            self._print_parts(lambda log: not log.has_grown)
        self._passthrough.flush()
        return any(log.has_grown for log in self._logs.values())

    def _print_lines(self, name: str, log: Log, data: bytes) -> None:
        """Print complete lines, and keep a partial one for the next read."""
        log.has_grown = True
        lines, end, part = (log.part + data).rpartition(b"\n")
        if len(part) > LONGEST_PART:
            lines, end, part = log.part + data, b"", b""
        log.part = part
        if lines or end:
            self._passthrough.write(log_names.source(name), lines + end)

    def _print_parts(self, is_due: Callable[[Log], bool]) -> None:
        """Print partial lines, such as a prompt, that do not continue."""
        for name, log in self._logs.items():
            if log.part and is_due(log):
                self._passthrough.write(log_names.source(name), log.part)
                log.part = b""
        self._passthrough.flush()

    def _print_if_absent(self, state: str, tried: AttemptView) -> None:
        if state == "absent" and not self._is_awaited and not self._has_ended():
            self._is_awaited = True
            say(following.not_started(tried))

    def _came_back(self, tried: AttemptView) -> None:
        if self._failures:
            say(following.back(tried))
        self._has_answered, self._failures = True, 0

    def _wait_or_raise(self, error: NodeUnreachable, tried: AttemptView) -> None:
        """Wait a while after a failure; raise it for a node that has never answered, or need not.

        The output of an attempt may never be reachable again once the database knows of its end.
        """
        last = self._failures >= len(RETRIES_S)
        if not self._has_answered or (last and self._has_ended()):
            raise error
        if not self._failures:
            say(following.node_unreachable(tried, str(error)))
        time.sleep(RETRIES_S[min(self._failures, len(RETRIES_S) - 1)])
        self._failures += 1
