"""The supervisor of the processes in which the agents of tasks work beside the loop."""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from d0ctl.config import Home

log = logging.getLogger("d0ctl")

PROGRAM = ("-P", "-m", "d0ctl.agents")
"""What Python runs in each process, with the home."""

SHORT_S = 5.0
"""A process that ends sooner than this is not started again at once."""

REST_S = 10.0
"""How long the supervisor waits then."""

PATIENCE_S = 10.0
"""How long a process may take to end after its present transaction."""


class TaskWorker:
    """Processes that work on tasks: started again when they end, and ended with this one.

    Each ends when its standard input does, which happens also if this process is killed.
    """

    def __init__(self, home: Home, processes: int, wake: Callable[[], None]) -> None:
        self._home = home
        self._wake = wake
        self._leaving = threading.Event()
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._threads = [
            threading.Thread(target=self._keep_running, name=f"tasks {number}", daemon=True)
            for number in range(1, processes + 1)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pids(self) -> list[int]:
        """Return the ids of the processes."""
        with self._lock:
            return [process.pid for process in self._running]

    def end(self) -> None:
        """End the processes after their present transactions; others go on from there."""
        self._leaving.set()
        with self._lock:
            running = list(self._running)
        for process in running:
            _close(process)
        until = time.monotonic() + PATIENCE_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        for process in running:
            if process.poll() is None:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _keep_running(self) -> None:
        while not self._leaving.is_set():
            began = time.monotonic()
            code = self._run()
            if self._leaving.is_set():
                return
            log.error("a process that works on tasks ended with %d and is started again", code)
            if time.monotonic() - began < SHORT_S:
                self._leaving.wait(REST_S)

    def _run(self) -> int:
        """Run a process, and log what it says; return its exit code."""
        command = [sys.executable, *PROGRAM, str(self._home.root)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="backslashreplace", start_new_session=True, cwd="/",
        )  # fmt: skip
        with self._lock:
            self._running.add(process)
        if self._leaving.is_set():
            _close(process)
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                if line.strip():
                    log.error("%s", line.rstrip())
                else:
                    self._wake()
        code = process.wait()
        _close(process)
        with self._lock:
            self._running.discard(process)
        return code


def _close(process: "subprocess.Popen[str]") -> None:
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
