"""Waiting for something, as for a process to be gone, in place of sleeping and hoping."""

import os
import signal
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field

SHORTEST_S, LONGEST_S = 0.005, 0.1
"""From one look to the next: a tenth of the time waited so far, within these bounds."""

SHARE = 8
"""A look that takes long is repeated after this many times the CPU time that it took."""

MOST_AT_ONCE = 1 << 16
"""How many bytes about a process are read at once: usually all, as tests look at all processes."""

PATIENCE_S = 200.0
"""How long to wait for something that is certain to happen, on a machine with other work.

The longest wait of the program itself is one of three minutes, for a submission without an answer.
"""


def wait_until(
    condition: Callable[[], object], timeout: float = PATIENCE_S, what: str = ""
) -> None:
    """Return as soon as `condition()` is true; raise TimeoutError when it is not in time."""
    began = time.monotonic()
    pause = threading.Event()
    while True:
        cpu = time.thread_time()
        if condition():
            return
        cpu = time.thread_time() - cpu
        waited = time.monotonic() - began
        if waited > timeout:
            raise TimeoutError(f"not within {timeout:g} s: {what or condition}")
        pause.wait(max(min(waited / 10, LONGEST_S), SHORTEST_S, SHARE * cpu))


def proc(number: int, name: str) -> bytes:
    """What the kernel says of a process; OSError when that is gone."""
    descriptor = os.open(f"/proc/{number}/{name}", os.O_RDONLY)
    try:
        parts = [os.read(descriptor, MOST_AT_ONCE)]
        while len(parts[-1]) == MOST_AT_ONCE:
            parts.append(os.read(descriptor, MOST_AT_ONCE))
    finally:
        os.close(descriptor)
    return b"".join(parts)


@dataclass(frozen=True)
class Pid:
    """A process; its start time distinguishes it from a later one of the same number."""

    number: int
    parent: int = field(compare=False)
    started: str

    @classmethod
    def of(cls, number: int) -> "Pid | None":
        """The process of this number, or none."""
        try:
            words = proc(number, "stat").decode(errors="replace").rpartition(")")[2].split()
        except OSError:
            return None
        return None if words[0] in "ZX" else cls(number, int(words[1]), words[19])

    def name(self) -> str:
        """Its short name; empty when it is gone."""
        with suppress(OSError):
            return proc(self.number, "comm").decode().strip()
        return ""

    def command_line(self) -> str:
        """What it was started as; empty when it is gone."""
        with suppress(OSError):
            words = proc(self.number, "cmdline").rstrip(b"\0").split(b"\0")
            return b" ".join(words).decode(errors="replace")
        return ""

    def state(self) -> str:
        """The letter the kernel has for what it does, `T` for stopped; empty when it is gone."""
        with suppress(OSError):
            return proc(self.number, "stat").decode().rpartition(")")[2].split()[0]
        return ""

    def lives(self) -> bool:
        """True while this very process is there."""
        return Pid.of(self.number) == self

    def kill(self, number: int) -> None:
        """Send it a signal, if it is still there."""
        with suppress(ProcessLookupError):
            if self.lives():
                os.kill(self.number, number)


def numbers() -> list[int]:
    """The numbers of all processes."""
    names = os.listdir("/proc")  # noqa: PTH208
    return [int(name) for name in names if name.isdigit()]


def descendants(root: int) -> list[Pid]:
    """The children of a process, their children, and so on."""
    found = (Pid.of(number) for number in numbers())
    everyone = [pid for pid in found if pid]
    family: list[Pid] = []
    front = {root}
    while front:
        children = [pid for pid in everyone if pid.parent in front]
        family += children
        front = {pid.number for pid in children}
    return family


def kill_all(family: Collection[Pid]) -> None:
    """End these processes, and return when they are gone."""
    for pid in family:
        pid.kill(signal.SIGKILL)
    wait_until(lambda: not any(pid.lives() for pid in family), what="processes are gone")


def freeze_all(family: Callable[[], Collection[Pid]]) -> None:
    """Stop the processes that `family` names, until none of them runs.

    It is asked again and again: one may fork or end between the look and the signal.
    """

    def are_frozen() -> bool:
        running = [pid for pid in family() if pid.lives() and pid.state() != "T"]
        for pid in running:
            pid.kill(signal.SIGSTOP)
        return not running

    wait_until(are_frozen, what="processes are stopped")
