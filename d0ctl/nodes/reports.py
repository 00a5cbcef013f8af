"""What a courier reports to the loop."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from d0ctl.nodes.frames import Frame


@dataclass(frozen=True, slots=True)
class NodeUp:
    """A relay has greeted: what the node is, and the state of each attempt that it has.

    `link` is the number of the courier's link, for `Courier.accept`; `cached` are the attempts
    with files in the node's cache.
    """

    node: int
    facts: dict[str, Any]
    attempts: dict[int, str]
    link: int
    cached: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeDown:
    """A node can't be reached, or its link broke; the courier keeps trying."""

    node: int
    error: str


@dataclass(frozen=True, slots=True)
class Received:
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


@dataclass(frozen=True, slots=True)
class TransferEnded:
    """The end of a transfer; `error` is None when it succeeded.

    `is_gone` means that the source does not exist, `is_spoilt` that another file arrived.
    """

    node: int
    name: Any
    error: str | None
    is_gone: bool = False
    is_spoilt: bool = False
    facts: FileFacts = NO_FACTS


Report: TypeAlias = NodeUp | NodeDown | Received | TransferEnded
