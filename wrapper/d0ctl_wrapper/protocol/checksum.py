"""Checksums as people write them: `NAME:HEX`."""

import hashlib
import os
import re
import zlib
from typing import Any, Callable, Dict

from d0ctl_wrapper.disk import CHUNK

LENGTHS = {"adler32": 8, "crc32": 8, "md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
"""The number of hexadecimal digits of each."""

EXPECTED = "a checksum such as `sha256:HEX`, by %s" % ", ".join(sorted(LENGTHS))

_WRITTEN = re.compile(r"(?:([A-Za-z0-9-]+):)?([0-9A-Fa-f]+)\Z")


def normal(text: str) -> str:
    """Return a checksum as `NAME:HEX` in lower case; the length names one without a name.

    Raises ValueError with the end of a sentence for any other text.
    """
    found = _WRITTEN.match(text)
    digits = found.group(2).lower() if found else ""
    name = (found.group(1) if found else None) or _by_length(len(digits))
    name = name.lower().replace("-", "")
    if LENGTHS.get(name) != len(digits):
        raise ValueError("is not %s" % EXPECTED)
    return "%s:%s" % (name, digits)


def _by_length(length: int) -> str:
    """Return the name for a number of digits; empty for eight, which two kinds have."""
    names = [name for name, digits in LENGTHS.items() if digits == length]
    return names[0] if len(names) == 1 else ""


def check(value: Any) -> str:
    """Accept a checksum in a launch."""
    if not isinstance(value, str):
        raise ValueError("is not text")
    return normal(value)


def is_rewritten(
    path: bytes, at: float, recorded: str, pause_point: "Callable[[], None]" = lambda: None
) -> bool:
    """Return whether a file was written after the time `at` and has another checksum now.

    A file that is older is not read. `pause_point` is called before each piece, and may raise to
    give up. Raises OSError if the file can't be read.
    """
    is_newer = os.stat(path).st_mtime > at
    return is_newer and digest_by(path, recorded, pause_point)[0] != recorded


def digest_by(
    path: bytes, asked: "str | None", pause_point: "Callable[[], None]"
) -> "tuple[str, str]":
    """Return a file's checksum of the same kind as `asked`, and its sha256.

    `pause_point` is called before each piece, and may raise to give up.
    """
    name = asked.partition(":")[0] if asked else "sha256"
    sha256 = hashlib.sha256()
    other = None if name == "sha256" else _start(name)
    with open(path, "rb", buffering=0) as file:
        pause_point()
        chunk = file.read(CHUNK)
        while chunk:
            sha256.update(chunk)
            if other is not None:
                other.update(chunk)
            if len(chunk) == CHUNK:
                pause_point()
            chunk = file.read(CHUNK)
    checksum = "sha256:" + sha256.hexdigest()
    return (checksum if other is None else "%s:%s" % (name, other.hexdigest())), checksum


def _start(name: str) -> Any:
    rolling: "Dict[str, Callable[..., int]]" = {"adler32": zlib.adler32, "crc32": zlib.crc32}
    return _Rolling(rolling[name]) if name in rolling else hashlib.new(name)


class _Rolling:
    """A checksum of zlib with the interface of hashlib."""

    def __init__(self, step: "Callable[..., int]") -> None:
        self._step = step
        self._value = step(b"")

    def update(self, data: bytes) -> None:
        self._value = self._step(data, self._value)

    def hexdigest(self) -> str:
        return "%08x" % (self._value & 0xFFFFFFFF)
