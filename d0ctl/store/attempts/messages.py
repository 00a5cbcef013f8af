"""Messages from nodes, applied: each once, whatever the order or the repetition.

All messages of an attempt state absolute facts, and only an attempt that has not ended accepts any.
The end repeats the start and the binaries; of states and progress the latest in the attempt's own
sequence counts. So a message that comes twice, late or early changes nothing that is already known.

Nodes report times by their own clocks; the database has times by the clock of the control host.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct, field

from d0ctl.model import Reason
from d0ctl.policy.remarks import Verdict
from d0ctl.store.attempts import (
    alike_failures,
    black_holes,
    classifiers,
    declared,
    endings,
    late_outputs,
    message_rows,
    outputs,
)
from d0ctl.store.attempts.endings import ended_by_control
from d0ctl.store.attempts.history import estimates, share_usage
from d0ctl.store.attempts.history.run_time_history import learn
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import edited_files
from d0ctl.store.files.copies import PARKED, outdate, remake
from d0ctl_wrapper.protocol.text import PAUSED

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending, Message


class Applied(Struct):
    """The outcome of a batch: unknown attempts, run times by requirement, each with the speed of
    its node, how many bytes of disk nodes lack, and which nodes were drained or resumed.
    """

    unknown: set[int] = field(default_factory=set)
    durations: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    needs: dict[int, int] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    foreign: dict[str, list[int]] = field(default_factory=dict)
    """Attempts on other nodes for which a node sent messages, which count as forged, by node."""
    ending: set[int] = field(default_factory=set)
    """Nodes that ended a wrapper, as at a shutdown or at the end of an allocation."""


def apply(
    store: Store,
    messages: "Sequence[Message]",
    senders: Sequence[str | None] = (),
    *,
    now: float,
) -> Applied:
    """Apply a batch of messages within the caller's transaction.

    `senders` has the node that sent each message; a node can report only its own attempts.
    """
    applied = Applied()
    contexts = _begin(store, {message["attempt"] for message in messages})
    applied.unknown = {message["attempt"] for message in messages} - contexts.keys()
    if senders:
        messages = _without_foreign(messages, senders, contexts, applied)
    live = {attempt: row for attempt, row in contexts.items() if row["outcome"] is None}
    current = [message for message in messages if message["attempt"] in live]
    ends: dict[int, Ending] = {}
    for message in current:
        if message["kind"] == "end":
            ends.setdefault(message["attempt"], message)
            if message["reason"] == Reason.PLATFORM_FAILURE:
                applied.ending.add(live[message["attempt"]]["node_id"])
        elif message["kind"] == "need":
            short_of = live[message["attempt"]]["node_id"]
            applied.needs[short_of] = max(applied.needs.get(short_of, 0), message["bytes"])
    message_rows.add_states(store, current, live)
    message_rows.add_progress(store, current, now)
    # Notes count after the end, too: a wrapper writes its last ones when it cleans up.
    message_rows.keep_notes(store, messages, contexts)
    _apply_ends(store, [(end, live[attempt]) for attempt, end in ends.items()], applied, now)
    return applied


def take_status(
    store: Store, node: int, attempt: int, status: Mapping[str, Any], *, now: float
) -> None:
    """Apply the status of an attempt of this node like the messages that it stands for.

    That of an older wrapper has no number of its last message, and is ignored.
    """
    if not status["seq"] or store.value("live_node", attempt=attempt) != node:
        return
    phase, started = status["phase"], status["started"]
    start = {
        "attempt": attempt,
        "kind": "start",
        "seq": 1,
        "time": status["wrapper_started"],
        "utc_offset": None,
        "phase": "staging-in" if started is None else phase,
    }
    state = {
        "attempt": attempt, "kind": "state", "seq": status["seq"], "phase": phase,
        "why": status["why"], "started": started, "suspended": 0.0,
    }  # fmt: skip
    apply(store, cast("list[Message]", [start, state]), now=now)


def _without_foreign(
    messages: "Sequence[Message]",
    senders: Sequence[str | None],
    contexts: Mapping[int, Row],
    applied: Applied,
) -> "list[Message]":
    """Return the messages without those of attempts on other nodes than the sender."""
    own = []
    for message, sender in zip(messages, senders, strict=True):
        context = contexts.get(message["attempt"])
        if context is None or sender is None or sender == context["node_name"]:
            own.append(message)
        else:
            applied.foreign.setdefault(sender, []).append(message["attempt"])
    return own


def keep_pace(store: Store, applied: Applied) -> None:
    """Record how long packages with each requirement took recently, for the scheduler."""
    for requirement, durations in applied.durations.items():
        store.change(
            "requirement_pace",
            requirement=requirement,
            pace=sum(took for took, _ in durations) / len(durations),
            seconds=sum(took * speed for took, speed in durations) / len(durations),
        )


def fail(
    store: Store, node: int, attempts: Iterable[int], *, reason: str, message: str, now: float
) -> None:
    """End attempts of a node that can't report it themselves: they are lost, or their node is.

    Their batch system may also have ended them at a limit, or because another user wanted it.
    """
    outcome = OUTCOMES.get(reason, "lost")
    _end(store, node, [ended_by_control(attempt, outcome, reason, message, now=now)
                       for attempt in attempts], now)  # fmt: skip


OUTCOMES: Mapping[str, str] = {
    Reason.WALL_TIME: "failed", Reason.OUT_OF_MEMORY: "failed", Reason.KILLED: "killed",
}  # fmt: skip
"""The outcomes of attempts that a batch system has ended, by the reasons."""


def refuse(store: Store, node: int, attempt: int, *, reason: str, message: str, now: float) -> None:
    """Fail an attempt whose end message is refused, and have its files removed."""
    _end(store, node, [ended_by_control(attempt, "failed", reason, message, now=now)], now)
    store.change("purge_unbelieved", attempt=attempt)


def _end(store: Store, node: int, ends: "Sequence[Ending]", now: float) -> None:
    """Apply ends that the control host decides on, to attempts that this node still has."""
    contexts = _begin(store, {end["attempt"] for end in ends})
    known = [(end, contexts[end["attempt"]]) for end in ends if end["attempt"] in contexts]
    here = [end for end in known if end[1]["outcome"] is None and end[1]["node_id"] == node]
    _apply_ends(store, here, Applied(), now)


def _begin(store: Store, attempts: Iterable[int]) -> dict[int, Row]:
    """Empty the tables of the batch before this one, and read what these attempts depend on."""
    store.empty(*_BATCH)
    store.change_many("hear_of", ((attempt,) for attempt in attempts))
    return {row["id"]: row for row in store.rows("attempt_contexts")}


_BATCH = (
    "reporting_attempt", "reported_state", "reported_progress", "reported_end", "reported_binary",
    "reported_output", "reported_staged", "reported_stored", "lost_copy",
)  # fmt: skip
"""The temporary tables with the rows of a batch."""


def _apply_ends(
    store: Store, reported: Sequence[endings.End], applied: Applied, now: float
) -> None:
    """Decide the consequences of the ends, and write the whole batch."""
    # Each step may turn a success into a failure, so counting and writing come after.
    ends = declared.within(store, outputs.check(store, reported))
    ends = late_outputs.populate(store, ends, now=now)
    for (said, _), (end, _) in zip(reported, ends, strict=True):
        if said["outcome"] == "successful" and end["outcome"] != "successful":
            store.change("purge_unbelieved", attempt=end["attempt"])
    ends = classifiers.classified(store, ends)
    # Policies count the attempts before this one: the batch is not written yet.
    verdicts = endings.judge(store, ends, now=now)
    message_rows.add_ends(store, ends, verdicts)
    for end, context in ends:
        if (took := endings.duration(end, context, now)) is not None:
            applied.durations.setdefault(context["requirement_id"], []).append(
                (took, context["speed"] or 1.0)
            )
    if message_rows.add_places(store, ends):
        # `keep_staged` replaces the locations that `purge_previous_staged` compares with.
        store.empty("staged_contents")
        store.change("compare_staged")
        outdated = [tuple(row) for row in store.rows("outdated_by_staged")]
        for query in ("purge_previous_staged", "unpurge_staged", "confirm_outdated_by_staged",
                      "weigh_staged", "keep_stored"):  # fmt: skip
            store.change(query)
        outdate(store, outdated)
        store.change("keep_staged", now=now)
        edited_files.excuse_readers(store, [row["id"] for row in store.rows("returned_by_staged")])
    _keep(store, ends, now)
    # These may drain nodes, hold jobs, and change packages that have just ended.
    applied.verdicts = black_holes.weigh(store, endings.records(ends, verdicts), now=now)
    applied.verdicts += alike_failures.weigh(store, endings.final(ends, verdicts), now=now)
    applied.verdicts += alike_failures.stop(store, endings.stopping(ends, verdicts), now=now)
    learn(store, ends)
    estimates.learn(store, ends, now=now)
    share_usage.charge(store, ends, now=now)
    # Last: copies may have been lost at any step, and packages that have all inputs are released.
    remake(store, now=now)


def _keep(store: Store, ends: Sequence[endings.End], now: float) -> None:
    """Write the batch, one statement per kind of change; their order matters."""
    store.change("start_attempts")
    passed = store.change("mark_passed") if ends else 0
    store.change("start_packages", now=now, paused=PAUSED)
    store.change("keep_progress", now=now)
    store.change("forget_eta")
    if not ends:
        return
    if any(end["outputs"] for end, _ in ends):
        _keep_outputs(store, now)
    store.change("keep_binaries")
    # of a killed package, the results that now exist are wanted
    store.change("want_results", now=now)
    store.change("want_forwards", now=now)
    store.change("end_attempts")
    # A package that is tried again fails first, so that its history has the failure.
    store.change("fail_for_now", now=now)
    if passed:
        store.change("record_passed_starts", now=now)
    last = store.value("last_event") if passed else None
    store.change("end_packages", now=now)
    if passed:
        store.change("record_passed_ends", last=last)


def _keep_outputs(store: Store, now: float) -> None:
    """Write the locations of outputs before their makers end."""
    # Copies of an earlier attempt are known by the path and checksum that the next two replace.
    store.change("purge_previous_copies")
    store.change("lose_previous_copies")
    store.change("keep_locations", now=now)
    store.change("keep_files", now=now)
    store.change("wake_made_transfers", parked=PARKED)
