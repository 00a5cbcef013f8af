"""Turns of the loop taken by hand, and links and disks that are played."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import Loop
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.link import Frame
from d0ctl_wrapper.protocol.message import token
from tests.support.waiting import wait_until


def turn(desk: Desk) -> None:
    """A whole turn of the daemon, the slow steps included."""
    desk.wake.set()
    Loop(desk).turn(threading.Event())


def turn_until(desk: Desk, condition: Callable[[], object]) -> None:
    """Turn after turn until something is true."""

    def is_true() -> object:
        turn(desk)
        return condition()

    wait_until(is_true)


def listed(desk: Desk) -> bool:
    """Whether the node has listed its files, and none is to be looked at again."""
    return bool(desk.inventory_due and not desk.inventories and not desk.suspects)


def list_again(desk: Desk) -> None:
    """Let the node list its files once more."""
    desk.inventory_due.clear()
    turn_until(desk, lambda: listed(desk))


class Disk:
    """The files of a node that has all there are; it may be too slow to give any."""

    def __init__(self) -> None:
        self.may_read = threading.Event()

    def get(self, source: str, target: Path, limits: object) -> None:
        self.may_read.wait()
        target.write_text(source)

    def put(self, source: Path, target: str) -> None:
        self.may_read.wait()


class Stub:
    """A link that says given frames, and then nothing until it is closed."""

    def __init__(self, *frames: Frame) -> None:
        self.facts: dict[str, Any] = {}
        self.attempts: dict[int, str] = {}
        self.cached: tuple[int, ...] = ()
        self.idle: list[Any] = []
        self.base = "/base"
        self.transport: Disk | None = None
        self.frames = frames
        self.sent: list[Frame] = []
        self.is_deaf = False
        self.closed = threading.Event()

    def batches(self) -> Iterator[list[Frame]]:
        yield from ([frame] for frame in self.frames)
        self.closed.wait()

    def send(self, frame: Frame) -> None:
        if self.is_deaf:
            raise NodeUnreachable("it took no data")
        self.sent.append(frame)

    def close(self) -> None:
        self.closed.set()


def start_message(desk: Desk, attempt: int, **more: object) -> str:
    """The text of a start message, signed as a wrapper would."""
    fields = {
        "attempt": attempt,
        "token": token(desk.home.site_key(), attempt),
        "seq": 1,
        "time": 0.0,
        "kind": "start",
        "pid": 1,
        "boot_id": "",
        "utc_offset": 0,
    }
    return json.dumps({**fields, **more}) + "\n"
