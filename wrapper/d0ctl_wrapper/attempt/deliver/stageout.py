"""Stage-out: delivery of outputs to their locators.

A file for a path is written aside and renamed, so that nobody reads half of it.
"""

import os
from typing import Any, Dict, List

from d0ctl_wrapper.attempt.deliver.lease_wait import LeaseWait
from d0ctl_wrapper.attempt.stage import builtin_transfers
from d0ctl_wrapper.attempt.stage.transfer_runner import (
    LeaseLapsed,
    NoSpace,
    NoTransferCommand,
    TransferFailed,
    TransferRunner,
)
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL, digest, sync
from d0ctl_wrapper.protocol import locator as locators
from d0ctl_wrapper.protocol.paths import AttemptFolder, read, remove, to_path, write
from d0ctl_wrapper.protocol.text import one_line

Output = Dict[str, Any]


class StageOut:
    """The delivery of the outputs of one attempt, while it holds the lease."""

    def __init__(
        self, folder: AttemptFolder, runner: TransferRunner, lease: LeaseWait, umask: int
    ) -> None:
        self._folder = folder
        self._runner, self._lease, self._umask = runner, lease, umask

    def deliver(
        self,
        wanted: "List[Dict[str, str]]",
        retained_outputs: "List[Output]",
        stored: "List[Dict[str, str]]",
    ) -> None:
        """Deliver the `wanted` of the kept outputs, and add each to `stored`.

        Raises Failed with reason stage-out, or Terminated.
        """
        outputs = {output["name"]: output for output in retained_outputs}
        for delivery in wanted:
            if delivery["name"] in outputs:
                self._deliver_or_fail(outputs[delivery["name"]], delivery["locator"])
                stored.append(delivery)

    def _deliver_or_fail(self, output: Output, locator: str) -> None:
        """Deliver an output; raise Failed if that is impossible."""
        names = one_line(output["name"]), one_line(locator)
        shown = "can't store output `%s` at `%s`" % names
        try:
            self._runner.run_with_retries(lambda: self._deliver_with_lease(output, locator))
        except NoSpace as error:
            raise Failed("stage-out", "%s: %s" % (shown, error))
        except TransferFailed as error:
            raise Failed("stage-out", "%s: %s" % (shown, error))

    def _deliver_with_lease(self, output: Output, locator: str) -> None:
        """Deliver an output; start again if the lease expires meanwhile."""
        while True:
            self._lease.wait()
            try:
                return self._deliver(output, locator)
            except LeaseLapsed:
                pass

    def _deliver(self, output: Output, locator: str) -> None:
        source = to_path(output["path"])
        scheme = locators.scheme(locator)
        transport, address = locators.transport(locator), locators.address(locator)
        argv = self._runner.command(transport, "store", output["path"], address)
        target = locators.local_path(locator)
        if argv is not None:
            self._runner.run("storing by the site's command for `%s`" % transport, argv)
        elif target is not None:
            self._copy_to(source, target, output)
        elif scheme in ("http", "https"):
            self._runner.do("storing", lambda: builtin_transfers.put(source, locator))
        else:
            raise NoTransferCommand(
                "the site has no command for `%s`" % (transport or one_line(locator))
            )

    def _copy_to(self, source: bytes, target: bytes, output: Output) -> None:
        """Copy an output to a path: aside, verified, then renamed."""
        folder, name = os.path.split(target)
        aside = b"%s/.%s.d0ctl-%d" % (folder, name[:200], self._folder.attempt)
        note_unfinished(self._folder, aside)
        try:
            self._runner.do("copying", lambda: copy_for_user(source, aside, self._umask), aside)
            self._settle(aside, target, output)
        except OSError as error:
            raise (NoSpace if error.errno in FULL else TransferFailed)(error.strerror or str(error))
        finally:
            clear_unfinished(self._folder)

    def _settle(self, aside: bytes, target: bytes, output: Output) -> None:
        if digest(aside, self._runner.orders.pause_point) != (output["size"], output["checksum"]):
            raise TransferFailed("the copy differs from the output")
        if not self._lease.is_held():
            raise LeaseLapsed
        self._runner.tree.check()
        os.rename(aside, target)
        sync(os.path.dirname(target))


def copy_for_user(source: bytes, aside: bytes, umask: int) -> None:
    """Copy a file with the mode of the user's files."""
    os.umask(umask)
    os.makedirs(os.path.dirname(aside), exist_ok=True)
    remove(aside)
    file = os.open(source, os.O_RDONLY)
    builtin_transfers.copy(file, aside)


def note_unfinished(folder: AttemptFolder, path: bytes) -> None:
    """Record a file outside of BASE that is about to be written.

    It is removed even if the attempt is killed meanwhile.
    """
    write(folder.file(b"unfinished_files"), path)


def clear_unfinished(folder: AttemptFolder) -> None:
    """Remove the recorded file if possible."""
    notes = folder.file(b"unfinished_files")
    try:
        path = read(notes)
    except OSError:
        return
    try:
        if path.startswith(b"/"):
            remove(path)
        remove(notes)
    except OSError:
        pass
