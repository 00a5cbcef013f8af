"""Conversations with a mail server, whose replies are limited in size, lines and time."""

import io
import smtplib
import socket
import ssl
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from d0ctl.errors import NotSent
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.sitefile.mail import read_login
from d0ctl.units import clean

TIMEOUT_S = 30.0
"""How long one step of a conversation with the server may take."""

PORTS = {"none": 25, "starttls": 587, "tls": 465}
"""The default ports of a server."""

MOST_SAID = 200
"""How many characters of a server's reply are kept."""

LARGEST_REPLY, MOST_LINES = 64 * 1024, 500
"""How many bytes and lines one reply may have; the longest usual one lists some 30 extensions."""


class EndlessReply(smtplib.SMTPException):
    """A reply that is too large, has too many lines, or takes too long."""


class _Replies(io.RawIOBase):
    """The bytes that a server sends; each reply has its own limits."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._deadline = 0.0
        self._bytes = self._lines = 0

    def begin(self, timeout: float) -> None:
        """Begin a new reply."""
        self._deadline = time.monotonic() + timeout
        self._bytes = self._lines = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the reply took too long")
        self._connection.settimeout(left)
        came = self._connection.recv_into(buffer)
        self._bytes += came
        self._lines += bytes(buffer[:came]).count(b"\n")
        if self._bytes > LARGEST_REPLY or self._lines > MOST_LINES:
            raise EndlessReply(
                f"its reply has more than {LARGEST_REPLY // 1024} kB or {MOST_LINES} lines"
            )
        return came


class _Bounded(smtplib.SMTP):
    """The protocol with limits on each reply: greeting, EHLO, and all commands."""

    _replies: _Replies

    def getreply(self) -> tuple[int, bytes]:
        """Return code and text of a reply. Raises EndlessReply."""
        if self.file is None:  # a new connection, or one that has just been secured
            assert self.sock is not None
            self._replies = _Replies(self.sock)
            self.file = io.BufferedReader(self._replies)
        self._replies.begin(self.timeout)
        try:
            return super().getreply()
        except smtplib.SMTPServerDisconnected as error:
            if isinstance(error.__context__, EndlessReply):
                raise error.__context__ from None
            raise
        finally:
            if self.sock is not None:
                self.sock.settimeout(self.timeout)


class _BoundedTls(_Bounded, smtplib.SMTP_SSL):
    """The same over TLS from the first byte."""


class Server:
    """A conversation with the site's mail server, to be used as a context."""

    def __init__(self, said: Mapping[str, Any], *, timeout: float = TIMEOUT_S) -> None:
        self._said = said
        self._timeout = timeout
        self._smtp: smtplib.SMTP | None = None

    def __enter__(self) -> Self:
        try:
            self._smtp = self._connected()
        except BadValueError as error:
            raise NotSent(f"login: {error}") from error
        except (OSError, smtplib.SMTPException, ValueError) as error:
            raise NotSent(_error_text(error, self._where)) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._smtp is not None:
            self._smtp.close()

    @property
    def _security(self) -> str:
        return str(self._said.get("security", "starttls"))

    @property
    def _port(self) -> int:
        return int(self._said.get("port") or PORTS[self._security])

    @property
    def _where(self) -> str:
        return f"{self._said['host']}:{self._port}"

    def _connected(self) -> smtplib.SMTP:
        """Connect, secure the connection, and log in."""
        host, timeout = self._said["host"], self._timeout
        if self._security == "tls":
            smtp: smtplib.SMTP = _BoundedTls(
                host, self._port, timeout=timeout, context=self._trust()
            )
        else:
            smtp = _Bounded(host, self._port, timeout=timeout)
        try:
            if self._security == "starttls":
                smtp.starttls(context=self._trust())
            if "login" in self._said:
                smtp.login(*read_login(Path(self._said["login"])))
        except BaseException:
            smtp.close()
            raise
        return smtp

    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._said.get("certificates"))

    def send(self, recipient: str, mail_message: bytes) -> None:
        """Hand a mail over. Raises NotSent if the server has not accepted it."""
        assert self._smtp is not None
        try:
            self._smtp.sendmail(self._said["sender"], [recipient], mail_message)
        except smtplib.SMTPRecipientsRefused as error:
            code, reply = next(iter(error.recipients.values()))
            raise NotSent(
                f"{self._where} refuses mail for {recipient}: {_sentence(code, reply)}",
                for_good=500 <= code < 600,
            ) from error
        except smtplib.SMTPDataError as error:
            raise NotSent(
                _error_text(error, self._where), for_good=500 <= error.smtp_code < 600
            ) from error
        except (OSError, smtplib.SMTPException) as error:
            raise NotSent(_error_text(error, self._where)) from error

    def quit(self) -> None:
        """End the conversation properly; accepted mails stay accepted whatever the answer."""
        assert self._smtp is not None
        try:
            self._smtp.quit()
        except (OSError, smtplib.SMTPException):
            self._smtp.close()


def _error_text(error: Exception, where: str) -> str:
    """Return the error in one line without control characters."""
    if isinstance(error, NotSent):
        return str(error)
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f"{where} refuses the login: {_sentence(error.smtp_code, error.smtp_error)}"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{where}: {_sentence(error.smtp_code, error.smtp_error)}"
    if isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError):
        return f"{where} does not answer"
    if isinstance(error, OSError) and error.strerror:
        return clean(f"{where}: {error.strerror}")
    return clean(f"{where}: {error}")[:MOST_SAID]


def _sentence(code: int, reply: bytes | str) -> str:
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else reply
    return clean(f"{code} {text}")[:MOST_SAID]
