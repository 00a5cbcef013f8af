"""P6: the dashboard in a real pseudo-terminal, over a job of many packages."""

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from d0ctl.config import Home
from d0ctl.select import parse
from d0ctl.store import Store, lifecycle, open_store
from d0ctl.store.jobs.submission.submit import submit
from d0ctl.store.nodes.registry import add_localhost
from d0ctl.store.views import selection
from tests.bench.measure import (
    PYTHON,
    Figure,
    Options,
    median,
    process,
    pss_of,
)
from tests.bench.site import d0ctl, job, passing_home

SIZE = (36, 120)
QUIET_S = 0.12
"""A screen that sends nothing for so long is painted."""

PATIENCE_S = 60.0
IDLE_S = 10.0
BUSY_S = 20.0
RATE = 1_000
TIMES = 12

EMPTY_APP = "from textual.app import App; App().run()"

ESCAPE = "\x1b"

WALK = ("j", "k", "\x1b[6~", "\x1b[5~", "G", "g", "\t", "\t", "v", "\x1b", "f", "\x1b", "?", "\x1b")
"""Keys as a person presses them: lines, pages, the ends, panes, a view, boxes."""


class Terminal:
    """A program at a pseudo-terminal, and how much it writes when."""

    def __init__(self, command: Sequence[str]) -> None:
        self.descriptor, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    def read(self, seconds: float) -> bytes:
        """What comes within this time, as soon as anything does."""
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self.descriptor, 1 << 20)
        except OSError:
            return b""

    def until(self, text: bytes) -> float:
        """When this has come. Raises TimeoutError."""
        seen = b""
        while text not in seen:
            if time.perf_counter() - self.began > PATIENCE_S * 4:
                raise TimeoutError(f"{text!r} never came")
            seen = (seen + self.read(0.01))[-(1 << 16) :]
        return time.perf_counter()

    def settle(self) -> tuple[float, int]:
        """When the last byte came before a pause, and how many came."""
        last, number = time.perf_counter(), 0
        while data := self.read(QUIET_S):
            last, number = time.perf_counter(), number + len(data)
        return last, number

    def press(self, key: str) -> tuple[float, float, int]:
        """Seconds from a key to its paint, and to the last of what follows it; and the bytes."""
        pressed = time.perf_counter()
        os.write(self.descriptor, key.encode())
        if not (data := self.read(1.0)):
            return 0.0, 0.0, 0
        first = time.perf_counter()
        last, number = self.settle()
        return first - pressed, (last if number else first) - pressed, number + len(data)

    def drain(self, seconds: float) -> int:
        """How many bytes come in this time."""
        end, number = time.perf_counter() + seconds, 0
        while (left := end - time.perf_counter()) > 0:
            number += len(self.read(left))
        return number


@contextmanager
def terminal(command: Sequence[str]) -> Iterator[Terminal]:
    """A program at a terminal, ended when we leave."""
    one = Terminal(command)
    try:
        yield one
    finally:
        one.process.send_signal(signal.SIGTERM)
        one.drain(0.5)
        one.process.kill()
        one.process.wait()
        os.close(one.descriptor)


def measure(options: Options) -> Iterator[Figure]:
    """First paint, keys, transitions, memory, idle CPU and bytes."""
    count = 1_000_000 if options.full else 100_000
    with passing_home() as home:
        with open_store(home) as store:
            add_localhost(store)
            submit(store, job(count), now=time.time(), actor="bench")
        imports = median(3, lambda: process([PYTHON, "-c", "import d0ctl_tui.app"]).wall)
        with terminal([PYTHON, "-c", EMPTY_APP]) as empty:
            empty.drain(2.0)
            bare = pss_of(empty.process.pid)
        with terminal(d0ctl(home, "tui", "bench/1/1")) as board:
            painted = board.until(b"bench/1/1") - board.began
            yield Figure("P6", f"first paint at {count:,}, after imports", painted - imports, "s",
                         "0.3 s", f"{painted:.2f} s as a whole process")  # fmt: skip
            board.settle()
            yield from _keys(board)
            yield from _commits(board, home)
            yield from _idle(board)
            yield from _busy(board, home)
            grown = (pss_of(board.process.pid) - bare) / 1e6
            yield Figure("P6", "memory over an empty Textual app", grown, "MB", "60 MB")


def _keys(board: Terminal) -> Iterator[Figure]:
    """Each key several times, over the whole job expanded."""
    for key in ("h", "h", "l"):
        board.press(key)
    took: list[float] = []
    whole: list[float] = []
    escapes: list[float] = []
    for _ in range(TIMES // 2):
        for key in WALK:
            first, last, _ = board.press(key)
            (escapes if key == ESCAPE else took).append(first * 1000)
            whole.append(last * 1000)
    yield Figure("P6", "a key to its paint, median", statistics.median(took), "ms", "30 ms")
    yield Figure("P6", "the slowest key but escape", max(took), "ms", "100 ms")
    yield Figure("P6", "escape, median", statistics.median(escapes), "ms", "",
                 "100 ms of it show that it begins no other key")  # fmt: skip
    answer = statistics.median(whole)
    yield Figure("P6", "a key to the details of a row", answer, "ms")
    one = [board.press("j")[2] for _ in range(5)]
    yield Figure("P6", "bytes for one line down", statistics.median(one), "B")


def _commits(board: Terminal, home: Home) -> Iterator[Figure]:
    """From a commit of what is seen to its paint."""
    board.press("g")
    with open_store(home) as store:
        took = []
        for number in range(TIMES):
            held = number % 2 == 0
            _flip(store, "bench/1/1/1", held)
            committed = time.perf_counter()
            board.until(b"held" if held else b"ready")
            took.append((time.perf_counter() - committed) * 1000)
            board.settle()
    yield Figure("P6", "a commit to its paint, median", statistics.median(took), "ms", "200 ms")
    yield Figure("P6", "a commit to its paint, at most", max(took), "ms", "200 ms")


def _flip(store: Store, selector: str, held: bool) -> None:
    with store.writing():
        selected = selection.choose(store, parse(selector), now=time.time())
        if held:
            lifecycle.hold(selected, actor="bench", note=None, now=time.time())
        else:
            lifecycle.release(selected, actor="bench", note=None, now=time.time())


def _idle(board: Terminal) -> Iterator[Figure]:
    board.drain(2.0)
    before = cpu_of_all(board.process.pid)
    number = board.drain(IDLE_S)
    share = (cpu_of_all(board.process.pid) - before) / IDLE_S * 100
    yield Figure("P6", "idle, share of a core", share, "%", "1 %")
    yield Figure("P6", "idle, bytes written", number, "B", "0 B")


def cpu_of_all(pid: int) -> float:
    """CPU seconds of all threads of a process so far."""
    stats = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(stat.read_text().split()[0]) for stat in stats) / 1e9


def _busy(board: Terminal, home: Home) -> Iterator[Figure]:
    """A process of its own makes transitions; keys are pressed all the while."""
    writer = subprocess.Popen([PYTHON, "-m", "tests.bench.dashboard", str(home.root)])
    try:
        board.drain(1.0)
        before, number = cpu_of_all(board.process.pid), 0
        took: list[float] = []
        end = time.perf_counter() + BUSY_S
        began = time.perf_counter()
        while time.perf_counter() < end:
            pressed = time.perf_counter()
            os.write(board.descriptor, b"j" if len(took) % 2 else b"k")
            number += len(board.read(1.0))
            took.append((time.perf_counter() - pressed) * 1000)
            number += board.drain(0.2)
        wall = time.perf_counter() - began
        share = (cpu_of_all(board.process.pid) - before) / wall * 100
    finally:
        writer.terminate()
        writer.wait()
    slow = sorted(took)[int(len(took) * 0.95)]
    yield Figure("P6", f"a key at {RATE:,} transitions/s, p95", slow, "ms", "100 ms")
    yield Figure("P6", f"CPU at {RATE:,} transitions/s", share, "%", "", "of a core")
    yield Figure("P6", f"bytes at {RATE:,} transitions/s", number / wall / 1000, "kB/s")


def flip_all(root: str) -> None:
    """Hold and release packages, so many transitions a second, until we are ended."""
    with open_store(Home(Path(root))) as store:
        number, began = 0, time.perf_counter()
        while True:
            first = number // 40 % 2000 * 20 + 1
            _flip(store, f"bench/1/{first}-{first + 19}/1", number // 20 % 2 == 0)
            number += 20
            time.sleep(max(0.0, began + number / RATE - time.perf_counter()))


if __name__ == "__main__":
    flip_all(sys.argv[1])
