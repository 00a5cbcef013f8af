"""Notices to be sent, and messages in transit."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from d0ctl.store.connection import Row, Store
from d0ctl.store.rows import make, make_all

MOST_SAMPLES = 3
"""How many examples a notice has."""

KEPT_S = 7 * 86400.0
"""How long sent messages are remembered."""


LAST_NODE = "last-node"
"""The reason of a notice that a node is down, if no other is up."""

NEEDS_A_PERSON = frozenset({
    "node-given-up", "node-drained", "node-doubted", "node-mistrusted", "stands-still",
})  # fmt: skip
"""Kinds of notices about problems that do not end by themselves."""


class Notice(Struct, frozen=True):
    """A notice for a recipient; of `count` failures, `failed` and `held` are final."""

    recipient: str
    kind: str
    subject_id: int
    subject: str
    first: float
    last: float
    due: float
    reason: str = ""
    count: int = 1
    failed: int = 0
    held: int = 0
    problem: str | None = None
    samples: Sequence[Any] = ()

    @property
    def needs_a_person(self) -> bool:
        """Whether the problem does not end by itself."""
        if self.kind in ("failures", "software"):
            return bool(self.failed or self.held)
        if self.kind == "node-down":
            return self.reason == LAST_NODE
        return self.kind in NEEDS_A_PERSON or self.problem == "still"


def add(store: Store, notice: Notice) -> None:
    """Queue a notice; similar ones are merged."""
    key = {"recipient": notice.recipient, "kind": notice.kind, "subject_id": notice.subject_id,
           "reason": notice.reason}  # fmt: skip
    known = json.loads(store.value("notice_like", **key) or "[]")
    samples = [*known, *(sample for sample in notice.samples if sample not in known)]
    samples.sort(key=lambda sample: "stopped" not in sample)
    store.change(
        "add_notice",
        **key,
        subject=notice.subject,
        count=notice.count,
        failed=notice.failed,
        held=notice.held,
        first=notice.first,
        last=notice.last,
        due=notice.due,
        problem=notice.problem,
        samples=json.dumps(samples[:MOST_SAMPLES]),
    )


def forget_cleared(store: Store, kind: str, subject_id: int, recipient: str | None = None) -> None:
    """Drop the notice that a problem is over, since it is back, for one recipient or for all.

    They were notified of the problem before, and hear when it is over in the end.
    """
    for change in ("renew_notified", "withdraw_cleared"):
        store.change(change, kind=kind, subject_id=subject_id, recipient=recipient)


def clear(store: Store, kind: str, subject_id: int) -> list[str]:
    """End a problem: withdraw unsent notices; return who was notified of it."""
    store.change("withdraw_notices", kind=kind, subject_id=subject_id)
    store.change("unlink_notices", kind=kind, subject_id=subject_id)
    recipients = [row[0] for row in store.rows("notified_of", kind=kind, subject_id=subject_id)]
    store.change("forget_notified", kind=kind, subject_id=subject_id)
    return recipients


def due(store: Store, *, now: float) -> list[str]:
    """Return the recipients for whom a message should be written now."""
    return [row[0] for row in store.rows("due_recipients", now=now)]


def wait_for_rate(store: Store, recipient: str, rate: int, span: float, *, now: float) -> bool:
    """Return whether a recipient has reached the limit of mails within `span`; if so, the others
    wait.
    """
    since = now - span
    if store.value("sent_since", recipient=recipient, since=since) < rate:
        return False
    first = store.value("first_sent", recipient=recipient, since=since)
    store.change("postpone_notices", recipient=recipient, due=first + span)
    return True


def notices(store: Store, recipient: str) -> list[Notice]:
    """Return the notices that wait for a recipient."""
    return [_notice(row) for row in store.rows("notices_of", recipient=recipient)]


def failures_now(store: Store, notice: Notice) -> Row | None:
    """Return how many packages of a notice are still failed or held; None if the job is gone."""
    return store.row("failures_now", job=notice.subject_id, reason=notice.reason,
                     first=notice.first, last=notice.last, failed=notice.failed,
                     held=notice.held)  # fmt: skip


def _notice(row: Row) -> Notice:
    return Notice(
        row["recipient"], row["kind"], row["subject_id"], row["subject"], row["first"],
        row["last"], row["due"], row["reason"], row["count"], row["failed"], row["held"],
        row["problem"], json.loads(row["samples"]),
    )  # fmt: skip


def settle(store: Store, recipient: str) -> None:
    """Mark the notices of a recipient as sent; the recipient will be notified when it is over."""
    store.change("keep_notified", recipient=recipient)
    store.change("forget_notices", recipient=recipient)


def post(
    store: Store, recipient: str, message_id: str, title: str, body: str, *, now: float
) -> None:
    """Queue a message."""
    store.value("make_delivery", recipient=recipient, message_id=message_id, title=title,
                body=body, now=now)  # fmt: skip


def clean_up(store: Store, *, now: float) -> None:
    """Forget old messages."""
    store.change("forget_deliveries", before=now - KEPT_S)


def unsent(store: Store) -> dict[str, Any] | None:
    """Return which messages could not be sent yet, since when, and why; None if all could."""
    row = store.row("unsent_mail")
    if row is None:
        return None
    return {"messages": row["count"], "since": row["since"], "trouble": row["last_error"]}


def retry_now(store: Store, *, is_command: bool) -> int:
    """Have unsent messages tried again at once; return how many."""
    with store.writing():
        return store.change("hurry_deliveries", command=int(is_command))


def pass_waiting(store: Store, error: str, *, now: float) -> None:
    """Count all notices as sent, and end messages in transit."""
    for row in unwritten(store):
        settle(store, row["recipient"])
    store.change("give_up_all", now=now, last_error=error)


def close(store: Store, error: str, *, now: float) -> None:
    """Switch notifications off: drop waiting notices, and end messages in transit."""
    for name in ("forget_all_notices", "forget_all_problems", "forget_all_notified"):
        store.change(name)
    store.change("give_up_all", now=now, last_error=error)


class DueMessage(Struct, frozen=True):
    """A message to send now."""

    id: int
    recipient: str
    message_id: str
    title: str
    body: str
    tries: int
    made: float


class MessageRecord(Struct, frozen=True):
    """A message that was or will be sent; of one in a list the text is not read."""

    id: int
    recipient: str
    title: str
    made: float
    tries: int
    last_error: str | None
    ended: float | None = None
    sent: int = 0
    not_before: float | None = None
    way: str | None = None
    """Of an event, the command, plug-in or webhook that it was given to."""
    message_id: str | None = None
    body: str | None = None


def to_send(store: Store, *, is_command: bool, now: float) -> list[DueMessage]:
    """Return the messages to send now, to the site's command or by mail."""
    rows = store.rows("due_deliveries", now=now, command=int(is_command))
    return make_all(DueMessage, rows)


def sent(store: Store, message: int, *, way: str | None, now: float) -> None:
    """Record that a message was sent; of an event, by which way."""
    store.change("keep_sent", delivery=message, way=way, now=now)


def not_sent(store: Store, message: int, problem: str, *, not_before: float) -> None:
    """Record why a message could not be sent, and when it is tried again."""
    store.change("keep_unsent", delivery=message, last_error=problem, not_before=not_before)


def give_up(store: Store, message: int, problem: str, *, way: str | None, now: float) -> None:
    """Record why a message can't be sent by a way, and is not tried again."""
    store.change("keep_given_up", delivery=message, last_error=problem, way=way, now=now)


def message(store: Store, number: int) -> MessageRecord | None:
    """Return a message that was or will be sent."""
    row = store.row("delivery", delivery=number)
    return None if row is None else make(MessageRecord, row)


def unwritten(store: Store) -> list[Row]:
    """Return how many notices wait for each recipient, and until when."""
    return store.rows("waiting_notices")


def originators(store: Store) -> list[Row]:
    """Return who gets mail about jobs that have not ended, with their number and one of them."""
    return store.rows("originators_of_mail")


def unsent_messages(store: Store) -> list[MessageRecord]:
    """Return the messages that are not sent yet."""
    return [make(MessageRecord, row) for row in store.rows("open_deliveries")]


def latest_messages(store: Store, limit: int) -> list[MessageRecord]:
    """Return the messages that were sent or given up last, the latest first."""
    return [make(MessageRecord, row) for row in store.rows("ended_deliveries", limit=limit)]
