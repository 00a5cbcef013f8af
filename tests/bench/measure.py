"""Figures, and how processes are timed and weighed."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# with it, each process compiles its modules again: 0.2 s of CPU for a `submit`

TICKS = os.sysconf("SC_CLK_TCK")

PYTHON = sys.executable
D0CTL = (str(Path(PYTHON).with_name("d0ctl")),)

NOTHING: Mapping[str, str] = {}

PROCESS_PATIENCE_S = 600.0
"""How long a measured process may take."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: what was measured for a budget, and the budget in words."""

    id: str
    what: str
    value: float | None
    unit: str
    budget: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """How much is measured."""

    full: bool = False
    packages: int = 10_000
    soak: int = 40_000
    only: frozenset[str] = frozenset()
    within_s: float = 300.0
    """How long each measure may take."""
    in_all_s: float = 1500.0
    """How long all of them may take together."""


@dataclass(slots=True)
class Clock:
    """Wall and CPU seconds of a stretch of this process; read them when it is over."""

    wall: float = 0.0
    cpu: float = 0.0
    _began: tuple[float, float] = field(default=(0.0, 0.0))


@contextmanager
def timed() -> Iterator[Clock]:
    """Time what is done inside."""
    clock = Clock()
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield clock
    finally:
        clock.wall, clock.cpu = time.perf_counter() - wall, time.process_time() - cpu


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended: its seconds, and its greatest memory in bytes."""

    wall: float
    cpu: float
    peak: int


def process(
    command: Sequence[str],
    environment: Mapping[str, str] = NOTHING,
    expected: Collection[int] = (0,),
) -> Ended:
    """Run a whole process. Raises CalledProcessError for another exit code than is expected."""
    began = time.perf_counter()
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | dict(environment),
    )
    try:
        _, status, usage = os.wait4(child.pid, 0)
    except BaseException:
        child.kill()
        raise
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in expected:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Ended(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def median(runs: int, run: Callable[[], float]) -> float:
    """The median of several runs."""
    return statistics.median(run() for _ in range(runs))


def cpu_to_the_nanosecond(pid: int) -> float:
    """CPU seconds of a process so far, finer than in ticks."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def cpu_of(pid: int, *, reaped: bool = False) -> float:
    """CPU seconds that a process has used so far, or also those of the children it reaped; 0 if
    it has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(word) for word in words[11 : 15 if reaped else 13]) / TICKS


def pss_of(pid: int) -> int:
    """The memory of a process in bytes, shared pages divided by those who share them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
