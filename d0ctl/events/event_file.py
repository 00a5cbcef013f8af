"""The file of an event: its format, its signature, and the key that signs it."""

import hashlib
import hmac
import os
import secrets
import time
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta, Struct

from d0ctl.config import Home
from d0ctl.errors import NotFound, Refused

STALE_S = 86_400
"""An older event is refused; the ids of younger ones are remembered."""

EARLY_S = 300
"""An event that is further in the future is refused: clocks differ by less."""

KEY_CHARACTERS = 64

Kind: TypeAlias = Literal["file-arrived", "dataset-complete", "node-down", "node-up"]
KINDS: tuple[str, ...] = get_args(Kind)

_Word: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._@-]+\Z", max_length=64)]
_Line: TypeAlias = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]*\Z", max_length=500)]
_Name: TypeAlias = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]+\Z", max_length=200)]


class Event(Struct, frozen=True, forbid_unknown_fields=True):
    """What has happened, where, when, and who says so."""

    id: Annotated[_Word, Meta(min_length=8)]
    """No other event has it."""
    time: Annotated[int, Meta(ge=0, le=2**40)]
    sender: _Word
    kind: Kind
    names: Annotated[list[_Name], Meta(min_length=1, max_length=20)]
    """Nodes, or datasets as TASK/DATASET, or tasks for all their inputs."""
    signature: str
    reason: _Line = ""


def signature(event: Event, key: bytes) -> str:
    """Return the HMAC-SHA256 of the lines of an event: no field has a line end."""
    fields = (event.id, event.time, event.sender, event.kind, event.reason, *event.names)
    text = "".join(f"{field}\n" for field in ("d0ctl-event", *fields))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def read(text: str, key: bytes, *, now: float) -> Event:
    """Return the event of a file. Raises Refused for one that is not signed, or not of now."""
    try:
        event = msgspec.json.decode(text, type=Event)
        is_signed = hmac.compare_digest(signature(event, key).encode(), event.signature.encode())
    except (ValueError, RecursionError) as error:
        raise Refused(f"it is no event: {error}") from error
    if not is_signed:
        raise Refused("the signature is wrong")
    if event.time < now - STALE_S:
        raise Refused(f"it is stale: more than {STALE_S // 3600} h old")
    if event.time > now + EARLY_S:
        raise Refused("its time is in the future: compare the clocks")
    return event


def made(kind: str, names: list[str], *, sender: str, reason: str, key: bytes) -> bytes:
    """Return the text of a new event. Raises Refused for fields that no event can have."""
    number = f"{time.time_ns()}-{secrets.token_hex(8)}"
    envelope = {"id": number, "time": int(time.time()), "sender": sender, "kind": kind,
             "names": names, "reason": reason, "signature": ""}  # fmt: skip
    try:
        event = msgspec.convert(envelope, Event)
    except msgspec.ValidationError as error:
        raise Refused(f"such an event can't be sent: {error}") from error
    return msgspec.json.encode({**envelope, "signature": signature(event, key)}) + b"\n"


def write(folder: Path, text: bytes) -> Path:
    """Write an event into a drop-box, or into another folder from which it is carried on."""
    name = f"{time.time_ns()}-{secrets.token_hex(4)}.event"
    is_box = (folder / "new").is_dir()
    aside = folder / "tmp" / name if is_box else folder / f".{name}"
    target = (folder / "new" if is_box else folder) / name
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.rename(target)
        _sync(target.parent)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise Refused(f"can't write into `{folder}`: {error.strerror}") from error
    return target


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_key(home: Home) -> None:
    """Make the key of a home. Raises Refused if there is one."""
    try:
        descriptor = os.open(home.event_key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Refused(f"there is a key: `{home.event_key}`",
                      hint=f"rm {home.event_key}, to make another") from None  # fmt: skip
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(KEY_CHARACTERS // 2) + "\n")
        file.flush()
        os.fsync(descriptor)


def read_key(path: Path) -> bytes:
    """Return a key. Raises NotFound, or Refused if others can read it or it is too short."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(4096).strip()
    except OSError as error:
        raise NotFound(f"can't read the key `{path}`: {error.strerror}",
                       hint="d0ctl event key") from error  # fmt: skip
    if mode & 0o077:
        raise Refused(f"others can read the key `{path}`", hint=f"chmod 600 {path}")
    if len(key) < KEY_CHARACTERS:
        raise Refused(f"the key `{path}` has {len(key)} of {KEY_CHARACTERS} characters")
    return key
