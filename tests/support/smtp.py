"""A real mail server on a loopback port of its own, and others that are not well."""

import asyncio
import datetime
import email
import email.policy
import ipaddress
import socket
import ssl
import threading
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

HOST = "127.0.0.1"


class PostOffice:
    """A mail server and what it took: who for, and the mails as they came over the wire.

    It refuses the recipients in `refused` for good, those in `greylisted` for now, and says to
    the first `busy` mails that they may come again; while `gate` is closed it takes a mail and
    says nothing. With a certificate it asks for STARTTLS, and when `wrapped` speaks TLS from the
    first byte.
    """

    def __init__(
        self,
        *,
        certificate: Path | None = None,
        wrapped: bool = False,
        login: tuple[str, str] | None = None,
        refused: Collection[str] = (),
        greylisted: Collection[str] = (),
        busy: int = 0,
        port: int = 0,
    ) -> None:
        self.letters: list[tuple[str, bytes]] = []
        self.busy = busy
        self.port = port
        self.gate = threading.Event()
        self.gate.set()
        self._refused = refused
        self._greylisted = greylisted
        self._login = login
        self._certificate = certificate
        self._wrapped = wrapped
        self._sessions: list[SMTP] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result(10)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self) -> asyncio.Server:
        context = self._context() if self._wrapped else None
        return await self._loop.create_server(self._session, HOST, self.port, ssl=context)

    def _context(self) -> ssl.SSLContext:
        assert self._certificate is not None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._certificate)
        return context

    async def _close(self) -> None:
        self._server.close()
        for session in self._sessions:  # TLS would wait for the client to close its end, too
            if isinstance(session.transport, asyncio.Transport):
                with suppress(AttributeError):  # of Python 3.11, if the connection was lost
                    session.transport.abort()
        others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _session(self) -> SMTP:
        more: dict[str, Any] = {}
        if self._certificate and not self._wrapped:
            more = {"tls_context": self._context(), "require_starttls": True}
        if self._login:
            more |= {"authenticator": self._authenticate, "auth_required": True,
                     "auth_require_tls": bool(self._certificate)}  # fmt: skip
        self._sessions.append(SMTP(self, hostname="post.test", loop=self._loop, **more))
        return self._sessions[-1]

    def _authenticate(self, *words: Any) -> AuthResult:
        given = words[-1]
        assert isinstance(given, LoginPassword)
        said = given.login.decode(), given.password.decode()
        return AuthResult(success=said == self._login, handled=False)

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take or refuse a recipient."""
        if address in self._refused:
            return "550 5.1.1 no such person here"
        if address in self._greylisted:
            return "450 4.2.0 greylisted, come again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Take a mail."""
        if self.busy:
            self.busy -= 1
            return "451 4.3.2 busy, come again"
        content = envelope.content
        assert isinstance(content, bytes)
        self.letters.append((envelope.rcpt_tos[0], content))
        await asyncio.to_thread(self.gate.wait)
        return "250 OK"

    @property
    def mails(self) -> list[EmailMessage]:
        """What it took, read as mail."""
        return [
            email.message_from_bytes(letter, policy=email.policy.default)
            for _, letter in self.letters
        ]

    def titles(self) -> list[tuple[str, str]]:
        """Who got mail of which subject, in the order of coming."""
        return [(str(mail["To"]), str(mail["Subject"])) for mail in self.mails]

    def text(self, number: int = -1) -> str:
        """The text of one mail."""
        return str(self.mails[number].get_content()).replace("\r\n", "\n")

    def said(self, **more: Any) -> dict[str, Any]:
        """The section `mail` of a site that sends through it."""
        return {"host": HOST, "port": self.port, "security": "none",
                "sender": "d0ctl@lab.example"} | more  # fmt: skip


@contextmanager
def silent_server() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server((HOST, 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def endless_server(*polite: bytes, line: bytes, pause: float = 0.0) -> Iterator[int]:
    """The port of a server that answers politely so many times, and then never stops talking."""
    stopped = threading.Event()

    def talk(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            for number, reply in enumerate(polite):
                if number:
                    connection.recv(4096)
                connection.sendall(reply)
            if polite:
                connection.recv(4096)
            while not stopped.wait(pause):
                connection.sendall(line)

    with socket.create_server((HOST, 0)) as server:
        server.settimeout(20)
        thread = threading.Thread(target=lambda: talk(server.accept()[0]))
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            stopped.set()
            thread.join()


def free_port() -> int:
    """A port where nothing listens."""
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


def make_certificate(path: Path) -> Path:
    """A certificate of 127.0.0.1 with its key, signed by itself, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "post.test")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address(HOST))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path
