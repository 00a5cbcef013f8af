"""The only place where a wrapper holds back what others would see, while nobody may hear it.

Who has been out of contact for longer than its lease may have been replaced meanwhile. It goes
on computing; but nothing of it leaves its node before it is told to go on, or to end.
"""

import time

from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.run.processes import Tree
from d0ctl_wrapper.protocol import lease
from d0ctl_wrapper.protocol.paths import NodePaths

LOOK = 1.0
"""Every so many seconds a wrapper that waits looks for news."""


class Lease:
    """Until when one attempt may touch the world."""

    def __init__(
        self, paths: NodePaths, boot_id: str, seconds: float, tree: Tree, report: Report
    ) -> None:
        self._paths, self._boot_id = paths, boot_id
        self._first = lease.now() + seconds
        self._tree, self._report = tree, report

    def is_held(self) -> bool:
        """Tell whether this attempt is surely the one that counts."""
        return lease.now() < max(self._first, lease.until(self._paths, self._boot_id))

    def wait(self) -> None:
        """Return once the world may be touched; raise Told when this attempt is to end.

        Orders to end come before the lease, so one that has come is seen after the lease.
        """
        if self._waits():
            self._report.state("suspended", "out of contact: its outputs wait for the control host")
            began = time.monotonic()
            while self._waits():
                self._tree.rest(LOOK)
            waited = time.monotonic() - began
            self._report.state("running", "in contact again after %.0f s" % waited)
        self._tree.check()

    def _waits(self) -> bool:
        return not self.is_held()
