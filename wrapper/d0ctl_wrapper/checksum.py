"""The only place that knows the checksums by which people know files: `ALGORITHM:HEX`."""

import hashlib
import os
import re
import zlib
from typing import Any, Callable

from d0ctl_wrapper.disk import CHUNK

_LENGTHS = {"adler32": 8, "md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}

_CHECKSUM = re.compile(r"([a-z0-9]+):([0-9A-Fa-f]+)\Z")

EXPECTED = "a checksum such as `sha256:HEX`, by %s" % ", ".join(sorted(_LENGTHS))


def check(value: str) -> str:
    """Accept a checksum, or raise ValueError with the end of a sentence."""
    found = _CHECKSUM.match(value)
    if not found or _LENGTHS.get(found.group(1)) != len(found.group(2)):
        raise ValueError("is not %s" % EXPECTED)
    return value


def digest_by(path: bytes, asked: "str | None", pause: "Callable[[], None]") -> "tuple[str, str]":
    """Give the checksum by the algorithm of `asked`, and ours, by sha256; bytes go to the disk.

    `pause` is called again and again, and may raise to give up.
    """
    algorithm = asked.partition(":")[0] if asked else "sha256"
    ours = hashlib.sha256()
    theirs = None if algorithm == "sha256" else _start(algorithm)
    with open(path, "rb", buffering=0) as file:
        while True:
            pause()
            chunk = file.read(CHUNK)
            if not chunk:
                break
            ours.update(chunk)
            if theirs is not None:
                theirs.update(chunk)
        os.fsync(file.fileno())
    checksum = "sha256:" + ours.hexdigest()
    return (checksum if theirs is None else "%s:%s" % (algorithm, theirs.hexdigest())), checksum


class _Adler32:
    def __init__(self) -> None:
        self._value = 1

    def update(self, data: bytes) -> None:
        self._value = zlib.adler32(data, self._value)

    def hexdigest(self) -> str:
        return "%08x" % (self._value & 0xFFFFFFFF)


def _start(algorithm: str) -> Any:
    return _Adler32() if algorithm == "adler32" else hashlib.new(algorithm)
