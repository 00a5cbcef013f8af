"""Compose the notices for a recipient into one message."""

import json
import secrets
from collections.abc import Mapping
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from typing import Any

from msgspec.structs import replace

from d0ctl.jobfile.spec import MailMode
from d0ctl.notify.routes import COMMAND, HOUR_S, Routes
from d0ctl.show.job_end import Ending, ending
from d0ctl.show.notifications import mail
from d0ctl.show.notifications.mail import line
from d0ctl.store import Store
from d0ctl.store.mail import mail_queue
from d0ctl.store.mail.mail_queue import Notice
from d0ctl.store.nodes.site import setting, site_name
from d0ctl.units import iso


def write(store: Store, said: Mapping[str, Any], recipient: str, *, now: float) -> None:
    """Write all notices for a recipient into one message, unless their rate is exceeded.

    Notices of the ends of removed jobs, and of jobs that move again, are dropped. So are those of
    failures, for people who want only mails that need a person, if none of them needs one any more.
    """
    if recipient == COMMAND:
        _events(store, said, now)
    elif not mail_queue.wait_for_rate(
        store, recipient, Routes(said).person(recipient).rate, HOUR_S, now=now
    ):
        _mail(store, said, recipient, now)


def _notices(
    store: Store, said: Mapping[str, Any], recipient: str
) -> tuple[list[Notice], dict[int, Ending]]:
    routes = Routes(said, setting(store, "researchers") or {})
    current = [_as_of_now(store, routes, row) for row in mail_queue.notices(store, recipient)]
    found = [notice for notice in current if notice is not None]
    known = {
        notice.subject_id: ending(store, notice.subject_id)
        for notice in found
        if notice.kind == "ended"
    }
    endings = {job: end for job, end in known.items() if end is not None}
    left = [notice for notice in found if notice.kind != "ended" or notice.subject_id in endings]
    return sorted(left, key=mail.weight), endings


def _as_of_now(store: Store, routes: Routes, notice: Notice) -> Notice | None:
    """Return a notice of failures with how many packages are still failed or held.

    A bad node's packages, for example, are retried after it is drained. Other notices are
    returned unchanged.
    """
    row = mail_queue.failures_now(store, notice) if notice.kind == "failures" else None
    if row is None:
        return notice
    current = replace(notice, failed=row["failed"], held=row["held"])
    if current.needs_a_person or not notice.needs_a_person or mail.why_stopped(notice):
        return current
    people = routes.of_failure(notice.reason, None, row["originator"], row["mail"])
    modes = {person.address: person.mode for person in people}
    mode = modes.get(notice.recipient, routes.person(notice.recipient).mode)
    return None if mode == MailMode.WHEN_NEEDED else current


def _mail(store: Store, said: Mapping[str, Any], recipient: str, now: float) -> None:

    notices, endings = _notices(store, said, recipient)
    mail_queue.settle(store, recipient)
    if not notices:
        return
    sender, title = said.get("sender", "d0ctl@localhost"), mail.title(notices, endings)
    message_id = make_id(sender)
    message = mail_message(sender=sender, recipient=recipient, message_id=message_id, title=title,
                     text=mail.body(notices, endings, str(store.home.root)), at=now)  # fmt: skip
    mail_queue.post(store, recipient, message_id, title, message.decode("ascii"), now=now)


def _events(store: Store, said: Mapping[str, Any], now: float) -> None:
    notices, endings = _notices(store, said, COMMAND)
    mail_queue.settle(store, COMMAND)
    for notice in notices:
        title = mail.line(mail.headline(notice, endings))
        event = json.dumps(document(notice, endings, site_name(store)))
        mail_queue.post(store, COMMAND, "", title, event, now=now)


def document(notice: Notice, endings: Mapping[int, Ending], site: str) -> dict[str, Any]:
    """Return a notice as the notification command gets it."""
    is_all = "stands-still" in (notice.kind, notice.reason) and not notice.subject_id
    document: dict[str, Any] = {
        "event": notice.kind,
        "headline": mail.headline(notice, endings),
        "site": site,
        **({} if is_all else {_subject(notice): notice.subject}),
        "first": iso(notice.first),
        "last": iso(notice.last),
        "needs_person": notice.needs_a_person,
    }
    if notice.kind == "failures":
        again = notice.count - notice.failed - notice.held
        document |= {"reason": notice.reason, "count": notice.count, "failed": notice.failed,
                 "held": notice.held, "tried_again": again}  # fmt: skip
    elif notice.kind == "cleared":
        document["trouble"] = notice.reason
    elif notice.kind == "ended":
        document |= endings[notice.subject_id].document()
    elif notice.kind == "node-given-up":
        document["attempts"] = notice.count
    elif notice.kind == "software":
        document |= {"verb": notice.reason, "count": notice.count, "failed": notice.failed}
    return {**document, "samples": list(notice.samples)}


def _subject(notice: Notice) -> str:
    """Return what a notice is about: a job, a node or software."""
    kind = notice.kind if notice.kind != "cleared" else notice.reason
    return "node" if kind.startswith("node") else "software" if kind == "software" else "job"


_POLICY = SMTP.clone(cte_type="7bit")
"""A form that any server accepts: no line too long, everything in ASCII."""

_HEADERS = _POLICY.clone(max_line_length=400)
"""Headers are not folded, so that a subject is one line in the raw mail."""


def make_id(sender: str) -> str:
    """Return a unique id of a mail; a mail that is sent twice has the same."""
    return f"<d0ctl.{secrets.token_hex(12)}@{sender.rpartition('@')[2]}>"


def mail_message(
    *, sender: str, recipient: str, message_id: str, title: str, text: str, at: float
) -> bytes:
    """Return a whole mail as it is sent."""
    mail = EmailMessage(policy=_POLICY)
    mail["From"] = f"d0ctl <{sender}>"
    mail["To"] = recipient
    mail["Subject"] = line(title)
    mail["Date"] = formatdate(at, localtime=True)
    mail["Message-ID"] = message_id
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(text, cte="7bit" if text.isascii() else "quoted-printable")
    return mail.as_bytes(policy=_HEADERS)
