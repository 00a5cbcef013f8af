"""Downloads from a node: they end at the declared size, and leave free space on the disk.

A node may send any number of bytes, so the limits are checked while they arrive.
"""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from d0ctl.errors import D0Error, NotFound
from d0ctl.units import size as shown_size

CHECK_EVERY = 1 << 20
"""After how many received bytes the free space is checked again."""

RESERVE = 500_000_000
SMALL_DISK_SHARE = 20
"""The free space that is kept by default: RESERVE bytes, or a twentieth of a small disk."""


class WrongFile(NotFound):
    """A file that exists but is not the expected one."""


class Oversized(WrongFile):
    """A file that is larger than declared: it is another file."""


class CorruptedInTransit(D0Error):
    """A file that is changed in transit, although it is intact on its node."""


class NoSpace(D0Error):
    """A file that would leave less than the reserve free on the disk of the control host."""


class Limits(Struct, frozen=True):
    """The size of a file, None if it is not declared, and the bytes to leave free on the disk."""

    size: int | None = None
    reserve: int | None = None

    def check_space(self, folder: Path, more: int) -> None:
        """Raise NoSpace if `more` bytes in a folder would leave less than the reserve free."""
        status = os.statvfs(folder)
        free = status.f_bavail * status.f_frsize
        reserve = self.reserve
        if reserve is None:
            reserve = min(RESERVE, status.f_blocks * status.f_frsize // SMALL_DISK_SHARE)
        if free - more < reserve:
            raise NoSpace(
                f"the disk of `{folder}` has {shown_size(free)} free, too little for "
                f"{shown_size(more)} more: {shown_size(reserve)} are kept free (`control-reserve`)",
                hint="free some space there; the transfer is repeated automatically",
            )


class Download:
    """The local file that a remote file is written to, within its limits."""

    def __init__(self, source: str, target: Path, limits: Limits) -> None:
        self.size = 0
        """How many bytes have arrived."""
        self._source, self._target, self._limits = source, target, limits
        self._most = limits.size
        self._check_at = 0

    def __enter__(self) -> Self:
        self._file = self._target.open("wb")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def expect(self, size: int) -> None:
        """Check the size that the node announces. Raises Oversized and NoSpace."""
        self._check_size(size)
        self._limits.check_space(self._target.parent, size)
        self._most = size

    def write(self, data: bytes) -> None:
        """Write bytes that have arrived. Raises Oversized and NoSpace."""
        self._check_size(self.size + len(data))
        if self.size + len(data) >= self._check_at:
            self._limits.check_space(self._target.parent, len(data))
            self._check_at = self.size + CHECK_EVERY
        self._file.write(data)
        self.size += len(data)

    def _check_size(self, size: int) -> None:
        if self._most is not None and size > self._most:
            raise Oversized(f"`{self._source}` is larger than its {self._most} bytes")
