"""Whether a file fits on the disk of a node."""

from pathlib import Path

from d0ctl.errors import D0Error
from d0ctl.store.connection import Row
from d0ctl.store.files.copies import WantedTransfer
from d0ctl.units import size


class NodeDiskFull(D0Error):
    """A node has no space on its disk for a file of `size` bytes."""

    def __init__(self, message: str, size: int) -> None:
        super().__init__(message)
        self.size = size


def size_of(row: WantedTransfer, here: str) -> int | None:
    """Return the size of a file on the control host; a user's own file may have changed."""
    if row.package_id is not None:
        return row.size
    try:
        return Path(here).stat().st_size
    except OSError:
        return None


def check_space(node: Row, bytes_needed: int | None) -> None:
    """Raise NodeDiskFull if a file is larger than the free space of a node, if that is known."""
    free = node["disk_free"]
    if free is not None and bytes_needed is not None and bytes_needed > free:
        raise NodeDiskFull(f"node `{node['name']}` has {size(free)} of disk left,"
                     f" but the file has {size(bytes_needed)}", bytes_needed)  # fmt: skip
