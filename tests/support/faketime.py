"""Clocks that jump: libfaketime in a process and in all that it starts."""

import os
from pathlib import Path

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


class Clock:
    """The wall clock of the processes that start with its environment; others have the true one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._customs = file.with_suffix(".python")
        self._customs.mkdir()
        (self._customs / "sitecustomize.py").write_text(SLEEP)
        self.jump("+0")

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
