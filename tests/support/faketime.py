"""Clocks that jump: libfaketime in a process and in all that it starts."""

import os
import secrets
from _multiprocessing import SemLock
from pathlib import Path
from typing import Self

from tests.support import CACHE, debian_program

INSTALLED = "usr/lib/*/faketime/libfaketime.so.1"

SLEEP = """\
import select, time
time.sleep = lambda seconds: select.select([], [], [], seconds) and None
"""
"""What each python with the clock runs first.

libfaketime refuses a clock_nanosleep until a moment, which is what `time.sleep` calls, as an
invalid argument; a connection fails if it has to sleep.
"""

MEMORY = Path("/dev/shm")


class Clock:
    """The wall clock of the processes that start with its environment; others have the true one.

    Use it as a context manager around these processes: it owns the memory that they share. A
    process that finds none makes its own, and leaves it behind when it is killed.
    """

    def __init__(self, file: Path) -> None:
        self._name = f"faketime_{secrets.token_hex(8)}"
        self._file = file
        self._customs = file.with_suffix(".python")
        self._customs.mkdir()
        (self._customs / "sitecustomize.py").write_text(SLEEP)
        self.jump("+0")

    def __enter__(self) -> Self:
        SemLock(1, 1, 1, f"/{self._name}", False)
        (MEMORY / self._name).write_bytes(bytes(4096))
        return self

    def __exit__(self, *_: object) -> None:
        (MEMORY / self._name).unlink()
        (MEMORY / f"sem.{self._name}").unlink()

    def jump(self, offset: str) -> None:
        """Set the clock to the true time and this offset, e.g. `+1d`."""
        aside = self._file.with_suffix(".new")
        aside.write_text(offset + "\n")
        aside.rename(self._file)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process with this clock."""
        return {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_SHARED": f"/{self._name} /{self._name}",
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1",
            "PYTHONPATH": ":".join(
                filter(None, [str(self._customs), os.environ.get("PYTHONPATH")])
            ),
        }


def _library() -> Path:
    """The library of the system, else of the package that was unpacked for the tests."""
    debian_program("faketime", "faketime")
    return next(path for root in (Path("/"), CACHE / "faketime") for path in root.glob(INSTALLED))
