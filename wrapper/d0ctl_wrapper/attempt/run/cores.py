"""The only place that looks for core files, keeps what is small and removes what is not."""

import os
import re
import stat
from typing import List

from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, to_text
from d0ctl_wrapper.protocol.text import one_line

PATTERN = "/proc/sys/kernel/core_pattern"

_CORE = re.compile(rb"core(\.[0-9A-Za-z_.-]+)?\Z|.*\.core\Z")


def collect(folder: AttemptFolder, launch: Launch, number: int, is_dumped: bool) -> "List[str]":
    """Say what became of the cores that binary `number` left in its working directory."""
    try:
        found = _find(folder.work)
        targets = [
            folder.file(b"%d.core" % number + (b".%d" % place if place else b""))
            for place in range(len(found))
        ]
        limit: int = launch["largest_core"]
        said = [_treat(*pair, limit=limit) for pair in zip(found, targets)]
    except OSError as error:
        return ["a core cannot be kept: %s" % error.strerror]
    if is_dumped and not found:
        said.append("it dumped core, not here: core_pattern is `%s`" % _pattern())
    return said


def _find(work: bytes) -> "List[bytes]":
    """List the files of the working directory that are cores by their names and first bytes."""
    with os.scandir(work) as entries:
        paths = [entry.path for entry in entries if _CORE.match(entry.name)]
    return sorted(path for path in paths if _is_core(path))


def _is_core(path: bytes) -> bool:
    """Tell whether a file is an ELF core: type 4."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return False
    with open(path, "rb", buffering=0) as file:
        head = file.read(18)
    return head[:4] == b"\x7fELF" and 4 in head[16:18]


def _treat(path: bytes, target: bytes, limit: int) -> str:
    """Move a core beside the logs, or remove one that takes more than `limit` bytes."""
    status = os.lstat(path)
    what = "it left a core of %d bytes" % status.st_size
    if status.st_blocks * 512 > limit:
        os.unlink(path)
        return "%s, removed as it takes more than %d" % (what, limit)
    os.rename(path, target)
    return "%s, kept as `%s`" % (what, to_text(target))


def _pattern() -> str:
    try:
        with open(PATTERN) as file:
            return one_line(file.read())
    except OSError:
        return ""
