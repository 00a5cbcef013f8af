"""Run the site's command: the event on its stdin, no shell, with a time limit."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from d0ctl.errors import NotSent
from d0ctl.units import clean, duration

TIMEOUT_S = 60.0
"""How long the command may take, unless the site file sets it."""

POLL_S = 0.05
"""How often to check whether it has ended."""

MOST_SAID = 200
"""How many characters of its stderr are kept."""


def run(
    command: Sequence[str],
    event: str,
    *,
    timeout: float,
    stop: threading.Event,
    name: str | None = None,
) -> None:
    """Run the command with an event. Raises NotSent if it fails, or takes too long.

    `name` is its name in errors, by default its program.

    Its process group is ended when its time is over, or `stop` is set.
    """
    name = name or f"`{command[0]}`"
    with tempfile.TemporaryFile() as document, tempfile.TemporaryFile() as errors:
        document.write(f"{event}\n".encode())
        document.seek(0)
        try:
            process = subprocess.Popen(
                list(command), stdin=document, stdout=subprocess.DEVNULL, stderr=errors,
                start_new_session=True, cwd="/",
            )  # fmt: skip
        except OSError as error:
            raise NotSent(f"{name} can't be run: {error.strerror}") from error
        try:
            _wait(process, name, timeout, stop)
        finally:
            _end(process)
        if process.returncode:
            raise NotSent(_failure(name, process.returncode, errors))


def _wait(
    process: "subprocess.Popen[bytes]", name: str, timeout: float, stop: threading.Event
) -> None:
    deadline = time.monotonic() + timeout
    while process.poll() is None:
        if time.monotonic() > deadline:
            raise NotSent(f"{name} took longer than {duration(timeout)}")
        if stop.is_set():
            raise NotSent(f"{name} was stopped with d0ctl")
        stop.wait(POLL_S)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the remaining processes of its process group."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _failure(name: str, code: int, errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - 10 * MOST_SAID))
    lines = errors.read().decode(errors="replace").strip().splitlines()
    outcome = f"exit code {code}" if code > 0 else f"signal {-code}"
    last = f": {clean(lines[-1])}" if lines else ""
    is_program = name.startswith("`")  # else d0ctl's own process, for a webhook or a plug-in
    verb = f"ended with {outcome}" if is_program or code != 1 or not last else "failed"
    return f"{name} {verb}{last}"[:MOST_SAID]
