"""A small control host: it drives the real relay of a node through pipes."""

import json
import os
import select
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from d0ctl.nodes import frame_checks
from d0ctl_wrapper.protocol import message
from tests.support.waiting import PATIENCE_S, wait_until
from tests.wrapper.relays import Relay

Frame = dict[str, Any]

KEY = b"a key of this site"


def binary(*argv: str, script: str | None = None, **changes: Any) -> Frame:
    """Describe one binary of a launch: a script for bash, or a program with its arguments."""
    described: Frame = {
        "name": "step",
        "script": script,
        "shell": None,
        "argv": list(argv) or None,
        "inputs": [],
        "outputs": [],
    }
    return {**described, **changes}


def launch(attempt: int, *binaries: Frame, **changes: Any) -> Frame:
    """Describe one attempt."""
    described: Frame = {
        "attempt": attempt,
        "token": message.token(KEY, attempt),
        "path": f"job/1/1/{attempt}",
        "cpus": 1,
        "environment": {},
        "inputs": [],
        "binaries": list(binaries),
        "keep": [],
    }
    return {**described, **changes}


class Client:
    """One connection to a relay."""

    def __init__(self, relay: Relay, base: Path, hello: Frame) -> None:
        self.base = base
        self.process = relay
        self.frames: list[Frame] = []
        self.files: dict[str, str] = {}
        self.message_frames = 0
        self._pieces: list[bytes] = []
        self._long: list[str] = []
        self.acknowledges = True
        greeting = {
            "nonce": "abc123",
            "base": str(base),
            "cpus": 4,
            "spool": None,
            "read_only": False,
        }
        self.send("hello", **{**greeting, **hello})

    def send(self, kind: str, **fields: Any) -> None:
        """Send one frame."""
        for line in frame_checks.write({"kind": kind, **fields}):
            self.send_raw(line)

    def send_raw(self, data: bytes) -> None:
        """Send bytes that may be no frame."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ping(self) -> str:
        """Ask for a pong, and give the name that it will have."""
        name = uuid.uuid4().hex
        self.send("ping", id=name)
        return name

    def launch(self, *launches: Frame) -> None:
        """Have attempts started."""
        self.send("launch", attempts=list(launches))

    def wait(self, kind: str, **fields: Any) -> Frame:
        """Wait for a frame of this kind with these fields, and take it."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            for frame in self.frames:
                if frame["kind"] == kind and fields.items() <= frame.items():
                    self.frames.remove(frame)
                    return frame
            self._receive(deadline, f"{kind} {fields}")

    def end(self, attempt: int) -> Frame:
        """Wait for the end message of an attempt."""
        return self.message(attempt, "end")

    def message(self, attempt: int, kind: str) -> Frame:
        """Wait for a message of an attempt."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            for one in self.messages(attempt):
                if one["kind"] == kind:
                    return one
            self._receive(deadline, f"the {kind} of attempt {attempt}")

    def messages(self, attempt: int) -> list[Frame]:
        """Give the messages of an attempt that have come so far, in their order."""
        texts = [text for name, text in self.files.items() if name.split(".")[0] == str(attempt)]
        found = [one for text in texts for one in message.parse(text)]
        assert all(one["token"] == message.token(KEY, attempt) for one in found)
        return sorted(found, key=lambda one: int(one["seq"]))

    def run(self, *binaries: Frame, attempt: int = 1, **changes: Any) -> Frame:
        """Launch an attempt, and wait for its end."""
        self.launch(launch(attempt, *binaries, **changes))
        return self.end(attempt)

    def started(self, attempt: int) -> int:
        """Wait until the first binary of an attempt has started, and give the wrapper's pid."""
        wait_until(lambda: (self.folder(attempt) / "1.out").exists())
        return int((self.folder(attempt) / "wrapper").read_text().split()[0])

    def folder(self, attempt: int) -> Path:
        """Give the folder of an attempt."""
        return self.base / "attempts" / str(attempt)

    def close(self) -> int:
        """Close the connection, and give the exit code of the relay."""
        assert self.process.stdin is not None and self.process.stdout is not None
        assert self.process.stderr is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(PATIENCE_S)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def _receive(self, deadline: float, awaited: str) -> None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            raise AssertionError(f"no {awaited}; came {self.frames} {list(self.files)}")
        data = os.read(descriptor, 1 << 20)
        if not data:
            raise AssertionError(f"the relay ended before {awaited}; came {self.frames}")
        self._pieces.append(data)
        if b"\n" in data:
            *lines, rest = b"".join(self._pieces).split(b"\n")
            self._pieces = [rest]
            for line in lines:
                self._take(line)

    def _take(self, line: bytes) -> None:
        if line == b"d0ctl abc123":
            return
        frame = json.loads(line)
        if frame["kind"] != "messages":
            self.frames.append(frame)
            return
        self.message_frames += 1
        for file in frame["files"]:
            self._long.append(file["text"])
            if not file.get("more"):
                self.files[file["name"]] = "".join(self._long)
                self._long = []
        if self.acknowledges and not self._long:
            self.send("ack", names=[file["name"] for file in frame["files"]])
