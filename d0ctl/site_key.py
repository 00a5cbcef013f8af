"""The key of the site, which signs attempts, and previous keys of attempts that still run."""

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from d0ctl import access
from d0ctl.config import KEY_BYTES, Home
from d0ctl_wrapper.protocol import message

LOST = "lost"
"""Stands for the bytes of a key that is lost."""


class PreviousKey(Struct, frozen=True):
    """A key that signs the attempts up to `last`; an empty one is lost."""

    last: int
    key: bytes


class SiteKey(Struct, frozen=True):
    """The key of a site; `previous` has the previous keys, the oldest first."""

    key: bytes
    previous: tuple[PreviousKey, ...] = ()

    def token(self, attempt: int) -> str:
        """Return the secret by which messages of an attempt prove that its wrapper wrote them.

        It is empty if the key of the attempt is lost: it has ended, and no message of it counts.
        """
        key = next((key.key for key in self.previous if attempt <= key.last), self.key)
        return _token(key, attempt) if key else ""


@lru_cache(maxsize=4096)  # it takes 10 µs, and each is needed twice
def _token(key: bytes, attempt: int) -> str:
    return message.token(key, attempt)


def read(home: Home) -> SiteKey:
    """Return the key of a home.

    Raises DatabaseUnavailable if it is missing, unreadable or too short.
    """
    key = home.site_key()
    try:
        rows = [line.split() for line in home.previous_keys.read_text().splitlines()]
        return SiteKey(
            key,
            tuple(
                PreviousKey(int(last), b"" if text == LOST else bytes.fromhex(text))
                for last, text in rows
            ),
        )
    except FileNotFoundError:
        return SiteKey(key)
    except (OSError, ValueError) as error:
        raise access.unusable(home.root, OSError(0, str(error), str(home.previous_keys))) from error


class Signer:
    """The current key of the home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._key = read(home)
        self._seen: tuple[int, int] | None = None

    def tokens(self) -> Callable[[int], str]:
        """Return a function that makes tokens of attempts; the key is read again if it changed."""
        try:
            status = self._home.key.stat()
        except OSError as error:
            raise access.unusable(self._home.root, error) from error
        seen = (status.st_ino, status.st_mtime_ns)
        if seen != self._seen:
            self._key, self._seen = read(self._home), seen
        return self._key.token


def rotate(home: Home, *, last: int, oldest: int | None) -> None:
    """Make a new key for all attempts after `last`.

    The present one still signs the attempts up to there; previous keys that signed only attempts
    before the `oldest` running one are forgotten. The new key is written last: a crash in between
    leaves a present key that is also the previous one, which signs the same.
    """
    present = read(home)
    previous = list(present.previous)
    if not previous or previous[-1].last < last:  # else the present key has signed nothing
        previous.append(PreviousKey(last, present.key))
    needed = [key for key in previous if oldest is not None and key.last >= oldest]
    _replace(home.previous_keys, _text(needed))
    _replace(home.key, os.urandom(KEY_BYTES))


def renew(home: Home, *, last: int) -> None:
    """Make a new key in place of a lost one; no attempt up to `last` can report any more."""
    _replace(home.previous_keys, _text([PreviousKey(last, b"")]))
    _replace(home.key, os.urandom(KEY_BYTES))


def _text(keys: Sequence[PreviousKey]) -> bytes:
    return "".join(f"{key.last} {key.key.hex() or LOST}\n" for key in keys).encode()


def _replace(path: Path, data: bytes) -> None:
    """Write a private file in place of another; a power cut leaves one of the two."""
    aside = path.with_name(f".site.key.{os.getpid()}")
    aside.unlink(missing_ok=True)
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    aside.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
