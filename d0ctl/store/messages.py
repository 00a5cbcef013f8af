"""What nodes report, applied: each message once, whatever the order or the repetition.

Start, binary and end messages of an attempt say absolute things, the end says all of
them again, and only an attempt that has not ended takes any. So a message that comes
twice, late or before its turn changes nothing that was already told.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from d0ctl.model import Reason
from d0ctl.recover.policy import Verdict, judge
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import remake

Message = dict[str, Any]
"""One message as its wrapper wrote it, already checked for its shape and its token."""


@dataclass(slots=True)
class Applied:
    """What came of a batch: attempts nobody knows, and how long a demand's packages took."""

    unknown: set[int] = field(default_factory=set)
    durations: dict[int, list[float]] = field(default_factory=dict)


def apply(store: Store, messages: Sequence[Message], *, now: float) -> Applied:
    """Apply a batch of messages within the caller's transaction."""
    applied = Applied()
    for name in _CLEARED:
        store.change(name)
    contexts = _contexts(store, {message["attempt"] for message in messages})
    applied.unknown = {m["attempt"] for m in messages} - contexts.keys()
    live = {a: row for a, row in contexts.items() if row["outcome"] is None}
    with_results = _packages_with_results(store, live, messages)
    for message in messages:
        context = live.get(message["attempt"])
        if context is None:
            continue
        if message["kind"] == "start":
            store.change_many(
                "tell_start", [(message["attempt"], message["time"], message["utc_offset"])]
            )
        elif message["kind"] == "end":
            _tell_end(store, message, context, with_results)
            _count_duration(applied, message, context)
    _keep(store, now)
    remake(store, now=now)
    return applied


def fail(store: Store, attempts: Iterable[int], *, reason: str, message: str, now: float) -> None:
    """End attempts that can't say so themselves: their node has lost them, or is lost."""
    ends: list[Message] = [
        {
            "attempt": attempt,
            "kind": "end",
            "outcome": "lost",
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
    apply(store, ends, now=now)


def _contexts(store: Store, attempts: Iterable[int]) -> dict[int, Row]:
    found = {}
    for attempt in attempts:
        row = store.row("attempt_context", attempt=attempt)
        if row is not None:
            found[attempt] = row
    return found


def _packages_with_results(
    store: Store, live: dict[int, Row], messages: Sequence[Message]
) -> set[int]:
    ended = {
        live[m["attempt"]]["package_id"]
        for m in messages
        if m["kind"] == "end" and m["attempt"] in live and m["outcome"] == "successful"
    }
    store.change("clear_chosen")
    store.change_many("choose_package", ((package,) for package in ended))
    return {row[0] for row in store.rows("packages_with_results")}


def _tell_end(store: Store, message: Message, context: Row, with_results: set[int]) -> None:
    attempt = message["attempt"]
    package = context["package_id"]
    lost = _lost_copies(store, message, package)
    phase = _phase_after(message, context, package in with_results, lost)
    store.change_many(
        "tell_end",
        [
            (
                attempt,
                message["outcome"],
                phase,
                message["started"],
                message["ended"],
                message["utc_offset"],
                message["binary"],
                message["reason"],
                message["detail"] or None,
                message["exit_code"],
                message["signal"],
                message["cpu"],
                message["rss"],
                message["stderr"] or None,
                None,
                package,
            )
        ],
    )
    store.change_many(
        "tell_binary",
        (
            (
                attempt,
                b["binary"],
                b["started"],
                b["ended"],
                b["exit_code"],
                b["signal"],
                message["reason"] if b["binary"] == message["binary"] else None,
                b["cpu"],
                b["rss"],
            )
            for b in message["binaries"]
        ),
    )
    store.change_many(
        "tell_output",
        ((attempt, o["name"], o["path"], o["size"], o["checksum"]) for o in message["outputs"]),
    )


_CLEARED = (
    "clear_told_start",
    "clear_told_end",
    "clear_told_binary",
    "clear_told_output",
    "clear_lost",
)


def _lost_copies(store: Store, message: Message, package: int) -> bool:
    """Whether an attempt failed because copies that we believed in are gone; they are noted."""
    lost = [store.change("copy_at", package=package, path=path) for path in message["missing"]]
    return any(lost)


def _phase_after(message: Message, context: Row, has_results: bool, lost_copies: bool) -> str:
    """Where the end of its current attempt takes a package."""
    if message["outcome"] == "successful":
        return "transferring" if has_results else "done"
    if context["phase"] == "killing":
        return "dropped" if context["request"] == "drop" else "canceled"
    reason = Reason.LOST if lost_copies else message["reason"]
    if judge(reason, restarts=context["restarts"]) is Verdict.RESTART:
        return "ready"
    return "failed"


def _count_duration(applied: Applied, message: Message, context: Row) -> None:
    if message["outcome"] == "successful" and message["started"] is not None:
        took = max(0.0, message["ended"] - message["started"])
        applied.durations.setdefault(context["demand_id"], []).append(took)


def _keep(store: Store, now: float) -> None:
    """One statement a kind of change, for the whole batch."""
    store.change("start_attempts")
    store.change("start_packages", now=now)
    store.change("keep_locations", now=now)
    store.change("keep_files")
    store.change("keep_binaries")
    store.change("want_results", now=now)
    store.change("end_attempts")
    store.change("restart_lost", now=now)
    store.change("end_packages", now=now)
