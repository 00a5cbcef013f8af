"""Connections for large transfers: by the ssh program, several times as fast as paramiko."""

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from d0ctl.errors import D0Error
from d0ctl.model import Address
from d0ctl.nodes.transports.openssh import OpenSshTransport
from d0ctl_wrapper.protocol.file_stream import CIPHERS

log = logging.getLogger(__name__)

BULK = 32_000_000
"""From this many bytes on, a connection of its own is worth its start."""


class Reached(Protocol):
    """A node that is in contact."""

    @property
    def address(self) -> Address:
        """How it is reached."""

    @property
    def known_hosts(self) -> Path:
        """The host keys that were accepted."""


@contextmanager
def both(ends: Sequence[tuple[Reached, Any]], size: int) -> Iterator[list[Any]]:
    """Yield the connections to both ends of a stream, which are made at the same time."""
    with ExitStack() as stack:
        with ThreadPoolExecutor(len(ends)) as pool:
            entered = [bulk(*end, size) for end in ends]
            futures = [pool.submit(manager.__enter__) for manager in entered]
        for manager, future in zip(entered, futures, strict=True):
            if future.exception() is None:
                stack.push(manager.__exit__)
        yield [future.result() for future in futures]


@contextmanager
def bulk(node: Reached, usual: Any, size: int | None) -> Iterator[Any]:
    """Yield a connection of its own for a large transfer, or the usual one if that fails."""
    if size is None or size < BULK or node.address.kind != "ssh":
        yield usual
        return
    address = node.address
    try:
        fast = OpenSshTransport(address, node.known_hosts, ciphers=CIPHERS)
    except (D0Error, OSError) as error:
        log.info("node %s: files are sent over the usual connection: %s", address.name, error)
        yield usual
        return
    try:
        yield fast
    finally:
        fast.close()
