"""The only place that carries out the frames of a control host."""

import time
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt import orders
from d0ctl_wrapper.host import software
from d0ctl_wrapper.protocol import lease
from d0ctl_wrapper.protocol.frames import Stream
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import facts, files, listing, requests, survey
from d0ctl_wrapper.relay.helpers import Helpers
from d0ctl_wrapper.relay.status_requests import Asking
from d0ctl_wrapper.relay.supervisor import Keeper
from d0ctl_wrapper.relay.uplink import Post

Frame = Dict[str, Any]


LONGEST_JOINED = 256 * 1024 * 1024
"""A frame in pieces, such as a launch with 100,000 inputs, has at most so many bytes."""


class Look:
    """What anybody may ask: it changes nothing."""

    def __init__(self, paths: NodePaths, stream: Stream) -> None:
        self.paths = paths
        self.send = stream.send
        self._pieces: "List[str]" = []
        self.asking = Asking(paths, stream.send)
        self.verbs: "Dict[str, Callable[[Frame], None]]" = {
            "read": self._read,
            "list": lambda frame: self.send(listing.listing(self.paths, frame)),
            "ask": self.asking.ask,
            "survey": lambda frame: survey.survey(self.paths, frame, stream),
            "stat": self._stat,
            "ping": self._ping,
            "piece": self._join,
        }

    def obey(self, line: bytes) -> None:
        """Do what one frame asks for; what can't be understood is answered by a fault."""
        try:
            kind, frame = requests.read(line)
        except ValueError as error:
            self.fault("a frame %s" % error)
            return
        if kind in self.verbs:
            self.verbs[kind](frame)
        elif frame:
            self.fault("a visitor cannot ask for `%s`" % kind)

    def fault(self, why: str) -> None:
        """Say that something cannot be done."""
        self.send({"kind": "fault", "message": why})

    def _join(self, frame: Frame) -> None:
        """Keep a piece of a long frame; obey that with its last piece."""
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


class Service(Look):
    """What the control host that holds the lock may ask."""

    def __init__(
        self, paths: NodePaths, stream: Stream, keeper: Keeper, post: Post, helpers: Helpers
    ) -> None:
        super().__init__(paths, stream)
        self.keeper = keeper
        self.post = post
        self.helpers = helpers
        self.verbs.update(
            {
                "launch": lambda frame: keeper.launch(frame["attempts"]),
                "input_stream": lambda frame: keeper.feed(frame["attempts"]),
                "kill": lambda frame: keeper.kill(
                    frame["attempts"],
                    orders.Kill(frame["grace"], frame["partial"], frame["partial_grace"]),
                ),
                "pause": lambda frame: keeper.pause(frame["attempts"], frame["grace"]),
                "resume": lambda frame: keeper.resume(frame["attempts"]),
                "resend": lambda frame: keeper.resend(frame["attempts"]),
                "lease": self._lease,
                "ack": lambda frame: post.acknowledge(frame["names"]),
                "forget": self._forget,
                "take": self._take,
                "hash": self._hash,
                "software": self._software,
            }
        )

    def _lease(self, frame: Frame) -> None:
        try:
            lease.renew(self.paths, self.keeper.setting.boot_id, frame["seconds"])
        except OSError as error:
            self.fault("the lease cannot be noted: %s" % error.strerror)

    def _forget(self, frame: Frame) -> None:
        which = self.keeper.forget(frame["attempts"])
        frame = {**frame, "attempts": which}
        failed = {"kind": "fault", "message": "the helper that was to remove files died"}
        self.helpers.submit(lambda: files.forget(self.paths, frame), failed)

    def _take(self, frame: Frame) -> None:
        umask = self.keeper.setting.umask
        failed = files.not_taken(frame, "the helper that was to take it died")
        self.helpers.submit(lambda: [files.take(self.paths, frame, umask)], failed)

    def _hash(self, frame: Frame) -> None:
        failed = files.not_hashed(frame, "the helper that was to read it died")
        self.helpers.submit(lambda: [files.hashed(self.paths, frame)], failed)

    def _software(self, frame: Frame) -> None:
        failed = software.failed(frame, "the helper that was to see to it died")
        self.helpers.submit(lambda: [software.answer(self.paths, frame)], failed)
