"""Events as other systems send them, and turns that take them."""

import time
from typing import Any

import msgspec

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import STEPS, Loop
from d0ctl.daemon.steps.apply_messages import apply_messages
from d0ctl.events import event_file
from d0ctl.events.event_file import Event

assert apply_messages in STEPS


def put(desk: Desk, text: bytes | str, name: str = "one.event") -> None:
    """Put a file into the drop-box."""
    (desk.dropbox.new / name).write_bytes(text.encode() if isinstance(text, str) else text)


def signed(desk: Desk, kind: str, *names: str, key: bytes = b"", **more: Any) -> bytes:
    """The text of an event with any fields, signed."""
    fields = {"id": "event-0001", "time": int(time.time()), "sender": "daq", "kind": kind,
              "names": list(names), "reason": "", "signature": "", **more}  # fmt: skip
    key = key or event_file.read_key(desk.home.event_key)
    proof = event_file.signature(msgspec.convert(fields, Event), key)
    return msgspec.json.encode({**fields, "signature": proof})


def send(desk: Desk, kind: str, *names: str, **more: Any) -> list[str]:
    """Send an event, take a turn, and return why anything was rejected so far."""
    put(desk, signed(desk, kind, *names, **more))
    return take(desk)


def take(desk: Desk) -> list[str]:
    """Take a turn as the loop does, without scheduling; return why anything was rejected so far."""
    Loop(desk).work([apply_messages], desk.dropbox.collect())
    reasons = (desk.dropbox.folder / "rejected").glob("*.reason")
    assert list(desk.dropbox.new.iterdir()) == []
    return sorted(path.read_text().strip() for path in reasons)
