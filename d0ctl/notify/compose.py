"""Compose the notices for a recipient into one message."""

import json
import secrets
from collections.abc import Mapping
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from typing import Any

from d0ctl.notify.routes import COMMAND, HOUR_S, Routes
from d0ctl.show.job_end import Ending, ending
from d0ctl.show.notifications import mail
from d0ctl.show.notifications.mail import line
from d0ctl.store import Store
from d0ctl.store.mail import mail_queue
from d0ctl.store.mail.mail_queue import Notice
from d0ctl.store.nodes.site import site_name
from d0ctl.units import iso


def write(store: Store, said: Mapping[str, Any], recipient: str, *, now: float) -> None:
    """Write all notices for a recipient into one message, unless their rate is exceeded.

    Notices of removed jobs, and of jobs that move again, are dropped.
    """
    if recipient == COMMAND:
        _events(store, now)
    elif not mail_queue.wait_for_rate(
        store, recipient, Routes(said).person(recipient).rate, HOUR_S, now=now
    ):
        _mail(store, said, recipient, now)


def _notices(store: Store, recipient: str) -> tuple[list[Notice], dict[int, Ending]]:
    found = mail_queue.notices(store, recipient)
    known = {
        notice.subject_id: ending(store, notice.subject_id)
        for notice in found
        if notice.kind == "ended"
    }
    endings = {job: end for job, end in known.items() if end is not None}
    left = [notice for notice in found if notice.kind != "ended" or notice.subject_id in endings]
    return sorted(left, key=mail.weight), endings


def _mail(store: Store, said: Mapping[str, Any], recipient: str, now: float) -> None:

    notices, endings = _notices(store, recipient)
    mail_queue.settle(store, recipient)
    if not notices:
        return
    sender, title = said.get("sender", "d0ctl@localhost"), mail.title(notices, endings)
    message_id = make_id(sender)
    message = mail_message(sender=sender, recipient=recipient, message_id=message_id, title=title,
                     text=mail.body(notices, endings, str(store.home.root)), at=now)  # fmt: skip
    mail_queue.post(store, recipient, message_id, title, message.decode("ascii"), now=now)


def _events(store: Store, now: float) -> None:
    notices, endings = _notices(store, COMMAND)
    mail_queue.settle(store, COMMAND)
    for notice in notices:
        title = mail.line(mail.headline(notice, endings))
        event = json.dumps(document(notice, endings, site_name(store)))
        mail_queue.post(store, COMMAND, "", title, event, now=now)


def document(notice: Notice, endings: Mapping[int, Ending], site: str) -> dict[str, Any]:
    """Return a notice as the notification command gets it."""
    is_all = "stands-still" in (notice.kind, notice.reason)
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
