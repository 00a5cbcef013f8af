"""The wrapper as one file that any python3 of a node can run, named by its content."""

import hashlib
import importlib.util
import io
import marshal
import os
import re
import secrets
import shlex
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.made_once import made_once
from d0ctl.nodes.transports.transport import CONNECT_TIMEOUT_S, Address, Transport, refusal

PYTHONS = ("python3", "/usr/libexec/platform-python")
"""The pythons to try if the node has none configured (RHEL 8 may have only the second)."""

_PLAIN = re.compile(r"[A-Za-z0-9._/-]+\Z")


_UNCHECKED = (1).to_bytes(4, "little")
"""The flag of a compiled module that is used without comparing it with its source."""


@cache
def archive() -> bytes:
    """Return the wrapper as a zip file, compiled for this python; others compile it themselves."""
    return made_once("wrapper", file_name().encode(), _build)


def _build() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as bundle:
        for name, source in _sources():
            bundle.writestr(zipfile.ZipInfo(name), source)
            bundle.writestr(zipfile.ZipInfo(f"{name}c"), _compiled(name, source))
    return buffer.getvalue()


def _compiled(name: str, source: bytes) -> bytes:
    code = compile(source, name, "exec", dont_inherit=True)
    head = importlib.util.MAGIC_NUMBER + _UNCHECKED + importlib.util.source_hash(source)
    return head + marshal.dumps(code)


@cache
def _sources() -> tuple[tuple[str, bytes], ...]:
    """Return the files of the wrapper, with the names that they have in the zip file."""
    main = b"import runpy\nrunpy.run_module('d0ctl_wrapper', run_name='__main__')\n"
    return (("__main__.py", main), *sorted(_modules(files("d0ctl_wrapper"), "d0ctl_wrapper")))


def _modules(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _modules(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(".py"):
            yield f"{name}/{entry.name}", entry.read_bytes()


@cache
def file_name() -> str:
    """Return the name of the wrapper on every node, by its sources and this python."""
    digest = hashlib.sha256(importlib.util.MAGIC_NUMBER)
    for name, source in _sources():
        digest.update(f"{name} {len(source)}\n".encode() + source)
    return f"{digest.hexdigest()[:16]}.pyz"


def command(address: Address, python: str, path: str) -> str:
    """Return the command that starts the relay, which means the same to every login shell.

    Raises NodeUnreachable when the path would have to be quoted.
    """
    if address.kind == "local":
        return f"exec {shlex.quote(sys.executable)} -I -S {shlex.quote(path)} relay"
    _check_plain(address, python, path)
    return f"exec {python} -I -S {path} relay"


def copy(address: Address, transport: Transport, path: str) -> str:
    """Copy the wrapper and rename it: a relay may be running from the file of that name.

    Here it is a file in memory, which vanishes with this process. Return what the renaming
    printed to stderr. Raises NodeUnreachable.
    """
    aside = f"{path}.{secrets.token_hex(8)}"
    with open(os.memfd_create("d0ctl"), "wb") as file:  # noqa: PTH123
        file.write(archive())
        file.flush()
        try:
            transport.put(Path(f"/proc/self/fd/{file.fileno()}"), aside)
        except NodeUnreachable:
            raise
        except D0Error as error:
            with suppress(D0Error):
                _do(transport, remove(address, aside))
            raise cannot_keep(address, aside, error) from error
    said = _do(transport, rename(address, aside, path))
    if not_renamed(said):
        with suppress(D0Error):
            _do(transport, remove(address, aside))
    return said


def _do(transport: Transport, command: str) -> str:
    """Run a command, and return what it printed to stderr."""
    end = time.monotonic() + CONNECT_TIMEOUT_S
    with closing(transport.start(command)) as stream:
        while time.monotonic() < end and stream.read(CONNECT_TIMEOUT_S):
            pass
        return stream.stderr()


def not_renamed(said: str) -> D0Error | None:
    """Return the error of the renaming in what it and the login shell printed to stderr."""
    lines = (line for line in said.splitlines() if re.search(r"\bmv\b", line))
    return next(map(refusal, lines), None)


def rename(address: Address, aside: str, path: str) -> str:
    """Return the command that renames a file, which means the same to every shell."""
    if address.kind == "local":
        return f"exec mv -f {shlex.quote(aside)} {shlex.quote(path)}"
    _check_plain(address, aside, path)
    return f"exec mv -f {aside} {path}"


def remove(address: Address, path: str) -> str:
    """Return the command that removes a file, which means the same to every shell."""
    if address.kind == "local":
        return f"exec rm -f {shlex.quote(path)}"
    _check_plain(address, path)
    return f"exec rm -f {path}"


def _check_plain(address: Address, *texts: str) -> None:
    for word in texts:
        if not _PLAIN.match(word):
            raise NodeUnreachable(
                f"node `{address.name}`: `{word}` has characters that are special in shells",
                hint=f"d0ctl node add {address.name} ... --dir /a/plain/path",
            )


def pythons(address: Address) -> tuple[str, ...]:
    """Return the interpreters to try on a node, in order."""
    if address.kind == "local":
        return (sys.executable,)
    return (address.python,) if address.python else PYTHONS


CANNOT_KEEP = (
    ("No space left", "its disk is full"),
    ("quota exceeded", "its disk quota is used up"),
    ("Read-only file system", "its disk is read-only"),
    ("Permission denied", "you may not write there"),
)
"""Parts of errors of nodes that can't store a file, and their meaning."""


class CannotKeep(NodeUnreachable):
    """A node that answers, but can't store the wrapper."""


def cannot_keep(address: Address, path: str, error: D0Error) -> CannotKeep:
    """Return the error that a node can't store the wrapper, with what helps."""
    cause = str(error)
    fault = next((fault for sign, fault in CANNOT_KEEP if sign in cause), None)
    if fault is None:
        text = f"node `{address.name}` can't take the wrapper: {cause}"
        return CannotKeep(text, hint=error.hint)
    return CannotKeep(
        f"node `{address.name}`: {fault}: `{path.rpartition('/')[0]}`",
        hint="free space or give write permission there, or add the node with another --dir",
    )
