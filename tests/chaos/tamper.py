"""What may happen to message files: lost, doubled, late, torn or forged, in drop-box and spool."""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.chaos.field import Field
from tests.support.waiting import Pid, wait_until

PATIENCE_S = 0.5
"""How long a reader stands still until there is a message to tamper with."""

CONTACT_S = 0.2
"""How soon after a message was lost the nodes are contacted again, and list what has ended."""

NEW_S = 0.3
"""What is younger may be lost by a power cut."""

LATE_S = 0.5
"""How late a message is that comes after others."""


def is_full(folder: Path) -> bool:
    """Whether another fault has filled the disk of a folder."""
    return os.statvfs(folder).f_bavail == 0


def tamper(field: Field, chance: random.Random, deed: Callable[[Field, Path], None]) -> bool:
    """Stop who reads a folder of messages until one lies there, and do something to it."""
    name = chance.choice(field.plan.nodes)
    is_spool = name != "localhost" and chance.random() < 0.5
    folder = field.base_of(name) / "spool" if is_spool else field.home.dropbox
    reader = field.relay(name) if is_spool else field.pilot
    if reader is None:
        return False
    reader.kill(signal.SIGSTOP)
    try:
        found = _find(folder / "new", chance)
        if found is None:
            return False
        with suppress(FileNotFoundError):
            if is_full(found.parent):
                return False
            deed(field, found)
        return True
    finally:
        reader.kill(signal.SIGCONT)


def _find(folder: Path, chance: random.Random) -> Path | None:
    with suppress(TimeoutError):
        wait_until(lambda: any(folder.glob("[0-9a-z]*")), PATIENCE_S)
    found = sorted(folder.glob("[0-9a-z]*"))
    return chance.choice(found) if found else None


def lose(field: Field, path: Path) -> None:
    """The message is gone; its node says at the next contact that the attempt has ended."""
    path.unlink()
    field.later(CONTACT_S, lambda: hang_up(field))


def hang_up(field: Field) -> None:
    """End all relays, so that all nodes are contacted again."""
    for name in field.plan.nodes:
        relay: Pid | None = field.relay(name)
        if relay:
            relay.kill(signal.SIGKILL)


def double(field: Field, path: Path) -> None:
    """The same message lies there under another name, too."""
    path.with_name(_other_name(path.name)).write_bytes(path.read_bytes())


def delay(field: Field, path: Path) -> None:
    """The message comes after those that follow it."""
    text = path.read_bytes()
    path.unlink()
    aside = path.parent.parent / "tmp" / f"late.{path.name}"

    def come() -> None:
        aside.write_bytes(text)
        aside.rename(path)

    field.later(LATE_S, come)


def truncate(field: Field, path: Path) -> None:
    """Only the first part of the message is there."""
    text = path.read_text()
    field.spoiled.append(text)
    path.write_text(text[: len(text) // 2])
    field.later(CONTACT_S, lambda: hang_up(field))


def empty_new(field: Field, name: str) -> None:
    """Empty the messages and records of a node that are a moment old."""
    base = field.base_of(name)
    since = time.time() - NEW_S
    for path in (*base.glob("spool/*/*"), *base.glob("attempts/*/*")):
        if path.is_file() and path.stat().st_mtime > since:
            field.spoiled.append(path.read_bytes().decode(errors="replace"))
            os.truncate(path, 0)


def forge(field: Field, chance: random.Random) -> bool:
    """Put something into a drop-box or spool that no wrapper has written."""
    name = chance.choice(field.plan.nodes)
    is_spool = name != "localhost" and chance.random() < 0.4
    folder = field.base_of(name) / "spool" if is_spool else field.home.dropbox
    attempts = sorted(field.journal.runs())
    attempt = chance.choice(attempts)[1] if attempts else 1
    text = chance.choice((_wrong_token, _nonsense, _deep, _torn))(attempt)
    field.spoiled.append(text)
    target = folder / "new" / f"{attempt}.{chance.randrange(1000, 9999)}"
    with suppress(OSError):
        if chance.random() < 0.2 and not is_spool:
            target.mkdir()
        else:
            target.write_text(text)
    return True


def _wrong_token(attempt: int) -> str:
    """An end that would count, if its token were right."""
    end = {
        "attempt": attempt, "token": "0" * 64, "seq": 99, "time": 1.0, "kind": "end",
        "outcome": "successful", "started": 1.0, "ended": 2.0, "utc_offset": 0, "binary": 1,
        "reason": None, "detail": "", "exit_code": 0, "signal": None, "cpu": 0.0, "rss": 0,
        "stderr": "", "binaries": [], "outputs": [], "missing": [],
    }  # fmt: skip
    return json.dumps(end) + "\n"


def _nonsense(attempt: int) -> str:
    return f"\x1b]0;{attempt}\x07\x00 is no message\n"


def _deep(attempt: int) -> str:
    return "[" * 20_000 + str(attempt)


def _torn(attempt: int) -> str:
    return f'{{"attempt": {attempt}, "token": "'


def _other_name(name: str) -> str:
    """A name that the same reader takes, and that sorts elsewhere."""
    if name.endswith(".batch"):
        return f"again-{name}"
    attempt, number = name.split(".")
    return f"{attempt}.{int(number) + 500}"
