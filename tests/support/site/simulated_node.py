"""A simulated node: what it runs, and what it and the driver have not heard of each other yet."""

from dataclasses import dataclass, field
from typing import Any

from d0ctl.store.attempts.launching.launches import Launch
from d0ctl_wrapper.protocol.text import PAUSED
from tests.support.jobs import NOW
from tests.support.messages import Message, end_message, output, start_message, state_message


@dataclass
class Node:
    """The true state of a node."""

    id: int
    name: str
    cluster: int
    boot: int = 1
    linked: bool = False
    attempts: dict[int, str] = field(default_factory=dict)
    launches: dict[int, Launch] = field(default_factory=dict)
    suspended: set[int] = field(default_factory=set)
    """The running attempts that an order to pause has suspended."""
    resumed: set[int] = field(default_factory=set)
    """The attempts that this link has ordered to go on."""
    said: dict[int, int] = field(default_factory=dict)
    """The number of the last message of each attempt about its state."""
    disk: set[str] = field(default_factory=set)
    spool: list[Message] = field(default_factory=list)
    orders: list[tuple[str, Any]] = field(default_factory=list)
    """What was committed and is not yet sent."""
    replies: list[tuple[str, Any]] = field(default_factory=list)
    """What the relay said and the driver has not heard yet."""

    def start(self, launch: Launch) -> None:
        """Start an attempt, once."""
        attempt = launch["attempt"]
        if attempt not in self.attempts:
            self.attempts[attempt] = "running"
            self.launches[attempt] = launch
            self.spool.append(start_message(attempt))

    def end(self, attempt: int, outcome: str, reason: str | None = None) -> None:
        """Let the wrapper of an attempt say how it ended, with outputs if it went well."""
        if self.attempts.get(attempt) != "running":
            return
        launch = self.launches[attempt]
        if outcome == "successful" and (launch.get("early") or attempt in self.suspended):
            return
        missing = [entry["path"] for entry in launch["inputs"] if entry["path"] not in self.disk]
        missing = [path for path in missing if path and "/cache/" in path]
        if missing and outcome == "successful":
            outcome, reason = "failed", "missing-input"
        outputs = []
        if outcome == "successful":
            folder = f"/{self.name}/cache/{attempt}"
            outputs = [one for name in launch["keep"] for one in self.made(folder, name, attempt)]
            self.disk.update(entry["path"] for entry in outputs)
        self.attempts[attempt] = "ended"
        self.suspended.discard(attempt)
        self.spool.append(end_message(attempt, outcome, reason, outputs, missing))

    def made(self, folder: str, name: str, attempt: int) -> list[dict[str, Any]]:
        """What an attempt makes of an output; each attempt other files of a late one."""
        if "*" not in name:
            return [output(folder, name)]
        names = [name.replace("*", str(number)) for number in {0, attempt % 2 + 1}]
        return [{**output(folder, one), "late": name} for one in names]

    def feed(self, entry: dict[str, Any]) -> None:
        """Give inputs to an attempt that runs, each once; without more to come it can end."""
        launch = self.launches.get(entry["attempt"])
        if launch is None:
            return
        known = {one["name"] for one in launch["inputs"]}
        launch["inputs"] += [one for one in entry["inputs"] if one["name"] not in known]
        if entry["closed"]:
            launch["early"] = False

    def pause(self, attempt: int, *, on: bool) -> None:
        """Suspend an attempt that runs, or let it go on; it says so if that changes anything."""
        if self.attempts.get(attempt) != "running" or on == (attempt in self.suspended):
            return
        (self.suspended.add if on else self.suspended.discard)(attempt)
        seq = self.said[attempt] = self.said.get(attempt, 1) + 1
        why = f"{PAUSED}; stopped" if on else "resumed"
        self.spool.append(state_message(attempt, seq, "suspended" if on else "running", why))

    def status(self, attempt: int) -> dict[str, Any]:
        """Say in which state an attempt is, and why."""
        phase, why = ("suspended", f"{PAUSED}; stopped") if attempt in self.suspended else (
            "running", "")  # fmt: skip
        return {"attempt": attempt, "seq": self.said.get(attempt, 1), "wrapper_started": NOW,
                "started": NOW, "phase": phase, "why": why}  # fmt: skip

    def obey(self, kind: str, what: Any) -> None:
        """Do what the control host asks."""
        if kind == "launch":
            self.start(what)
        elif kind in ("pause", "resume"):
            self.pause(what, on=kind == "pause")
            (self.resumed.discard if kind == "pause" else self.resumed.add)(what)
        elif kind == "ask" and self.attempts.get(what) == "running":
            self.replies.append(("status", self.status(what)))
        elif kind == "kill":
            if self.attempts.get(what) == "running":
                self.end(what, "killed", "killed")
            elif what in self.attempts:
                self.resend(what)
            else:
                self.replies.append(("absent", what))
        elif kind == "resend":
            self.resend(what)
        elif kind == "input_stream":
            self.feed(what)

    def resend(self, attempt: int) -> None:
        """Say again how an attempt ended."""
        answer = [m for m in SENT.get((id(self), attempt), []) if m["kind"] == "end"]
        self.spool += [m for m in answer if m not in self.spool]


SENT: dict[tuple[int, int], list[Message]] = {}
"""What each node has delivered of each attempt."""
