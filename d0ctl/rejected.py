"""Rejected messages: a limited number is kept as evidence, the others are counted."""

import hashlib
import json
import logging
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from d0ctl import access
from d0ctl.config import Home
from d0ctl.units import clean, count

log = logging.getLogger(__name__)

MOST_FILES = 1_000
"""How many rejected messages are kept."""

MOST_BYTES = 16_000_000
"""How many bytes they take together at most."""

KEPT_BYTES = 64_000
"""How many bytes of a rejected message are kept, from its beginning."""

KEPT_S = 7 * 86_400.0
"""How long they are kept; they are removed at the next start of the daemon."""

KEPT_REASON = 2_000
"""How many characters of the reason are kept."""

LONGEST_NAME = 120
"""How many characters of a file's name are kept."""

LOOK_AGAIN_S = 10.0
"""How often a full folder is checked again, in case a person has emptied it."""

LOG_EVERY_S = 60.0
"""The log has a line about rejected messages at most this often."""

DISCARDED = "discarded.json"
"""The file that says how many messages were not kept."""


RECENT_S = 3_600.0
"""How far back messages with a wrong token are counted."""

TOKEN_ADVICE = (
    "put back the `site.key` under which the attempts were launched; "
    "if it is lost: d0ctl site rotate-key --lost"
)
"""What to do if messages have wrong tokens: most likely another key has signed them."""


def token_fault(attempt: int) -> str:
    """Say that a message of an attempt is not signed by the key of the home."""
    return f"the token of attempt {attempt} is wrong"


def is_token_fault(reason: str) -> bool:
    """Return whether a message was rejected because of its token."""
    return reason.startswith("the token of attempt ") and reason.strip().endswith(" is wrong")


def wrong_tokens(home: Home, now: float) -> int:
    """Return how many messages had a wrong token lately, since the key was last replaced."""
    number = 0
    with suppress(OSError):
        after = max(now - RECENT_S, home.key.stat().st_ctime)
        for path in (home.dropbox / "rejected").glob("*.reason"):
            if path.stat().st_mtime > after:
                number += is_token_fault(path.read_text(errors="replace"))
    return number


class Discarded(Struct, frozen=True):
    """The messages that were not kept: how many, their bytes, and when and why the last one."""

    count: int = 0
    bytes: int = 0
    last: float = 0.0
    reason: str = ""


def discarded(folder: Path) -> Discarded:
    """Return the count of messages that a folder of rejected messages does not contain."""
    with suppress(OSError, ValueError, TypeError):
        return Discarded(**json.loads((folder / DISCARDED).read_text()))
    return Discarded()


class Rejected:
    """The folder of rejected messages, bounded in files and bytes.

    Call `write_count` after a batch: what is not kept is counted in memory until then.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = self._bytes = 0
        self._looked: float | None = None
        self._uncounted = Discarded()
        self._unlogged, self._reason = 0, ""
        self._logged: float | None = None

    def keep(self, name: str, text: str, reason: str) -> None:
        """Keep the beginning of a message with the reason beside it, or only count it."""
        data = text.encode(errors="surrogatepass")
        self._keep(name, hashlib.sha256(data).hexdigest()[:16], data, reason)

    def move(self, path: Path, reason: str) -> None:
        """Move a whole file here, with the reason beside it."""
        with suppress(FileNotFoundError):
            status = path.lstat()
            mark, data = f"{time.time_ns()}", b""
            if stat.S_ISREG(status.st_mode):
                with path.open("rb") as file:
                    data = file.read(KEPT_BYTES)
                path.unlink()
            else:
                path.rename(self._path(path.name, mark))
            self._keep(path.name, mark, data, reason)

    def _keep(self, name: str, mark: str, data: bytes, reason: str) -> None:
        head, reason = data[:KEPT_BYTES], reason[:KEPT_REASON]
        target = self._path(name, mark)
        beside = target.with_name(f"{target.name}.reason")
        # The reason is written last, so it is missing or empty if the disk was full before.
        if head and target.exists() and access.size(beside):
            return  # another process has processed it, too
        self._unlogged, self._reason = self._unlogged + 1, reason
        if not self._has_space(len(head) + len(reason)):
            self._discard(len(data), reason)
            return
        if head or not target.exists():
            target.write_bytes(head)
        beside.write_bytes(f"{reason}\n".encode(errors="surrogatepass"))
        self._files += 1
        self._bytes += len(head) + len(reason)

    def _path(self, name: str, mark: str) -> Path:
        return self.folder / f"{name[:LONGEST_NAME]}.{mark}"

    def _has_space(self, size: int) -> bool:
        now = time.monotonic()
        if self._looked is None or (self._is_full(size) and now - self._looked > LOOK_AGAIN_S):
            self._count_files(now)
        return not self._is_full(size)

    def _is_full(self, size: int) -> bool:
        return self._files >= MOST_FILES or self._bytes + size > MOST_BYTES

    def _count_files(self, now: float) -> None:
        self._looked, self._files, self._bytes = now, 0, 0
        with os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    self._files += not entry.name.endswith(".reason")
                    self._bytes += entry.stat(follow_symlinks=False).st_size

    def _discard(self, size: int, reason: str) -> None:
        new = self._uncounted
        self._uncounted = Discarded(new.count + 1, new.bytes + size, time.time(), reason)

    def write_count(self) -> None:
        """Log the messages of the batch; add those that were not kept to the count on disk.

        A rewrite of the count takes 2 ms.
        """
        self._log()
        new, self._uncounted = self._uncounted, Discarded()
        if new.count:
            before = discarded(self.folder)
            found = replace(new, count=before.count + new.count, bytes=before.bytes + new.bytes)
            (self.folder / DISCARDED).write_text(json.dumps(asdict(found)) + "\n")

    def _log(self) -> None:
        """Log one line about all messages that were rejected since the last line."""
        now = time.monotonic()
        if self._unlogged and (self._logged is None or now - self._logged >= LOG_EVERY_S):
            number, last = count(self._unlogged, "message"), "the last one: "
            reason = f"{last if self._unlogged > 1 else ''}{clean(self._reason)}"
            log.warning("rejected %s: %s", number, reason)
            self._logged, self._unlogged = now, 0
