"""The fields of each kind of message, for type checkers: Python 3.6 has no TypedDict.

`protocol.message` checks them; `docs/protocol.md` says what they mean.
"""

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

if TYPE_CHECKING:
    from typing import Literal, TypedDict

    class _Common(TypedDict):
        """The fields of every message: attempt, secret, sequence number, time on the node."""

        attempt: int
        token: str
        seq: int
        time: float

    class Start(_Common):
        """The wrapper has started."""

        kind: Literal["start"]
        pid: int
        boot_id: str
        utc_offset: int
        phase: str

    class State(_Common):
        """The attempt is in another phase."""

        kind: Literal["state"]
        phase: str
        why: str
        started: Optional[float]
        suspended: float

    class Progress(_Common):
        """The progress of a binary."""

        kind: Literal["progress"]
        binary: int
        done: Optional[float]
        total: Optional[float]
        percent: Optional[float]
        line: str
        eta: Optional[float]
        cpu: float
        rss: int

    class Note(_Common):
        """A remark about the attempt that people may want to read."""

        kind: Literal["note"]
        binary: Optional[int]
        text: str

    class Need(_Common):
        """The node is short of so many bytes of disk."""

        kind: Literal["need"]
        bytes: int
        why: str

    class BinaryEnd(TypedDict):
        """How a binary ended; `gap` is its longest silence in seconds, `disk` its peak in bytes."""

        binary: int
        started: float
        ended: float
        exit_code: Optional[int]
        signal: Optional[int]
        cpu: float
        rss: int
        gap: Optional[float]
        disk: Optional[int]

    class Ending(TypedDict):
        """How an attempt ended, and what it made.

        One that the control host ends has never started, and has no clock of a node.
        """

        attempt: int
        kind: Literal["end"]
        outcome: str
        wrapper_started: Optional[float]
        started: Optional[float]
        ended: float
        suspended: float
        utc_offset: Optional[int]
        binary: Optional[int]
        reason: Optional[str]
        detail: str
        exit_code: Optional[int]
        signal: Optional[int]
        cpu: Optional[float]
        rss: Optional[int]
        stderr: str
        binaries: List[BinaryEnd]
        outputs: List[Dict[str, Any]]
        missing: List[str]
        partial: bool
        staged: List[Dict[str, Any]]
        stored: List[Dict[str, Any]]
        began: int
        began_why: str
        retained: Optional[Dict[str, Any]]
        events: List[Dict[str, Any]]

    class End(_Common, Ending):
        """The attempt has ended."""

    Message = Union[Start, State, Progress, Note, Need, End]
    """A message, of the kind that its field `kind` says."""
