"""The only place that looks for core files, keeps what is small and removes what is not."""

import os
import re
import stat
from typing import List

from d0ctl_wrapper.paths import Places, to_text
from d0ctl_wrapper.words import one_line

PATTERN = "/proc/sys/kernel/core_pattern"

_CORE = re.compile(rb"core(\.[0-9A-Za-z_.-]+)?\Z|.*\.core\Z")


def collect(
    places: Places, attempt: int, number: int, work: bytes, limit: int, is_dumped: bool
) -> "List[str]":
    """Say what became of the cores that binary `number` left in its working directory."""
    found = _find(work)
    said = [_treat(places, attempt, number, place, path, limit)
            for place, path in enumerate(found)]  # fmt: skip
    if is_dumped and not found:
        said.append("binary %d dumped core, not here: core_pattern is `%s`" % (number, _pattern()))
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


def _treat(places: Places, attempt: int, number: int, place: int, path: bytes, limit: int) -> str:
    """Move a core beside the logs, or remove one that takes more than `limit` bytes."""
    status = os.lstat(path)
    taken = status.st_blocks * 512
    what = "binary %d left a core of %d bytes" % (number, status.st_size)
    if taken > limit:
        os.unlink(path)
        return "%s, removed as it takes more than %d" % (what, limit)
    target = places.attempt(attempt, b"%d.core" % number + (b".%d" % place if place else b""))
    os.rename(path, target)
    return "%s, kept as `%s`" % (what, to_text(target))


def _pattern() -> str:
    try:
        with open(PATTERN) as file:
            return one_line(file.read())
    except OSError:
        return ""
