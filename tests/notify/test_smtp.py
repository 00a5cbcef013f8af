"""A conversation with a mail server: secured, logged in, and reported in one line when it fails."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl.errors import NotSent
from d0ctl.notify.smtp import Server
from tests.support.smtp import (
    PostOffice,
    endless_server,
    free_port,
    make_certificate,
    silent_server,
)

LOGIN = ("d0ctl", "open sesame")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """The certificate of a server."""
    return make_certificate(tmp_path / "server.pem")


@pytest.fixture
def secured(certificate: Path) -> Iterator[PostOffice]:
    """A server that takes mail only over TLS, of who has logged in."""
    with PostOffice(certificate=certificate, login=LOGIN) as post:
        yield post


@pytest.fixture
def login(tmp_path: Path) -> Callable[..., str]:
    """Writes a login file; its path."""

    def write(text: str = "\n".join(LOGIN) + "\n", mode: int = 0o600) -> str:
        path = tmp_path / "login"
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    return write


def send(said: dict[str, Any], recipient: str = "eve@lab.example", **more: Any) -> None:
    """Send a mail."""
    with Server(said, **more) as server:
        server.send(recipient, b"Subject: x\r\n\r\nhello\r\n")
        server.quit()


def test_a_mail_goes_over_starttls_with_a_login_of_a_file(
    secured: PostOffice, certificate: Path, login: Callable[..., str]
) -> None:
    send(secured.said(security="starttls", certificates=str(certificate), login=login()))

    assert [to for to, _ in secured.letters] == ["eve@lab.example"]
    assert secured.text() == "hello\n"


def test_a_mail_goes_over_tls_from_the_first_byte(certificate: Path) -> None:
    with PostOffice(certificate=certificate, wrapped=True) as post:
        send(post.said(security="tls", certificates=str(certificate)))
        assert len(post.letters) == 1
        with pytest.raises(NotSent, match="certificate verify failed"):
            send(post.said(security="tls"))


def test_a_server_with_an_unknown_certificate_gets_neither_password_nor_mail(
    secured: PostOffice, login: Callable[..., str]
) -> None:
    with pytest.raises(NotSent, match="certificate verify failed") as caught:
        send(secured.said(security="starttls", login=login()))

    assert not caught.value.for_good
    assert secured.letters == []


def test_a_server_without_starttls_gets_neither_password_nor_mail(
    login: Callable[..., str],
) -> None:
    with PostOffice() as post:
        with pytest.raises(NotSent, match="STARTTLS"):
            send(post.said(security="starttls", login=login()))
        assert post.letters == []


def test_a_wrong_password_is_reported_and_not_shown(
    secured: PostOffice, certificate: Path, login: Callable[..., str]
) -> None:
    said = secured.said(security="starttls", certificates=str(certificate))
    with pytest.raises(NotSent, match="refuses the login: 535") as caught:
        send(said | {"login": login("d0ctl\nwrong word\n")})

    assert "wrong word" not in str(caught.value)
    assert not caught.value.for_good


def test_a_login_that_others_may_read_is_not_used(
    secured: PostOffice, certificate: Path, login: Callable[..., str]
) -> None:
    said = secured.said(security="starttls", certificates=str(certificate))
    for words, text, mode in (
        ("other users may read", "\n".join(LOGIN), 0o640),
        ("needs two lines", "d0ctl\n", 0o600),
    ):
        with pytest.raises(NotSent, match=words):
            send(said | {"login": login(text, mode)})
    Path(said["certificates"]).with_name("login").unlink()
    with pytest.raises(NotSent, match="No such file"):
        send(said | {"login": str(certificate.with_name("login"))})


def test_a_recipient_is_refused_for_good_and_a_busy_server_for_now() -> None:
    with PostOffice(refused=["nobody@lab.example"], busy=1) as post:
        with pytest.raises(NotSent, match=r"550 5\.1\.1 no such person here") as caught:
            send(post.said(), "nobody@lab.example")
        assert caught.value.for_good
        with pytest.raises(NotSent, match=r"451 4\.3\.2 busy, come again") as caught:
            send(post.said())
        assert not caught.value.for_good
        send(post.said())
        assert len(post.letters) == 1


def test_a_recipient_that_is_refused_for_now_may_be_tried_again() -> None:
    with PostOffice(greylisted=["new@lab.example"]) as post:
        with pytest.raises(NotSent, match=r"450 4\.2\.0 greylisted") as caught:
            send(post.said(), "new@lab.example")

        assert not caught.value.for_good


def test_a_missing_or_silent_server_is_reported_in_one_line() -> None:
    said = {"host": "127.0.0.1", "port": free_port(), "security": "none", "sender": "a@b.c"}
    with pytest.raises(NotSent, match=r"127\.0\.0\.1:\d+: Connection refused"):
        send(said)
    with silent_server() as port:
        with pytest.raises(NotSent, match=rf"127\.0\.0\.1:{port} does not answer"):
            send(said | {"port": port}, timeout=0.2)


def test_the_reply_of_a_server_is_shown_without_control_characters() -> None:
    with PostOffice(refused=["x@y.z"]) as post:
        with pytest.raises(NotSent) as caught:
            send(post.said(), "x@y.z")
        assert re.fullmatch(r"[ -~]+", str(caught.value))


GREETING, EHLO = b"220 post.test\r\n", b"250 post.test\r\n"


@pytest.mark.parametrize(
    "polite",
    [(), (GREETING,), (GREETING, EHLO), (GREETING, EHLO, EHLO)],
    ids=["greeting", "EHLO", "MAIL", "RCPT"],
)
@pytest.mark.parametrize(
    "line", [b"250-" + b"y" * 2000 + b"\r\n", b"250-\r\n"], ids=["large", "many lines"]
)
def test_a_reply_without_end_is_given_up(polite: tuple[bytes, ...], line: bytes) -> None:
    with endless_server(*polite, line=line) as port:
        said = {"host": "127.0.0.1", "port": port, "security": "none", "sender": "a@b.c"}
        with pytest.raises(NotSent, match="its reply has more than 64 kB or 500 lines") as caught:
            send(said)

    assert not caught.value.for_good


def test_a_reply_that_trickles_without_end_is_given_up_in_time() -> None:
    with endless_server(line=b"2", pause=0.02) as port:
        said = {"host": "127.0.0.1", "port": port, "security": "none", "sender": "a@b.c"}
        with pytest.raises(NotSent, match=rf"127\.0\.0\.1:{port} does not answer"):
            send(said, timeout=0.5)
