"""Remarks: why a package changed without a person; codes with values, whose words are in show.

The note of a package, event or node is a code, `input-lost`, or a code and its values as JSON:
`{"remark":"node-moved","node":"farm02"}`. Other notes are the words of a person or of a node.
"""

import enum
from typing import Literal, NamedTuple, TypedDict

import msgspec
from msgspec import Struct


class Remark(enum.StrEnum):
    """The codes without values."""

    REPACKAGED = "repackaged"
    OUTDATED_MERGE = "outdated-merge"
    INPUT_REPLACED = "input-replaced"
    INPUT_LOST = "input-lost"
    INPUT_COPY_LOST = "input-copy-lost"
    INPUT_AWAY = "input-away"
    OUTPUT_LOST = "output-lost"
    INPUTS_CHANGED = "inputs-changed"
    INPUT_REMADE = "input-remade"
    MAKER_REMOVED = "maker-removed"
    KEPT_OUTPUTS_REMOVED = "kept-outputs-removed"
    KEPT_OUTPUTS_EXPIRED = "kept-outputs-expired"
    NODE_DRAINED = "node-drained"
    RELEASED_BY_POLICY = "released-by-policy"
    PAUSE_OVER = "pause-over"
    LAST_DAEMON_DIED = "last-daemon-died"
    SUCCEEDED_SINCE = "succeeded-since"
    FAILED_ELSEWHERE = "failed-elsewhere"
    """Of a drained node: a package of the stage that began there after the failures succeeded."""


class Against(enum.StrEnum):
    """Why there is no other try."""

    PASSIVE = "passive"
    PASSIVE_TRIES = "passive-tries"
    """The rule is passive; otherwise the package would be tried again."""
    TRIES = "tries"
    ALL_TRIES = "all-tries"
    TIME = "time"
    ALL_TIME = "all-time"
    MEMORY = "memory"
    NO_REPORT = "no-report"
    DISK = "disk"
    NO_OTHER_NODE = "no-other-node"
    NO_LARGER_NODE = "no-larger-node"


class NodeRemoved(Struct, frozen=True, tag_field="remark", tag="node-removed"):
    """The node of an assigned package was removed."""

    node: str


class NodeMoved(Struct, frozen=True, tag_field="remark", tag="node-moved"):
    """The node of an assigned package was moved to another cluster."""

    node: str


class NodeAtFault(Struct, frozen=True, tag_field="remark", tag="node-at-fault"):
    """It failed because of the node, and runs elsewhere."""

    node: str


class Others(TypedDict):
    """How attempts at packages of the same stage ended on other nodes."""

    successful: int
    failed: int


class NodeFailing(Struct, frozen=True, omit_defaults=True, tag_field="remark", tag="node-failing"):
    """A node was drained because packages of a stage failed there, and succeed elsewhere."""

    stage: str
    failures: int
    """How many in a row."""
    longest_s: float
    reasons: dict[str, int]
    others: Others
    packages: list[str] = []
    """The first of them, by their paths."""


class InputsLate(Struct, frozen=True, tag_field="remark", tag="inputs-late"):
    """It waited for its inputs on a node for too long, and would end earlier on another."""

    node: str
    waited_s: float
    other: str


class TriedAgain(Struct, frozen=True, omit_defaults=True, tag_field="remark", tag="tried-again"):
    """The next try after a failure is number `number` of `tries`."""

    reason: str
    number: int
    tries: int
    message: str | None = None


class GivenUp(Struct, frozen=True, omit_defaults=True, tag_field="remark", tag="given-up"):
    """A failure without another try, and the limit that is reached: a number, seconds or bytes."""

    reason: str
    message: str | None = None
    why: Against | None = None
    limit: int | float | None = None


class FailedAlike(Struct, frozen=True, tag_field="remark", tag="failed-alike"):
    """A job is held, as a stage only failed, and always in the same way."""

    stage: str
    reason: str
    failed: int


class RuleHolds(Struct, frozen=True, tag_field="remark", tag="rule-holds"):
    """A job is held, as the rule for the failure of a package says so."""

    package: str
    reason: str


class TooManyFailed(Struct, frozen=True, tag_field="remark", tag="too-many-failed"):
    """A job is held, as it has reached its `max-failures`."""

    job: str
    failed: int
    most: int


class TrialFailed(Struct, frozen=True, tag_field="remark", tag="trial-failed"):
    """A drained node failed the package that tried it, too; the next one comes later."""

    rest_s: float


class TrialSucceeded(Struct, frozen=True, tag_field="remark", tag="trial-succeeded"):
    """The package that tried a drained node succeeded after this many rests."""

    rests: int


class RemadeFor(Struct, frozen=True, tag_field="remark", tag="remade-for"):
    """Packages that had succeeded run again: other jobs read files of which no copy was left."""

    readers: list[str]


Valued = (
    NodeRemoved | NodeMoved | NodeAtFault | NodeFailing | InputsLate | TriedAgain | GivenUp
    | FailedAlike | RuleHolds | TooManyFailed | TrialFailed | TrialSucceeded
    | RemadeFor
)  # fmt: skip


class Verdict(NamedTuple):
    """What d0ctl did with a job or node by itself, and the note with the reason."""

    what: Literal["job-held", "node-drained", "node-kept", "node-back"]
    name: str
    note: str


_decoder: msgspec.json.Decoder[Valued] = msgspec.json.Decoder(Valued)


def noted(remark: Valued) -> str:
    """Write a remark as a note."""
    return msgspec.json.encode(remark).decode()


def read(note: str | None) -> Remark | Valued | None:
    """Return the remark in a note; None if it has other words."""
    if note in _CODES:
        return Remark(note)
    if not (note or "").startswith('{"remark"'):
        return None
    try:
        return _decoder.decode(note or "")
    except msgspec.DecodeError:
        return None


def own_words(note: str | None) -> str | None:
    """Return the words of a person in a note; None if it is a remark."""
    return note if read(note) is None else None


_CODES = frozenset(Remark)
