"""A site that tells people, and a mail server that takes what it sends."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.daemon.delivery import NotificationSender
from d0ctl.daemon.steps.notifications import collect
from d0ctl.store import Store
from d0ctl.store.mail import mail_queue
from d0ctl.store.mail.mail_queue import Notice
from tests.support.site import Site
from tests.support.site_file import apply_site
from tests.support.smtp import PostOffice

Say = Callable[..., None]
Carry = Callable[..., None]

PEOPLE = {"cluster-admin": ["admin@lab.example"], "grid-control": ["grid@lab.example"]}


@pytest.fixture
def site(site: Site) -> Site:
    """A site whose node is up."""
    site.up()
    return site


@pytest.fixture
def post() -> Iterator[PostOffice]:
    """A mail server."""
    with PostOffice() as post:
        yield post


@pytest.fixture
def say(store: Store, post: PostOffice) -> Say:
    """Apply a site file whose mail goes through the server; `_` stands for `-`."""

    def write(**more: Any) -> None:
        said = post.said(**PEOPLE) | {key.replace("_", "-"): value for key, value in more.items()}
        apply_site(store, mail=said)
        with store.writing():
            collect(store, now=0.0)

    return write


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def carry(home: Home, store: Store) -> Carry:
    """Have the news read and what is due at a time carried, by mail or by the command."""

    def carry(now: float = 4e9, *, is_command: bool = False) -> None:
        with store.writing():
            collect(store, now=now)
        NotificationSender(home, is_command=is_command, clock=Clock(now)).round(store)

    return carry


def script(path: Path, *lines: str) -> str:
    """A program of these lines; its path."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


class Notified:
    """The notices, before they are sent."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def collect(self, now: float = 1e9) -> None:
        """Read the news."""
        with self.store.writing():
            collect(self.store, now=now)

    def waiting(self, recipient: str = "me@here") -> list[Notice]:
        """The notices that wait for a recipient."""
        return mail_queue.notices(self.store, recipient)

    def kinds(self, recipient: str = "me@here") -> list[str]:
        """Of which kinds that is."""
        return [notice.kind for notice in self.waiting(recipient)]

    def recipients(self) -> list[str]:
        """Recipients with waiting notices."""
        return [row["recipient"] for row in self.store.rows("waiting_notices")]


@pytest.fixture
def notified(store: Store) -> Notified:
    """The sent notifications."""
    return Notified(store)
