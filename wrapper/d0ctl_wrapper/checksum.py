"""The only place that knows which checksums people write down, and holds files against them."""

import hashlib
import re
import zlib
from typing import Any, Callable, Dict

CHUNK = 1024 * 1024

LENGTHS = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128, "adler32": 8, "crc32": 8}
"""How many hexadecimal digits each has."""

_WRITTEN = re.compile(r"(?:([A-Za-z0-9-]+):)?([0-9A-Fa-f]+)\Z")


def normal(text: str) -> str:
    """Give a checksum as `NAME:HEX` in small letters; one without a name goes by its length.

    Raises ValueError for what is none.
    """
    found = _WRITTEN.match(text)
    if found is None:
        raise ValueError("is not a checksum")
    digits = found.group(2).lower()
    name = (found.group(1) or _by_length(len(digits))).lower().replace("-", "")
    if LENGTHS.get(name) != len(digits):
        raise ValueError("is not a checksum")
    return "%s:%s" % (name, digits)


def _by_length(length: int) -> str:
    """Name the one kind of such a length; two have eight digits, so they need their names."""
    names = [name for name, digits in LENGTHS.items() if digits == length]
    return names[0] if len(names) == 1 else ""


def of_file(path: bytes, name: str) -> str:
    """Make the checksum of that name of a file."""
    made = _Rolling(_ROLLING[name]) if name in _ROLLING else hashlib.new(name)
    with open(path, "rb", buffering=0) as file:
        while True:
            chunk = file.read(CHUNK)
            if not chunk:
                return "%s:%s" % (name, made.hexdigest())
            made.update(chunk)


_ROLLING: "Dict[str, Callable[..., int]]" = {"adler32": zlib.adler32, "crc32": zlib.crc32}


class _Rolling:
    """A checksum of zlib, with the manners of hashlib."""

    def __init__(self, step: "Callable[..., int]") -> None:
        self._step = step
        self._value = step(b"")

    def update(self, data: bytes) -> None:
        self._value = self._step(data, self._value)

    def hexdigest(self) -> str:
        return "%08x" % (self._value & 0xFFFFFFFF)


def check(value: Any) -> str:
    """Accept a checksum in a launch."""
    if not isinstance(value, str):
        raise ValueError("is not text")
    return normal(value)
