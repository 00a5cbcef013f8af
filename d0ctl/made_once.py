"""Content that takes long to make, and is made once for an installation and a python.

It is kept beside the code, in `__pycache__`, as python keeps compiled modules. A user who can't
write there makes it each time.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

DIGEST = 32
"""How many bytes the digest before the content has."""


def made_once(name: str, basis: bytes, make: Callable[[], bytes]) -> bytes:
    """Return what `make` makes of `basis`, which may have been made before.

    A file that was made of another basis, or that is damaged, is replaced.
    """
    path = Path(cache_from_source(__file__)).with_name(f"{name}.{sys.implementation.cache_tag}")
    try:
        found = path.read_bytes()
    except OSError:
        found = b""
    if found[:DIGEST] == _digest(basis, found[DIGEST:]):
        return found[DIGEST:]
    content = make()
    if not sys.dont_write_bytecode:
        _keep(path, _digest(basis, content) + content)
    return content


def _digest(basis: bytes, content: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(basis).digest() + content).digest()


def _keep(path: Path, text: bytes) -> None:
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            aside.write_bytes(text)
            aside.replace(path)
        except OSError:
            aside.unlink(missing_ok=True)
            raise
