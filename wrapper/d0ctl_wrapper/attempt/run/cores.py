"""Core files: small ones are kept, large ones removed."""

import os
import re
import stat
from typing import List

from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, to_text
from d0ctl_wrapper.protocol.text import one_line, size

PATTERN = "/proc/sys/kernel/core_pattern"

_CORE = re.compile(rb"core(\.[0-9A-Za-z_.-]+)?\Z|.*\.core\Z")


def collect(folder: AttemptFolder, launch: Launch, number: int, is_dumped: bool) -> "List[str]":
    """Keep or remove the cores that binary `number` left; return sentences."""
    try:
        found = _find(folder.work)
        targets = [
            folder.file(b"%d.core" % number + (b".%d" % index if index else b""))
            for index in range(len(found))
        ]
        limit: int = launch["largest_core"]
        remarks = [_treat(*pair, limit=limit) for pair in zip(found, targets)]
    except OSError as error:
        return ["can't keep a core: %s" % error.strerror]
    if is_dumped and not found:
        remarks.append("it dumped core elsewhere: core_pattern is `%s`" % _pattern())
    return remarks


def _find(work: bytes) -> "List[bytes]":
    """Return the cores in the working directory, by their names and first bytes."""
    with os.scandir(work) as entries:
        paths = [entry.path for entry in entries if _CORE.match(entry.name)]
    return sorted(path for path in paths if _is_core(path))


def _is_core(path: bytes) -> bool:
    """Return whether a file is an ELF core: type 4."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return False
    with open(path, "rb", buffering=0) as file:
        head = file.read(18)
    return head[:4] == b"\x7fELF" and 4 in head[16:18]


def _treat(path: bytes, target: bytes, limit: int) -> str:
    """Move a core beside the logs, or remove one of more than `limit` bytes."""
    status = os.lstat(path)
    what = "it left a core of %s" % size(status.st_size)
    if status.st_blocks * 512 > limit:
        os.unlink(path)
        return "%s, removed because it takes more than %s" % (what, size(limit))
    os.rename(path, target)
    return "%s, kept as `%s`" % (what, to_text(target))


def _pattern() -> str:
    try:
        with open(PATTERN) as file:
            return one_line(file.read())
    except OSError:
        return ""
