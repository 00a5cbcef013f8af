"""Compose a mail: headers that no outside text can extend, and a text."""

import secrets
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate

from d0ctl.show.notifications.mail import line

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
