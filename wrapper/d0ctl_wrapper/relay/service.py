"""The service of a relay: it carries out the frames of a control host."""

import time
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt import orders
from d0ctl_wrapper.host import software
from d0ctl_wrapper.protocol import lease, requests
from d0ctl_wrapper.protocol.frames import Stream
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import facts, files, listing
from d0ctl_wrapper.relay.attempts.supervisor import Supervisor
from d0ctl_wrapper.relay.helpers import Helpers
from d0ctl_wrapper.relay.status_requests import StatusRequests
from d0ctl_wrapper.relay.uplink import Uplink

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
            "survey": lambda frame: listing.survey(self.paths, frame, stream),
            "stat": self._stat,
            "ping": self._ping,
            "piece": self._join,
        }

    def obey(self, line: bytes) -> None:
        """Carry out one frame; answer one that can't be understood with a fault."""
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
        """Keep a piece of a long frame; obey the frame with its last piece."""
        self._pieces.append(frame["text"])
        if sum(map(len, self._pieces)) > LONGEST_JOINED:
            self._pieces = []
            self.fault("a frame in pieces is longer than %d bytes" % LONGEST_JOINED)
        elif not frame["more"]:
            line = "".join(self._pieces)
            self._pieces = []
            self.obey(line.encode("ascii", "replace"))

    def _read(self, frame: Frame) -> None:
        self.send(files.read(self.paths, frame))

    def _stat(self, frame: Frame) -> None:
        found = facts.gather(self.paths.base)
        self.send({"kind": "facts", "id": frame["id"], "facts": found})

    def _ping(self, frame: Frame) -> None:
        answer = {"kind": "pong", "id": frame["id"]}
        free = facts.free(self.paths.base)
        self.send({**answer, "time": time.time(), "load": facts.load(), "disk_free": free})


class Service(ReadOnlyService):
    """All frames, for the control host whose relay holds the lock."""

    def __init__(
        self,
        paths: NodePaths,
        stream: Stream,
        supervisor: Supervisor,
        uplink: Uplink,
        helpers: Helpers,
        keep_logs: "Callable[[float], None]",
    ) -> None:
        super().__init__(paths, stream)
        self.supervisor = supervisor
        self.uplink = uplink
        self.helpers = helpers
        self.handlers.update(
            {
                "launch": lambda frame: supervisor.launch(frame["attempts"]),
                "input_stream": lambda frame: supervisor.add_inputs(frame["attempts"]),
                "kill": lambda frame: supervisor.kill(
                    frame["attempts"],
                    orders.Kill(frame["grace"], frame["partial"], frame["partial_grace"]),
                ),
                "pause": lambda frame: supervisor.pause(frame["attempts"], frame["grace"]),
                "resume": lambda frame: supervisor.resume(frame["attempts"]),
                "keep": lambda frame: keep_logs(frame["seconds"]),
                "resend": lambda frame: supervisor.resend(frame["attempts"]),
                "lease": self._lease,
                "ack": lambda frame: uplink.acknowledge(frame["names"]),
                "forget": self._forget,
                "take": self._take,
                "hash": self._hash,
                "software": self._software,
            }
        )

    def _lease(self, frame: Frame) -> None:
        try:
            lease.renew(self.paths, self.supervisor.context.boot_id, frame["seconds"])
        except OSError as error:
            self.fault("can't write the lease: %s" % error.strerror)

    def _forget(self, frame: Frame) -> None:
        attempts = self.supervisor.forget(frame["attempts"])
        frame = {**frame, "attempts": attempts}
        failed = {"kind": "fault", "message": "the helper process that removes files died"}
        self.helpers.submit(lambda: files.forget(self.paths, frame), failed)

    def _take(self, frame: Frame) -> None:
        umask = self.supervisor.context.umask
        failed = files.not_taken(frame, "the helper process died")
        self.helpers.submit(lambda: [files.take(self.paths, frame, umask)], failed)

    def _hash(self, frame: Frame) -> None:
        failed = files.not_hashed(frame, "the helper process died")
        self.helpers.submit(lambda: [files.hashed(self.paths, frame)], failed)

    def _software(self, frame: Frame) -> None:
        failed = software.failed(frame, "the helper process died")
        self.helpers.submit(lambda: [software.answer(self.paths, frame)], failed)
