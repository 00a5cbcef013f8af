"""Files of a working directory that come from previous attempts, or are left for a person."""

import errno
import os
from typing import Any, Collection, Dict, List

from d0ctl_wrapper import disk
from d0ctl_wrapper.attempt.chain import late_outputs
from d0ctl_wrapper.attempt.deliver import outputs
from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.stage import inputs as stage
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, inside, is_below


class ReusedFiles:
    """Brings files of previous attempts into the working directory."""

    def __init__(self, folder: AttemptFolder, digests: Digests) -> None:
        self._folder = folder
        self._work = folder.work
        self._digests = digests
        self.linked: "Dict[outputs.Inode, int]" = {}
        """The number of hard links of files from caches of previous attempts."""

    def path(self, name: str) -> bytes:
        """Return the path of a file in the working directory; raise OSError if it is outside."""
        try:
            return inside(self._work, name)
        except ValueError as error:
            raise OSError(errno.EXDEV, str(error))

    def link(self, path: bytes, name: str) -> None:
        """Link or move a file into the working directory, or unpack a directory there."""
        target = self.path(name)
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        if packing.is_folder(name):
            stage.unpack(path, target, self._digests.pause_point)
            return
        if self._has_other_names(path):
            self.copy(path, name)
            return
        try:
            os.link(path, target)
        except FileExistsError:
            raise
        except OSError:
            os.rename(path, target)
        status = os.stat(target)
        os.chmod(target, status.st_mode & 0o700 | 0o600)  # a later binary may continue with it
        self.linked[status.st_dev, status.st_ino] = status.st_nlink

    def _has_other_names(self, path: bytes) -> bool:
        """Return whether a file that a dead wrapper left is also another one, such as an input.

        That one must not become writable. Caches have copies of such files.
        """
        is_left = is_below(os.path.realpath(path), os.path.realpath(self._folder.node.attempts))
        return is_left and os.lstat(path).st_nlink > 1

    def copy(self, path: bytes, name: str) -> None:
        """Copy a file into the working directory, or unpack a directory there."""
        target = self.path(name)
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        if packing.is_folder(name):
            stage.unpack(path, target, self._digests.pause_point)
            return
        with open(path, "rb") as source:
            mode = os.fstat(source.fileno()).st_mode & 0o700 | 0o600
            copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            try:
                disk.copy_pieces(source, copy, self._digests.pause_point)
            finally:
                os.close(copy)


def undeclared_file(folder: bytes, known: "Collection[bytes]", prefix: bytes = b"") -> bytes:
    """Find a file whose name is not known; empty if there is none."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = prefix + entry.name
            if name in known:
                continue
            is_above = any(declared.startswith(name + b"/") for declared in known)
            if not (is_above and entry.is_dir(follow_symlinks=False)):
                return name
            undeclared = undeclared_file(entry.path, known, name + b"/")
            if undeclared:
                return undeclared
    return b""


def leave(
    folder: AttemptFolder,
    launch: Launch,
    through: int,
    inputs: "Dict[str, Any]",
    digests: Digests,
) -> "List[Dict[str, Any]]":
    """Move the existing outputs of the binaries after `through` into the cache."""
    wanted = []
    for number, binary in enumerate(launch["binaries"][through:], through + 1):
        try:
            late_outputs.settle(folder.work, launch, binary, is_partial=True)
        except Failed:
            continue
        wanted += [(number, output) for output in binary["outputs"]]
    left = []
    for number, output in wanted:
        file = outputs.leave(folder, output["name"], inputs, digests.pause_point)
        if file is not None:
            left.append({**file, "binary": number, "late": output.get("pattern")})
    return left
