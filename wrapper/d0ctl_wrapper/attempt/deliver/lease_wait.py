"""Waiting for the lease before any change outside of the node.

A wrapper that was out of contact for longer than its lease may have been replaced. It continues
to compute, but delivers nothing before the control host renews the lease or ends it.
"""

import time

from d0ctl_wrapper.attempt.reporter import Reporter
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.protocol import lease
from d0ctl_wrapper.protocol.paths import NodePaths

POLL_S = 1.0
"""The seconds between two checks of the lease."""


class LeaseWait:
    """The lease of one attempt."""

    def __init__(
        self, paths: NodePaths, boot_id: str, seconds: float, tree: ProcessTree, report: Reporter
    ) -> None:
        self._paths, self._boot_id = paths, boot_id
        self._first = lease.now(boot_id) + seconds
        self._tree, self._report = tree, report

    def is_held(self) -> bool:
        """Return whether the attempt is surely the current one of its package."""
        return lease.now(self._boot_id) < max(self._first, lease.until(self._paths, self._boot_id))

    def wait(self) -> None:
        """Wait for the lease; raise Terminated if the attempt has to end.

        Orders to end arrive before the lease, so they are checked after it.
        """
        if self._waits():
            self._report.state("suspended", "out of contact: outputs wait for the control host")
            began = time.monotonic()
            while self._waits():
                self._tree.rest(POLL_S)
            waited = time.monotonic() - began
            self._report.state("running", "in contact again after %.0f s" % waited)
        self._tree.check()

    def _waits(self) -> bool:
        return not self.is_held()
