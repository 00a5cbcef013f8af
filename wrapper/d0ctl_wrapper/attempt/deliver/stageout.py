"""The only place that takes outputs out of a node: stored or forwarded to their locators.

Where the target is a path, a file comes aside and is renamed, so that nobody sees half of it.
"""

import os
from typing import Any, Dict, List

from d0ctl_wrapper.attempt.deliver import unfinished_files
from d0ctl_wrapper.attempt.deliver.lease_wait import Lease
from d0ctl_wrapper.attempt.stage import transfers
from d0ctl_wrapper.attempt.stage.carrier import Carrier, Full, Lapsed, Trouble, Unable
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL, digest, sync
from d0ctl_wrapper.protocol import locator as locators
from d0ctl_wrapper.protocol.paths import AttemptFolder, remove, to_path
from d0ctl_wrapper.protocol.text import one_line

Output = Dict[str, Any]


class StageOut:
    """Takes the outputs of one attempt to their paths, as long as it may touch the world."""

    def __init__(self, folder: AttemptFolder, carrier: Carrier, lease: Lease, umask: int) -> None:
        self._folder = folder
        self._carrier, self._lease, self._umask = carrier, lease, umask

    def deliver(
        self, wanted: "List[Dict[str, str]]", kept: "List[Output]", stored: "List[Dict[str, str]]"
    ) -> None:
        """Deliver what is wanted of what was kept, and add to `stored` what arrived.

        Raises Failed with reason stage-out, or Told.
        """
        outputs = {output["name"]: output for output in kept}
        for one in wanted:
            if one["name"] in outputs:
                self._told(outputs[one["name"]], one["locator"])
                stored.append(one)

    def _told(self, output: Output, locator: str) -> None:
        """Deliver one, and say in terms of the attempt what went wrong."""
        names = one_line(output["name"]), one_line(locator)
        shown = "output `%s` cannot be stored at `%s`" % names
        try:
            self._carrier.insist(lambda: self._patiently(output, locator))
        except Full as error:
            raise Failed("stage-out", "%s: %s" % (shown, error))
        except Trouble as error:
            raise Failed("stage-out", "%s: %s" % (shown, error))

    def _patiently(self, output: Output, locator: str) -> None:
        """Deliver one, from the beginning if contact was lost meanwhile."""
        while True:
            self._lease.wait()
            try:
                return self._deliver(output, locator)
            except Lapsed:
                pass

    def _deliver(self, output: Output, locator: str) -> None:
        source = to_path(output["path"])
        scheme = locators.scheme(locator)
        argv = self._carrier.command(scheme, "store", output["path"], locator)
        target = locators.local_path(locator)
        if argv is not None:
            self._carrier.run("storing by the site's command for `%s`" % scheme, argv)
        elif target is not None:
            self._place(source, target, output)
        elif scheme in ("http", "https"):
            self._carrier.do("storing", lambda: transfers.put(source, locator))
        else:
            raise Unable("the site has no command for `%s`" % (scheme or one_line(locator)))

    def _place(self, source: bytes, target: bytes, output: Output) -> None:
        """Copy to a path: aside, checked, and renamed if that may be done still."""
        folder, name = os.path.split(target)
        aside = b"%s/.%s.d0ctl-%d" % (folder, name[:200], self._folder.attempt)
        unfinished_files.note(self._folder, aside)
        try:
            self._carrier.do("copying", lambda: copy_for_user(source, aside, self._umask), aside)
            self._settle(aside, target, output)
        except OSError as error:
            raise (Full if error.errno in FULL else Trouble)(error.strerror or str(error))
        finally:
            unfinished_files.clear(self._folder)

    def _settle(self, aside: bytes, target: bytes, output: Output) -> None:
        if digest(aside, self._carrier.orders.heed) != (output["size"], output["checksum"]):
            raise Trouble("the copy is not what it was made from")
        if not self._lease.is_held():
            raise Lapsed
        self._carrier.tree.check()
        os.rename(aside, target)
        sync(os.path.dirname(target))


def copy_for_user(source: bytes, aside: bytes, umask: int) -> None:
    """Copy a file, with the rights that the user's files have."""
    os.umask(umask)
    os.makedirs(os.path.dirname(aside), exist_ok=True)
    remove(aside)
    file = os.open(source, os.O_RDONLY)
    transfers.copy(file, aside)
