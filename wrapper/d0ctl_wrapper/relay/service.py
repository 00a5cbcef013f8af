"""The service of a relay: it carries out the frames of a control host."""

from typing import Any, Callable, Dict

from d0ctl_wrapper import benchmark
from d0ctl_wrapper.attempt import orders
from d0ctl_wrapper.host import software_cache
from d0ctl_wrapper.protocol import lease
from d0ctl_wrapper.protocol.frames import Stream
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import file_requests, listing
from d0ctl_wrapper.relay.attempts.attempt_orders import AttemptOrders
from d0ctl_wrapper.relay.attempts.input_delivery import InputDelivery
from d0ctl_wrapper.relay.attempts.supervisor import Supervisor
from d0ctl_wrapper.relay.helpers import Helpers
from d0ctl_wrapper.relay.read_only_service import ReadOnlyService
from d0ctl_wrapper.relay.uplink import Uplink

Frame = Dict[str, Any]


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
        self.inputs = InputDelivery(supervisor)
        self.attempt_orders = AttemptOrders(supervisor)
        self.handlers.update(
            {
                "launch": lambda frame: supervisor.launch(frame["attempts"]),
                "input_stream": lambda frame: self.inputs.add(frame["attempts"]),
                "kill": lambda frame: self.attempt_orders.kill(
                    frame["attempts"],
                    orders.Kill(frame["grace"], frame["partial"], frame["partial_grace"]),
                ),
                "pause": lambda frame: self.attempt_orders.pause(frame["attempts"], frame["grace"]),
                "resume": lambda frame: self.attempt_orders.resume(frame["attempts"]),
                "keep": lambda frame: keep_logs(frame["seconds"]),
                "resend": lambda frame: self.attempt_orders.resend(frame["attempts"]),
                "lease": self._lease,
                "over": lambda frame: self.attempt_orders.over(frame["attempts"]),
                "ack": self._acknowledge,
                "forget": self._forget,
                "take": self._take,
                "hash": self._hash,
                "survey": self._list_all,
                "software": self._software,
                "benchmark": lambda frame: helpers.submit(lambda: [benchmark.answer(frame)], None),
            }
        )

    def _acknowledge(self, frame: Frame) -> None:
        self.uplink.acknowledge(frame["names"])
        if self.supervisor.is_elsewhere:
            numbers = (name.partition(".")[0] for name in frame["names"])
            self.attempt_orders.settle({int(number) for number in numbers if number.isdigit()})

    def _lease(self, frame: Frame) -> None:
        try:
            lease.renew(self.paths, self.supervisor.context.boot_id, frame["seconds"])
        except OSError as error:
            self.fault("can't write the lease: %s" % error.strerror)

    def _forget(self, frame: Frame) -> None:
        attempts = self.attempt_orders.forget(frame["attempts"])
        frame = {**frame, "attempts": attempts}
        failed = {"kind": "fault", "message": "the helper process that removes files died"}
        self.helpers.submit(lambda: file_requests.forget(self.paths, frame), failed)

    def _take(self, frame: Frame) -> None:
        umask = self.supervisor.context.umask
        failed = file_requests.not_taken(frame, "the helper process died")
        self.helpers.submit(lambda: [file_requests.take(self.paths, frame, umask)], failed)

    def _hash(self, frame: Frame) -> None:
        failed = file_requests.not_hashed(frame, "the helper process died")
        self.helpers.submit(lambda: [file_requests.hashed(self.paths, frame)], failed)

    def _list_all(self, frame: Frame) -> None:
        """Survey in a helper: packages begin and end meanwhile."""
        failed = {"kind": "fault", "message": "the helper process that lists files died"}
        self.helpers.submit(lambda: listing.survey(self.paths, frame), failed)

    def _software(self, frame: Frame) -> None:
        failed = software_cache.failed(frame, "the helper process died")
        self.helpers.submit(lambda: [software_cache.answer(self.paths, frame)], failed)
