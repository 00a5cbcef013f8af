"""Clocks that jump: libfaketime in a process and in all that it starts."""

from pathlib import Path

from tests.support import CACHE, debian_program

INSTALLED = "usr/lib/*/faketime/libfaketime.so.1"


class Clock:
    """The wall clock of the processes that start with its environment; others have the true one."""

    def __init__(self, file: Path) -> None:
        self._file = file
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
        }


def _library() -> Path:
    """The library of the system, else of the package that was unpacked for the tests."""
    debian_program("faketime", "faketime")
    return next(path for root in (Path("/"), CACHE / "faketime") for path in root.glob(INSTALLED))
