"""Fill small disks that are made for it, or a stand-in if none can be made."""

import errno
import os
import resource
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.support.waiting import Pid, wait_until

PIECE = b"\0" * 4096


@cache
def can_mount() -> bool:
    """Whether we may mount what we like: root outside of a narrow container."""
    if os.geteuid() != 0:
        return False
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    with suppress(OSError):
        return subprocess.run(command, capture_output=True).returncode == 0
    return False


class Disk:
    """A disk of its own under a folder, or a part of the one that is there."""

    def __init__(self, folder: Path, size: str) -> None:
        self.folder = folder
        self.limited: set[Pid] = set()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.is_own = can_mount()
        if self.is_own:
            options = f"size={size},mode=700"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "chaos", folder], check=True)

    @property
    def filler(self) -> Path:
        """The file that takes all space."""
        return self.folder / "filler"

    def fill(self, users: Iterable[Pid]) -> None:
        """Leave no space, or at least none for these processes."""
        if self.is_own:
            self._take_all()
            return
        for pid in users:
            self.limited.add(pid)
            _limit(pid, 0)

    def _take_all(self) -> None:
        with self.filler.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(PIECE)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def clear(self, users: Sequence[Pid]) -> None:
        """Give the space back."""
        self.filler.unlink(missing_ok=True)
        for pid in (*self.limited, *users) if self.limited else ():
            _limit(pid, None)
        self.limited.clear()

    def remove(self) -> None:
        """Leave nothing of a disk of our own."""
        if self.is_own:
            wait_until(self._unmounted, 20, f"{self.folder} is free")
            self.is_own = False

    def _unmounted(self) -> bool:
        return subprocess.run(["umount", self.folder], capture_output=True).returncode == 0


def _limit(pid: Pid, size: int | None) -> None:
    """Let a process write no file beyond this size, or any; what it starts inherits that."""
    with suppress(ProcessLookupError, PermissionError):
        if pid.lives():
            _, most = resource.prlimit(pid.number, resource.RLIMIT_FSIZE)
            resource.prlimit(
                pid.number, resource.RLIMIT_FSIZE, (most if size is None else size, most)
            )
