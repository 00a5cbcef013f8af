"""Reports of a courier to the loop."""

import time
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from d0ctl.errors import D0Error, NotFound
from d0ctl.nodes.frame_checks import Frame
from d0ctl.nodes.transports.download import CorruptedInTransit, WrongFile


class NodeUp(Struct, frozen=True):
    """A relay has said hello: the facts of the node, and the state of each attempt on it.

    `link` is the number of the courier's link, for `Courier.accept`; `cached` are the attempts
    with files in the node's cache; `heard_at` is when it came, by the clock of this machine: the
    daemon may read it much later.
    """

    node: int
    facts: dict[str, Any]
    attempts: dict[int, str]
    link: int
    cached: tuple[int, ...] = ()
    heard_at: float = field(default_factory=time.time)


class NodeDown(Struct, frozen=True):
    """A node can't be reached, or its link broke; the courier tries again after `wait_s`."""

    node: int
    error: str
    wait_s: float = 0.0


class Received(Struct, frozen=True):
    """A frame of the relay that the loop has to act on."""

    node: int
    frame: Frame


class FileFacts(NamedTuple):
    """Size and checksum of a file that was transferred, and the stamp of its copy."""

    size: int = 0
    checksum: str = ""
    inode: int | None = None
    mtime: int | None = None


NO_FACTS = FileFacts()


class TransferEnded(Struct, frozen=True):
    """The end of a transfer; `error` is None if it succeeded. `took_s` is 0 for one in a stream.

    `is_gone` means that the source does not exist, `is_spoilt` that another file arrived.
    """

    node: int
    name: Any
    error: str | None
    is_gone: bool = False
    is_spoilt: bool = False
    facts: FileFacts = NO_FACTS
    took_s: float = 0.0


class StreamEnded(Struct, frozen=True):
    """The end of a stream of files to a node; the ends of its files were reported before.

    `size` are the bytes of the `files` that arrived.
    """

    node: int
    source: int
    size: int = 0
    took_s: float = 0.0
    files: int = 1


class LoginTried(Struct, frozen=True):
    """One node has tried to log in to another for a stream; `fault` is empty if it could."""

    node: int
    callee: int
    fault: str


Report: TypeAlias = NodeUp | NodeDown | Received | TransferEnded | StreamEnded | LoginTried


def failed(node: int, name: Any, error: Exception) -> TransferEnded:
    """Return the report of a transfer that failed."""
    is_gone = isinstance(error, NotFound)
    is_wrong = isinstance(error, WrongFile | CorruptedInTransit)
    return TransferEnded(node, name, error_text(error), is_gone, is_wrong)


def error_text(error: Exception) -> str:
    """Return the text of an error, with the type of an unexpected one."""
    if isinstance(error, D0Error | OSError):
        return str(error)
    return f"{type(error).__name__}: {error}"
