"""The messages of an attempt, and its clock."""

import math
import os
import time
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.run.progress_report import UNKNOWN, ProgressReport
from d0ctl_wrapper.disk import is_full
from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol import message
from d0ctl_wrapper.protocol import text as texts
from d0ctl_wrapper.protocol.checks import shape
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.message import LARGEST_COUNT
from d0ctl_wrapper.protocol.paths import AttemptFolder
from d0ctl_wrapper.protocol.text import one_line

LONGEST_ETA_S = 10 * 365 * 86400.0
"""The most seconds until an estimated end; a later one counts as unknown."""


END_WAITS = "it has ended, but the disk has no space to record that"
"""The state of an attempt whose end message can't be written."""

HOLD_S = 0.1
"""The seconds for which the start message of an attempt may wait for its end."""

Tell = Callable[[bytes, bytes], None]
"""Tell the relay of a message in the spool, by name and text."""


class Reporter:
    """The messages of one attempt, in their order."""

    def __init__(self, folder: AttemptFolder, launch: Launch, send_message: Tell) -> None:
        self.folder = folder
        self._send_message = send_message
        self.token: str = launch["token"]
        self.clock_offset = time.time() - time.monotonic()
        self.wrapper_started = self.now()
        self.started: "float | None" = None
        """When it began to run, with its inputs and CPUs; None until then."""
        self.utc_offset = time.localtime(self.wrapper_started).tm_gmtoff
        self.phase, self.why, self.phase_since = "", "", self.wrapper_started
        self._suspended_s = 0.0
        self.current: "ProgressReport | None" = None
        """The progress of the binary that is running or ran last."""
        self.binary: "int | None" = None
        self.binary_started = self.wrapper_started
        self.records: "List[Dict[str, Any]]" = []
        self.sequence = 0
        self.notes = 0
        self.unsent: "List[message.Message]" = []
        self._held_until: "float | None" = None
        """When a held start message must be sent."""
        self.extras: "Dict[str, Any]" = {}
        """More fields of the end message, for every outcome."""

    def now(self) -> float:
        """Return the time: the node's clock at the start plus the monotonic seconds since."""
        return round(self.clock_offset + time.monotonic(), 3)

    def start(self, boot_id: str, phase: str = "running", is_held: bool = False) -> None:
        """Send the start message; one that is held is sent with the end of a short attempt."""
        self._enter(phase, "")
        if phase == "running":
            self.started = self.wrapper_started
        fields = {"pid": os.getpid(), "boot_id": boot_id, "utc_offset": self.utc_offset}
        self._add("start", {**fields, "phase": phase})
        if is_held:
            self._held_until = time.monotonic() + HOLD_S
        else:
            self.send()

    def send_held(self) -> float:
        """Send a start message that was held for long; return the seconds until then."""
        if self._held_until is None:
            return math.inf
        left = self._held_until - time.monotonic()
        if left <= 0:
            self.send()
            return math.inf
        return left

    def begin_run(self, why: str) -> None:
        """Send that the attempt runs from now on; time suspended before does not count."""
        self.started, self._suspended_s = self.now(), 0.0
        self.state("running", why)

    def state(self, phase: str, why: str) -> None:
        """Send the phase of the attempt, and its reason.

        One that is resumed before it has its inputs and CPUs stages in again.
        """
        is_early = phase == "running" and self.started is None
        self._enter("staging-in" if is_early else phase, one_line(why))
        suspended = round(self._suspended_s, 3)
        times = {"started": self.started, "suspended": suspended}
        self._add("state", {"phase": self.phase, "why": self.why, **times})
        self.send()

    def progress(self, fields: "Dict[str, Any]", cpu: float, rss: int) -> None:
        """Send the progress of the running binary."""
        self._add("progress", {**self.dated(fields), "cpu": round(cpu, 3), "rss": rss})
        self.send()

    def progress_now(self) -> "Dict[str, Any]":
        """Return the progress of the running binary at this moment."""
        return UNKNOWN if self.current is None else self.current.present()

    def dated(self, fields: "Dict[str, Any]") -> "Dict[str, Any]":
        """Return progress with the time of the end in place of `left`, without absurd numbers."""
        progress = {name: value for name, value in fields.items() if name != "left"}
        for name, most in (("done", LARGEST_COUNT), ("total", LARGEST_COUNT), ("percent", 100.0)):
            progress[name] = _number(fields[name], most)
        is_sane = (progress["done"], progress["total"]) == (fields["done"], fields["total"])
        left = _number(fields["left"], LONGEST_ETA_S) if is_sane else None
        return {**progress, "eta": None if left is None else round(self.now() + left, 3)}

    def remark(self, text: str) -> None:
        """Add a note about the attempt, which is sent with the next message."""
        self.notes += 1
        if self.notes > message.MOST_NOTES:
            return
        if self.notes == message.MOST_NOTES:
            text = "further notes are left out"
        self._add("note", {"binary": self.binary, "text": one_line(text)})

    def begin(self, number: int) -> None:
        """Record that a binary begins, and send the notes about the previous one."""
        if self._held_until is None:
            self.send()
        self.binary, self.binary_started = number, self.now()

    def is_open(self) -> bool:
        """Return whether a binary has begun whose end is not recorded."""
        last = self.records[-1]["binary"] if self.records else None
        return self.binary is not None and last != self.binary

    def need(self, size: int, why: str) -> None:
        """Request `size` bytes of the disk."""
        self._add("need", {"bytes": size, "why": one_line(why)})
        self.send()

    def record_end(
        self, code: "int | None", number: "int | None", cpu: float, rss: int,
        gap: "float | None", disk: "int | None",
    ) -> None:  # fmt: skip
        """Record the end of the running binary; `gap` is its longest silence, `disk` its peak."""
        self.records.append(
            {
                "binary": self.binary,
                "started": self.binary_started,
                "ended": self.now(),
                "exit_code": code,
                "signal": number,
                "cpu": round(cpu, 3),
                "rss": rss,
                "gap": gap,
                "disk": disk,
            }
        )

    def send(self) -> None:
        """Send the waiting messages.

        On a full disk they are not in the spool, so they only arrive if the relay is in contact.
        """
        self._held_until = None
        if self.unsent:
            name, text = self._file()
            try:
                spool.write(self.folder.node, name, text)
            except OSError:
                pass
            self._send_message(name, text)

    def finish(self, result: "Dict[str, Any]") -> "tuple[bytes, bytes]":
        """Put the end message into the spool, with retries on a full disk; return name and text.

        It is sent to the relay with the end of the attempt.
        """
        if is_full(self.folder.node.base):
            self.state("suspended", END_WAITS)
        self._enter(self.phase, self.why)
        last = self.records[-1] if self.records and not self.is_open() else {}
        end = {
            "wrapper_started": self.wrapper_started,
            "started": self.started,
            "ended": self.now(),
            "suspended": round(self._suspended_s, 3),
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
        self._add("end", {**end, **result})
        name, text = self._last_file({**end, "staged": [], "stored": [], "binaries": []})
        spool.write_end(self.folder, name, text)
        return name, text

    def _last_file(self, bare: "Dict[str, Any]") -> "tuple[bytes, bytes]":
        """Return name and text of the last file; an end beyond a limit becomes a plain failure.

        Only long messages can break a limit, so short ones are not checked.
        """
        *before, end = self.unsent
        name, text = self._file()
        if len(text) <= shape.TEXT:
            return name, text
        try:
            message.parse(text.decode("ascii"))
        except ValueError as error:
            detail = "can't send its end message: %s" % one_line(str(error))
            failed = {"outcome": "failed", "reason": "verification", "detail": detail}
            plain = {**end, **bare, **failed, "outputs": [], "missing": [], "retained": None}
            plain.pop("events", None)
            self.unsent = [*(known for known in before if known["kind"] == "start"), plain]
            name, text = self._file()
        return name, text

    def _enter(self, phase: str, why: str) -> None:
        now = self.now()
        if self.phase == "suspended" and self.started is not None:
            self._suspended_s += now - self.phase_since
        self.phase, self.why, self.phase_since = phase, why, now

    def _stderr(self) -> str:
        if self.binary is None:
            return texts.tail(self.folder.file(b"startup.err"))
        return texts.tail(self.folder.file(b"%d.err" % self.binary))

    def _add(self, kind: str, fields: "Dict[str, Any]") -> None:
        self.sequence += 1
        common = {
            "attempt": self.folder.attempt,
            "token": self.token,
            "seq": self.sequence,
            "time": self.now(),
            "kind": kind,
        }
        self.unsent.append({**common, **fields})

    def _file(self) -> "tuple[bytes, bytes]":
        """Return name and text of a file with all unsent messages."""
        name = b"%d.%d" % (self.folder.attempt, self.unsent[0]["seq"])
        text = message.text(self.unsent).encode("ascii")
        self.unsent = []
        return name, text


def _number(value: "float | None", most: float) -> "float | None":
    """Return a number reported by a program; None if it is none or out of range."""
    return value if value is not None and 0.0 <= value <= most else None
