"""Rows of a batch of messages: the temporary tables from which `messages` writes the database."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from d0ctl.model import Phase
from d0ctl.store.attempts import chains
from d0ctl.store.attempts.endings import End, Verdicts, control_host_time, ended, wrapper_started
from d0ctl.store.connection import Row, Store
from d0ctl_wrapper.protocol.message import MOST_NOTES

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import BinaryEnd, Ending, Message, Progress, Start
    from d0ctl_wrapper.protocol.message_types import State as StateMessage


class _State(NamedTuple):
    """When an attempt and its wrapper started, as far as is known, and its latest phase.

    `suspended` is for how many seconds it was suspended.
    """

    attempt: int
    wrapper_started: float | None
    started: float | None
    utc_offset: int | None
    suspended: float
    seq: int
    phase: str
    why: str | None


class _Progress(NamedTuple):
    """The progress of an attempt."""

    attempt: int
    seq: int
    binary: int
    done: float | None
    total: float | None
    percent: float | None
    line: str
    eta: float | None
    cpu: float
    rss: int


class _End(NamedTuple):
    """How an attempt ended, and what follows for its package."""

    attempt: int
    package: int
    outcome: str
    phase: str
    wrapper_started: float | None
    started: float | None
    ended: float
    suspended: float
    utc_offset: int | None
    binary: int | None
    exit_code: int | None
    cpu: float | None
    rss: int | None
    partial: int
    reason: str | None
    message: str | None
    signal: int | None
    stderr: str | None
    not_before: float | None
    answer: str | None
    requirement: int | None
    wall_time: float | None
    note: str | None


class _Binary(NamedTuple):
    """How a binary ended in an attempt."""

    attempt: int
    seq: int
    started: float | None
    ended: float | None
    exit_code: int | None
    cpu: float
    rss: int | None
    disk: int | None
    signal: int | None
    reason: str | None


class _Output(NamedTuple):
    """A file that an attempt left on its node."""

    attempt: int
    package: int
    name: str
    path: str
    size: int
    checksum: str
    inode: int | None
    mtime: int | None
    partial: int


class _Staged(NamedTuple):
    """A file from outside that a wrapper has copied to its node."""

    attempt: int
    locator: str
    path: str
    size: int
    checksum: str
    inode: int | None
    mtime: int | None


def add_states(store: Store, messages: "Sequence[Message]", contexts: Mapping[int, Row]) -> None:
    """Add for each attempt when it and its wrapper started, and the latest phase."""
    latest: dict[int, Start | StateMessage] = {}
    starts: dict[int, Start] = {}
    for message in messages:
        if message["kind"] == "start":
            starts.setdefault(message["attempt"], message)
        if message["kind"] == "start" or message["kind"] == "state":
            known = latest.get(message["attempt"])
            if known is None or message["seq"] > known["seq"]:
                latest[message["attempt"]] = message
    rows = []
    for attempt, state in latest.items():
        start = starts.get(attempt)
        at, offset = (start["time"], start["utc_offset"]) if start else (None, None)
        why, suspended = ((None, 0.0) if state["kind"] == "start"
                          else (state["why"], state.get("suspended", 0.0)))  # fmt: skip
        context = contexts[attempt]
        rows.append(_State(attempt, control_host_time(at, context),
                           control_host_time(_started(start, state), context), offset, suspended,
                           state["seq"], state["phase"], why))  # fmt: skip
    store.insert_many("report_state", rows, _State._fields.index("why"))


def _started(start: "Start | None", latest: "Start | StateMessage") -> float | None:
    """Return when an attempt began to run; None while it stages in or waits for its CPUs."""
    started = latest.get("started") if latest["kind"] == "state" else None
    if started is None and start is not None and start["phase"] == "running":
        return start["time"]
    return started


def add_progress(store: Store, messages: "Sequence[Message]", now: float) -> None:
    """Add for each attempt the latest progress."""
    latest: dict[int, Progress] = {}
    for message in messages:
        if message["kind"] == "progress":
            known = latest.get(message["attempt"])
            if known is None or message["seq"] > known["seq"]:
                latest[message["attempt"]] = message
    store.change_many("report_progress", (_progress(message, now) for message in latest.values()))


def _progress(message: "Progress", now: float) -> _Progress:
    eta = message["eta"]
    return _Progress(
        message["attempt"], message["seq"], message["binary"], message["done"], message["total"],
        message["percent"], message["line"],
        None if eta is None else now + max(0.0, eta - message["time"]),
        message["cpu"], message["rss"],
    )  # fmt: skip


def keep_notes(store: Store, messages: "Sequence[Message]", contexts: Mapping[int, Row]) -> None:
    """Record the notes of known attempts; a limited number of each."""
    rows = (
        (message["attempt"], message["seq"],
         control_host_time(message["time"], contexts[message["attempt"]]), message["binary"],
         message["text"], MOST_NOTES)
        for message in messages
        if message["kind"] == "note" and message["attempt"] in contexts
    )  # fmt: skip
    store.change_many("keep_note", rows)


def add_ends(store: Store, ends: Sequence[End], verdicts: Verdicts) -> None:
    """Add how attempts ended, with the consequences, and their files."""
    rows = [_end(end, context, verdicts) for end, context in ends]
    store.insert_many("report_end", rows, _End._fields.index("reason"))
    chains.keep(store, (end for end, _ in ends))
    chains.settle(store, ends)
    binaries = [_binary(end, binary, context) for end, context in ends
                for binary in end["binaries"]]  # fmt: skip
    store.insert_many("report_binary", binaries, _Binary._fields.index("signal"))
    store.change_many(
        "report_output",
        (
            _Output(row.attempt, row.package, output["name"], output["path"], output["size"],
                    output["checksum"], output.get("inode"), output.get("mtime"), row.partial)
            for (end, _), row in zip(ends, rows, strict=True)
            if row.outcome == "successful" or row.phase == Phase.CANCELED
            for output in end["outputs"]
        ),
    )  # fmt: skip


def _end(end: "Ending", context: Row, verdicts: Verdicts) -> _End:
    answer = verdicts.answers.get(end["attempt"])
    return _End(
        attempt=end["attempt"],
        package=context["package_id"],
        # a package that is ended on request, but not of this home, has failed
        outcome="failed" if answer and end["outcome"] == "killed" else end["outcome"],
        phase=str(answer.phase if answer else verdicts.phase_after(end, context)),
        wrapper_started=control_host_time(wrapper_started(end), context),
        started=control_host_time(end["started"], context),
        ended=ended(end, context),
        suspended=end.get("suspended", 0.0),
        utc_offset=end["utc_offset"],
        binary=end["binary"],
        exit_code=end["exit_code"],
        cpu=end["cpu"],
        rss=end["rss"] or None,
        partial=int(end.get("partial", False)),
        reason=end["reason"],
        message=_message(end, is_requested=answer is None),
        signal=end["signal"],
        stderr=end["stderr"] or None,
        not_before=answer.not_before if answer else None,
        answer=answer.verdict.value if answer else None,
        requirement=answer.requirement if answer else None,
        wall_time=answer.wall_time if answer else None,
        note=answer.note if answer else None,
    )


def _message(end: "Ending", *, is_requested: bool) -> str | None:
    """Return why an attempt ended, and that nobody requested it here if a wrapper was asked to."""
    is_reported = wrapper_started(end) is not None
    is_foreign = end["outcome"] == "killed" and is_reported and not is_requested
    return "; ".join(filter(None, [end["detail"], NOT_REQUESTED if is_foreign else ""])) or None


NOT_REQUESTED = "not requested here, but by another daemon of this site or on the node"
"""Who may have ended an attempt whose wrapper reports a kill that this home has not ordered."""


def _binary(end: "Ending", binary: "BinaryEnd", context: Row) -> _Binary:
    reason = end["reason"] if binary["binary"] == end["binary"] else None
    return _Binary(
        end["attempt"], binary["binary"], control_host_time(binary["started"], context),
        control_host_time(binary["ended"], context), binary["exit_code"], binary["cpu"],
        binary["rss"] or None, binary.get("disk"), binary["signal"], reason,
    )  # fmt: skip


def add_places(store: Store, ends: Sequence[End]) -> bool:
    """Add files that wrappers copied from outside or stored there; return whether there are any."""
    staged = [
        _Staged(end["attempt"], file["locator"], file["path"], file["size"], file["checksum"],
                file.get("inode"), file.get("mtime"))
        for end, _ in ends
        for file in end.get("staged", ())
    ]  # fmt: skip
    stored = [
        (context["package_id"], file["name"], file["locator"])
        for end, context in ends
        for file in end.get("stored", ())
    ]
    store.change_many("report_staged", staged)
    store.change_many("report_stored", stored)
    return bool(staged or stored)
