"""What nodes report, applied: each message once, whatever the order or the repetition.

All messages of an attempt say absolute things, and only an attempt that has not ended takes
any. The end says again what start and binaries said; of states and progress the latest in the
attempt's own sequence counts. So a message that comes twice, late or before its turn changes
nothing that was already told. Times are told by the node's clock, and kept by ours.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from d0ctl.model import Phase, Reason
from d0ctl.policy import bad_nodes
from d0ctl.store.attempts import (
    alike_failures,
    black_holes,
    chains,
    declared,
    late_outputs,
    node_record,
    outputs,
)
from d0ctl.store.attempts import (
    failures as recovery,
)
from d0ctl.store.attempts.failures import Answer, Failure
from d0ctl.store.attempts.node_record import Ended
from d0ctl.store.attempts.run_time_history import learn
from d0ctl.store.connection import Row, Store
from d0ctl.store.files.copies import PARKED, remake
from d0ctl.store.nodes import software
from d0ctl_wrapper.protocol.message import MOST_NOTES

Message = dict[str, Any]
"""One message as its wrapper wrote it, already checked for its shape and its token."""

_End: TypeAlias = tuple[Message, Row]
"""An end message, and what the verdict on its attempt depends on."""


@dataclass(slots=True)
class Applied:
    """What came of a batch: attempts nobody knows, how long a demand's packages took, and how
    many bytes of their disks nodes are short of; and which nodes were drained or taken back.
    """

    unknown: set[int] = field(default_factory=set)
    durations: dict[int, list[float]] = field(default_factory=dict)
    needs: dict[int, int] = field(default_factory=dict)
    verdicts: list[str] = field(default_factory=list)


def apply(
    store: Store, messages: Sequence[Message], *, now: float, node: int | None = None
) -> Applied:
    """Apply a batch of messages within the caller's transaction; of one node's attempts only,
    when they are not signed by an attempt but told by a node.
    """
    applied = Applied()
    for name in _CLEARED:
        store.change(name)
    contexts = _contexts(store, {message["attempt"] for message in messages})
    applied.unknown = {m["attempt"] for m in messages} - contexts.keys()
    live = {
        attempt: row
        for attempt, row in contexts.items()
        if row["outcome"] is None and node in (None, row["node_id"])
    }
    heard = [message for message in messages if message["attempt"] in live]
    first_ends: dict[int, Message] = {}
    for message in heard:
        if message["kind"] == "end":
            first_ends.setdefault(message["attempt"], message)
    ends = [(message, live[attempt]) for attempt, message in first_ends.items()]
    _tell_states(store, [m for m in heard if m["kind"] in ("start", "state")], live)
    _tell_progress(store, [m for m in heard if m["kind"] == "progress"], now)
    _keep_notes(store, [m for m in messages if m["kind"] == "note"], contexts)
    told = ends
    ends = declared.within(store, outputs.check(store, told))
    ends = late_outputs.populate(store, ends, now=now)
    for (said, _), (message, _) in zip(told, ends, strict=True):
        if said["outcome"] == "successful" and message["outcome"] != "successful":
            store.change("purge_unbelieved", attempt=message["attempt"])
    reasons, answers = _tell_ends(store, ends, now)
    for message, context in ends:
        _count_duration(applied, message, context, now)
    if _tell_places(store, ends):
        for query in ("purge_former_staged", "unpurge_staged", "weigh_staged", "keep_stored"):
            store.change(query)
        store.change("keep_staged", now=now)
    for message in heard:
        if message["kind"] == "need":
            short_of = live[message["attempt"]]["node_id"]
            applied.needs[short_of] = max(applied.needs.get(short_of, 0), message["bytes"])
    _keep(store, now)
    applied.verdicts = black_holes.weigh(store, _conduct(ends, reasons), now=now)
    applied.verdicts += alike_failures.weigh(store, _for_good(ends, reasons, answers), now=now)
    learn(store, ends)
    remake(store, now=now)
    return applied


def keep_pace(store: Store, applied: Applied) -> None:
    """Keep how long packages of each demand lately took: the scheduler plans with it."""
    for demand, durations in applied.durations.items():
        store.change("demand_pace", demand=demand, pace=sum(durations) / len(durations))


def fail(
    store: Store, node: int, attempts: Iterable[int], *, reason: str, message: str, now: float
) -> None:
    """End attempts of a node that can't say so themselves: it has lost them, or is lost."""
    _end(store, node, attempts, outcome="lost", reason=reason, message=message, now=now)


def refuse(store: Store, node: int, attempt: int, *, reason: str, message: str, now: float) -> None:
    """Fail an attempt whose end message is refused, and have removed what it made."""
    _end(store, node, [attempt], outcome="failed", reason=reason, message=message, now=now)
    store.change("purge_unbelieved", attempt=attempt)


def _end(
    store: Store,
    node: int,
    attempts: Iterable[int],
    *,
    outcome: str,
    reason: str,
    message: str,
    now: float,
) -> None:
    """End attempts by messages of the control host, which know of no node's clock."""
    ends: list[Message] = [
        {
            "attempt": attempt,
            "kind": "end",
            "outcome": outcome,
            "started": None,
            "ended": now,
            "utc_offset": None,
            "binary": None,
            "reason": reason,
            "detail": message,
            "exit_code": None,
            "signal": None,
            "cpu": None,
            "rss": None,
            "stderr": None,
            "binaries": [],
            "outputs": [],
            "missing": [],
        }
        for attempt in attempts
    ]
    apply(store, ends, now=now, node=node)


def _contexts(store: Store, attempts: Iterable[int]) -> dict[int, Row]:
    store.change_many("hear_of", ((attempt,) for attempt in attempts))
    return {row["id"]: row for row in store.rows("attempt_contexts")}


def _packages_with_results(store: Store, ends: Sequence[_End]) -> set[int]:
    ended = {context["package_id"] for end, context in ends if end["outcome"] == "successful"}
    store.change("clear_chosen")
    store.change_many("choose_package", ((package,) for package in ended))
    return {row[0] for row in store.rows("packages_with_results")}


def _tell_states(store: Store, told: Sequence[Message], contexts: Mapping[int, Row]) -> None:
    """For each attempt when it started, if that is told, and the latest phase."""
    latest: dict[int, Message] = {}
    starts: dict[int, Message] = {}
    for message in told:
        attempt = message["attempt"]
        if message["kind"] == "start":
            starts.setdefault(attempt, message)
        if attempt not in latest or message["seq"] > latest[attempt]["seq"]:
            latest[attempt] = message
    rows = []
    for attempt, state in latest.items():
        start = starts.get(attempt)
        at, offset = (start["time"], start["utc_offset"]) if start else (None, None)
        why = state.get("why")
        rows.append(
            (attempt, _here(at, contexts[attempt]), offset, state["seq"], state["phase"], why)
        )
    store.change_many("tell_state", rows)


def _tell_progress(store: Store, told: Sequence[Message], now: float) -> None:
    latest: dict[int, Message] = {}
    for message in told:
        known = latest.get(message["attempt"])
        if known is None or message["seq"] > known["seq"]:
            latest[message["attempt"]] = message
    store.change_many("tell_progress", (_progress_row(one, now) for one in latest.values()))


def _progress_row(told: Message, now: float) -> tuple[Any, ...]:
    eta = None if told["eta"] is None else now + max(0.0, told["eta"] - told["time"])
    return (
        told["attempt"],
        told["seq"],
        told["binary"],
        told["done"],
        told["total"],
        told["percent"],
        told["line"],
        eta,
        told["cpu"],
        told["rss"],
    )


def _keep_notes(store: Store, told: Sequence[Message], contexts: Mapping[int, Row]) -> None:
    """Keep notes, also those that come after the end; of each attempt a bounded number."""
    rows = (
        (m["attempt"], m["seq"], _here(m["time"], contexts[m["attempt"]]), m["binary"], m["text"],
         MOST_NOTES)
        for m in told
        if m["attempt"] in contexts
    )  # fmt: skip
    store.change_many("keep_note", rows)


def _here(time: float | None, context: Row) -> float | None:
    """A time by our clock, of one told by that of a node."""
    return None if time is None else time - (context["clock"] or 0.0)


def _tell_ends(
    store: Store, ends: Sequence[_End], now: float
) -> tuple[dict[int, str], dict[int, Answer]]:
    """Note how attempts ended; the reason of each that failed, and what follows it."""
    with_results = _packages_with_results(store, ends)
    failures = _failures(store, ends)
    answers = recovery.answer(store, failures, now=now)
    rows = [_end_row(*end, with_results, answers) for end in ends]
    store.change_many("tell_end", rows)
    chains.keep(store, (message for message, _ in ends))
    chains.settle(store, ends)
    store.change_many("tell_binary", (_binary_row(m, b, c) for m, c in ends for b in m["binaries"]))
    store.change_many(
        "tell_output",
        (
            (
                m["attempt"],
                context["package_id"],
                o["name"],
                o["path"],
                o["size"],
                o["checksum"],
                o.get("inode"),
                o.get("mtime"),
            )
            for (m, context), row in zip(ends, rows, strict=True)
            if m["outcome"] == "successful" or row[2] == Phase.CANCELED
            for o in m["outputs"]
        ),
    )
    return {one.attempt: one.reason for one in failures}, answers


def _for_good(
    ends: Sequence[_End], reasons: Mapping[int, str], answers: Mapping[int, Answer]
) -> Iterator[tuple[int, int, str]]:
    """Job, stage and reason of each failure that says something of its stage, and that no other
    try follows without a person.
    """
    for message, context in ends:
        attempt = message["attempt"]
        reason = reasons.get(attempt)
        if (
            reason
            and answers[attempt].is_final
            and bad_nodes.counts_against_node(reason, or_gone=False)
        ):
            yield context["job_id"], context["stage_id"], reason


def _conduct(ends: Sequence[_End], reasons: Mapping[int, str]) -> list[Ended]:
    """The ends that say something of a node: attempts that went well, and those that failed."""
    return [
        node_record.of_end(
            message, context, _ended(message, context), reasons.get(message["attempt"])
        )
        for message, context in ends
        if context["node"] is not None
        and (message["outcome"] == "successful" or message["attempt"] in reasons)
    ]


def _ended(message: Message, context: Row) -> float:
    """When an attempt ended, by our clock."""
    lag = 0.0 if message["utc_offset"] is None else context["clock"] or 0.0
    return float(message["ended"]) - lag


def _failures(store: Store, ends: Sequence[_End]) -> list[Failure]:
    """Of the ends those that a policy has to answer."""
    found = []
    for message, context in ends:
        lost = _lost_copies(store, message, context)
        if message["reason"] == Reason.SOFTWARE_MISSING:
            software.missed(store, context["node_id"], context["package_id"])
        if message["outcome"] != "successful" and context["phase"] != "killing":
            found.append(_failure(message, context, lost))
    return found


def _failure(message: Message, context: Row, lost_copies: bool) -> Failure:
    began = message["started"] if message["started"] is not None else message["ended"]
    return Failure(
        attempt=message["attempt"],
        reason=Reason.LOST if lost_copies else message["reason"] or Reason.LOST,
        message=message["detail"] or None,
        restarts=context["restarts"],
        lasted=max(0.0, message["ended"] - began),
        rss=message["rss"],
        reported=message["outcome"] != "lost",
        is_whole=chains.is_whole(message),
    )


def _tell_places(store: Store, ends: Sequence[_End]) -> bool:
    """What wrappers brought from outside, and what they stored there; whether there is any."""
    staged = [
        (
            m["attempt"],
            one["locator"],
            one["path"],
            one["size"],
            one["checksum"],
            one.get("inode"),
            one.get("mtime"),
        )
        for m, _ in ends
        for one in m.get("staged", ())
    ]
    stored = [
        (context["package_id"], one["name"], one["locator"])
        for m, context in ends
        for one in m.get("stored", ())
    ]
    store.change_many("tell_staged", staged)
    store.change_many("tell_stored", stored)
    return bool(staged or stored)


def _end_row(
    message: Message, context: Row, with_results: set[int], answers: Mapping[int, Answer]
) -> tuple[Any, ...]:
    """The row of `told_end`, with the verdict on the attempt."""
    package = context["package_id"]
    answer = answers.get(message["attempt"])
    return (
        message["attempt"],
        message["outcome"],
        answer.phase if answer else _phase_after(message, context, package in with_results),
        _here(message["started"], context),
        _ended(message, context),
        message["utc_offset"],
        message["binary"],
        message["reason"],
        message["detail"] or None,
        message["exit_code"],
        message["signal"],
        message["cpu"],
        message["rss"],
        message["stderr"] or None,
        answer.not_before if answer else None,
        package,
        message.get("partial", False),
        answer.verdict.value if answer else None,
        answer.demand if answer else None,
        answer.wall_time if answer else None,
        answer.note if answer else None,
    )


def _binary_row(message: Message, binary: Message, context: Row) -> tuple[Any, ...]:
    return (
        message["attempt"],
        binary["binary"],
        _here(binary["started"], context),
        _here(binary["ended"], context),
        binary["exit_code"],
        binary["signal"],
        message["reason"] if binary["binary"] == message["binary"] else None,
        binary["cpu"],
        binary["rss"],
    )


_CLEARED = (
    "clear_heard",
    "clear_told_state",
    "clear_told_progress",
    "clear_told_end",
    "clear_told_binary",
    "clear_told_output",
    "clear_told_staged",
    "clear_told_stored",
    "clear_lost",
)


def _lost_copies(store: Store, message: Message, context: Row) -> bool:
    """Whether an attempt failed because copies that we believed in are gone; they are noted."""
    package, node = context["package_id"], context["node_id"]
    lost = [
        store.change("copy_at", package=package, node=node, path=path)
        for path in message["missing"]
    ]
    return any(lost)


def _phase_after(message: Message, context: Row, has_results: bool) -> str:
    """Where the end takes a package that went well, or was to end."""
    if message["outcome"] == "successful":
        return "transferring" if has_results else "done"
    return "dropped" if str(context["request"]).startswith("drop") else "canceled"


def _count_duration(applied: Applied, message: Message, context: Row, now: float) -> None:
    """Note how long a package took; a node can't say that it took longer than since its launch."""
    is_run = message["outcome"] == "successful" and not context["delivers"]
    if is_run and message["started"] is not None:
        took = max(0.0, message["ended"] - message["started"])
        if context["launched"] is not None:
            took = min(took, max(0.0, now - context["launched"]))
        applied.durations.setdefault(context["demand_id"], []).append(took)


def _keep(store: Store, now: float) -> None:
    """One statement a kind of change, for the whole batch."""
    store.change("start_attempts")
    store.change("start_packages", now=now)
    store.change("keep_progress", now=now)
    store.change("forget_progress")
    store.change("purge_former_copies")
    store.change("lose_former_copies")
    store.change("keep_locations", now=now)
    store.change("keep_files")
    store.change("wake_made_transfers", parked=PARKED)
    store.change("keep_binaries")
    store.change("want_results", now=now)
    store.change("want_forwards", now=now)
    store.change("end_attempts")
    store.change("fail_for_now", now=now)
    store.change("end_packages", now=now)
