"""The service of a read-only connection; such a relay imports nothing else."""

import time
from typing import Any, Callable, Dict, List

from d0ctl_wrapper import benchmark
from d0ctl_wrapper.protocol import requests
from d0ctl_wrapper.protocol.frames import Stream
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import facts, listing, pieces
from d0ctl_wrapper.relay.status_requests import StatusRequests

Frame = Dict[str, Any]

LONGEST_JOINED = 256 * 1024 * 1024
"""The most bytes of a frame in pieces, such as a launch with 100,000 inputs."""


class ReadOnlyService:
    """The frames that change nothing."""

    def __init__(self, paths: NodePaths, stream: Stream) -> None:
        self.paths = paths
        self.send = stream.send
        self._pieces: "List[str]" = []
        self.status_requests = StatusRequests(paths, stream.send)
        self.handlers: "Dict[str, Callable[[Frame], None]]" = {
            "read": self._read,
            "list": lambda frame: self.send(listing.listing(self.paths, frame)),
            "ask": self.status_requests.ask,
            "survey": self._survey,
            "folder": self._folder,
            "stat": self._stat,
            "ping": self._ping,
            "benchmark": lambda frame: self.send(benchmark.answer(frame)),
            "piece": self._join,
        }

    def obey(self, line: bytes) -> None:
        """Carry out one frame; answer an invalid one with a fault."""
        try:
            kind, frame = requests.read(line)
        except ValueError as error:
            self.fault("a frame %s" % error)
            return
        if kind in self.handlers:
            self.handlers[kind](frame)
        elif frame:
            self.fault("`%s` is not allowed in a read-only connection" % kind)

    def fault(self, why: str) -> None:
        """Send a fault."""
        self.send({"kind": "fault", "message": why})

    def _join(self, frame: Frame) -> None:
        """Store a piece of a long frame; carry the frame out with its last piece."""
        self._pieces.append(frame["text"])
        if sum(map(len, self._pieces)) > LONGEST_JOINED:
            self._pieces = []
            self.fault("a frame in pieces is longer than %d bytes" % LONGEST_JOINED)
        elif not frame["more"]:
            line = "".join(self._pieces)
            self._pieces = []
            self.obey(line.encode("ascii", "replace"))

    def _read(self, frame: Frame) -> None:
        self.send(pieces.read(self.paths, frame))

    def _survey(self, frame: Frame) -> None:
        for part in listing.survey(self.paths, frame):
            self.send(part)

    def _folder(self, frame: Frame) -> None:
        for part in listing.folder(frame):
            self.send(part)

    def _stat(self, frame: Frame) -> None:
        found = facts.gather(self.paths.base)
        self.send({"kind": "facts", "id": frame["id"], "facts": found})

    def _ping(self, frame: Frame) -> None:
        answer = {"kind": "pong", "id": frame["id"]}
        free = facts.free(self.paths.base)
        self.send({**answer, "time": time.time(), "load": facts.load(), "disk_free": free})
