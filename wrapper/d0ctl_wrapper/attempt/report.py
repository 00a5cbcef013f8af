"""The only place where a wrapper makes its messages and keeps the time."""

import os
import time
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.run.progress_report import UNKNOWN
from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol import message, shape
from d0ctl_wrapper.protocol import text as words
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.message import LARGEST_COUNT
from d0ctl_wrapper.protocol.paths import AttemptFolder
from d0ctl_wrapper.protocol.text import one_line

LONGEST_LEFT = 10 * 365 * 86400.0
"""An end that is further away, in seconds, counts as unknown."""


class Report:
    """What one attempt has to say, in its order."""

    def __init__(self, folder: AttemptFolder, launch: Launch) -> None:
        self.folder = folder
        self.token: str = launch["token"]
        self.clock_offset = time.time() - time.monotonic()
        self.started = self.now()
        self.utc_offset = time.localtime(self.started).tm_gmtoff
        self.phase, self.why, self.phase_since = "", "", self.started
        self.present: "Callable[[], Dict[str, Any]]" = lambda: UNKNOWN
        """How far the binary under way is, at this moment."""
        self.binary: "int | None" = None
        self.binary_started = self.started
        self.records: "List[Dict[str, Any]]" = []
        self.sequence = 0
        self.notes = 0
        self.unsent: "List[message.Message]" = []
        self.extras: "Dict[str, Any]" = {}
        """What else the end message says, whatever the end."""

    def now(self) -> float:
        """Give the node's clock as it stood at the start, carried on by the monotonic one."""
        return round(self.clock_offset + time.monotonic(), 3)

    def start(self, boot_id: str, phase: str = "running") -> None:
        """Send the start message."""
        self._enter(phase, "")
        fields = {"pid": os.getpid(), "boot_id": boot_id, "utc_offset": self.utc_offset}
        self._say("start", {**fields, "phase": phase})
        self.send()

    def state(self, phase: str, why: str) -> None:
        """Send which phase the attempt is in now, and why."""
        self._enter(phase, one_line(why))
        self._say("state", {"phase": self.phase, "why": self.why})
        self.send()

    def progress(self, fields: "Dict[str, Any]", cpu: float, rss: int) -> None:
        """Send how far the binary under way is."""
        self._say("progress", {**self.dated(fields), "cpu": round(cpu, 3), "rss": rss})
        self.send()

    def dated(self, fields: "Dict[str, Any]") -> "Dict[str, Any]":
        """Give progress with the time of the end in place of `left`; without absurd figures."""
        told = {name: value for name, value in fields.items() if name != "left"}
        for name, most in (("done", LARGEST_COUNT), ("total", LARGEST_COUNT), ("percent", 100.0)):
            told[name] = _sane(fields[name], most)
        is_sane = (told["done"], told["total"]) == (fields["done"], fields["total"])
        left = _sane(fields["left"], LONGEST_LEFT) if is_sane else None
        return {**told, "eta": None if left is None else round(self.now() + left, 3)}

    def remark(self, text: str) -> None:
        """Send a sentence worth keeping about the attempt; it goes out with the next message."""
        self.notes += 1
        if self.notes > message.MOST_NOTES:
            return
        if self.notes == message.MOST_NOTES:
            text = "further notes are left out"
        self._say("note", {"binary": self.binary, "text": one_line(text)})

    def begin(self, number: int) -> None:
        """Take note that a binary begins, and send what is to say of the one before."""
        self.send()
        self.binary, self.binary_started = number, self.now()

    def is_open(self) -> bool:
        """Tell whether a binary has begun and its end is not noted."""
        last = self.records[-1]["binary"] if self.records else None
        return self.binary is not None and last != self.binary

    def need(self, size: int, why: str) -> None:
        """Ask for so many bytes of the disk."""
        self._say("need", {"bytes": size, "why": one_line(why)})
        self.send()

    def note(
        self, code: "int | None", number: "int | None", cpu: float, rss: int, gap: "float | None"
    ) -> None:
        """Record how the binary under way has ended; `gap` is how long nothing of it showed."""
        record = {
            "binary": self.binary,
            "started": self.binary_started,
            "ended": self.now(),
            "exit_code": code,
            "signal": number,
            "cpu": round(cpu, 3),
            "rss": rss,
            "gap": gap,
        }
        self.records.append(record)
        self._say("binary", record)

    def send(self) -> None:
        """Send what there is; if the disk is full, the end message says it again."""
        if self.unsent:
            name, text = self._take()
            try:
                spool.write(self.folder.node, name, text)
            except OSError:
                pass

    def finish(self, result: "Dict[str, Any]") -> None:
        """Send the end message, however long that takes."""
        last = self.records[-1] if self.records and not self.is_open() else {}
        end = {
            "started": self.started,
            "ended": self.now(),
            "utc_offset": self.utc_offset,
            "binary": self.binary,
            "reason": None,
            "detail": "",
            "exit_code": last.get("exit_code"),
            "signal": last.get("signal"),
            "cpu": round(sum(record["cpu"] for record in self.records), 3),
            "rss": max((record["rss"] for record in self.records), default=0),
            "stderr": "" if result["outcome"] == "successful" else self._stderr(),
            "binaries": self.records,
            "outputs": [],
            "partial": False,
            "missing": [],
            **self.extras,
        }
        self._say("end", {**end, **result})
        name, text = self._take_end({**end, "staged": [], "stored": [], "binaries": []})
        spool.write_end(self.folder, name, text)

    def _take_end(self, bare: "Dict[str, Any]") -> "tuple[bytes, bytes]":
        """Give name and text of the last file; the end is a bare failure if nobody would take it.

        Only what is long can break a limit, so short messages are not checked.
        """
        end = self.unsent[-1]
        name, text = self._take()
        if len(text) <= shape.TEXT:
            return name, text
        try:
            message.parse(text.decode("ascii"))
        except ValueError as error:
            detail = "its end cannot be sent: %s" % one_line(str(error))
            failed = {"outcome": "failed", "reason": "verification", "detail": detail}
            self.unsent = [
                {**end, **bare, **failed, "outputs": [], "missing": [], "retained": None}
            ]
            self.unsent[0].pop("events", None)
            name, text = self._take()
        return name, text

    def _enter(self, phase: str, why: str) -> None:
        self.phase, self.why, self.phase_since = phase, why, self.now()

    def _stderr(self) -> str:
        if self.binary is None:
            return words.tail(self.folder.file(b"startup.err"))
        return words.tail(self.folder.file(b"%d.err" % self.binary))

    def _say(self, kind: str, fields: "Dict[str, Any]") -> None:
        self.sequence += 1
        common = {
            "attempt": self.folder.attempt,
            "token": self.token,
            "seq": self.sequence,
            "time": self.now(),
            "kind": kind,
        }
        self.unsent.append({**common, **fields})

    def _take(self) -> "tuple[bytes, bytes]":
        """Give name and text of a file with all that is not sent yet."""
        name = b"%d.%d" % (self.folder.attempt, self.unsent[0]["seq"])
        text = message.text(self.unsent).encode("ascii")
        self.unsent = []
        return name, text


def _sane(value: "float | None", most: float) -> "float | None":
    """Give a figure that comes from a program; None if it is none, or beyond all measure."""
    return value if value is not None and 0.0 <= value <= most else None
