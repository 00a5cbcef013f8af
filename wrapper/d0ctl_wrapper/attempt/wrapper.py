"""The wrapper of one attempt, from its start message to its end message."""

import itertools
import os
import sys
import time
from typing import Any, Callable, Dict, Iterator, List

from d0ctl_wrapper.attempt import ending, orders, status_file
from d0ctl_wrapper.attempt.chain import late_outputs
from d0ctl_wrapper.attempt.chain.chain import Chain
from d0ctl_wrapper.attempt.deliver import outputs, unexpected
from d0ctl_wrapper.attempt.deliver.lease_wait import LeaseWait
from d0ctl_wrapper.attempt.deliver.stageout import StageOut
from d0ctl_wrapper.attempt.guards import cpu_request
from d0ctl_wrapper.attempt.reporter import Reporter, Tell
from d0ctl_wrapper.attempt.run import environment
from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.attempt.run.processes import ProcessTree, Terminated
from d0ctl_wrapper.attempt.slot import Slot
from d0ctl_wrapper.attempt.stage import acquire, inputs
from d0ctl_wrapper.attempt.stage.transfer_runner import TransferOrders, TransferRunner
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.lease import ELSEWHERE
from d0ctl_wrapper.protocol.paths import removal

NOT_LEFT = ("disk-full", "platform-failure")
"""The reasons of failures after which no outputs are left for a person to accept."""

SHUTDOWN_S = 5.0
"""The seconds for reading files for the next attempt while the node shuts down."""

LEFTOVER_GRACE_S = 2.0
"""The seconds from TERM to KILL for processes that outlive their binary."""

MOST_REMOVED = 1000
"""The most files that are removed before the end of an attempt is reported."""


class Wrapper:
    """The wrapper of one attempt."""

    def __init__(
        self, context: RelayContext, launch: Launch, send_message: Tell, slot: Slot
    ) -> None:
        self.context = context
        self.launch = launch
        self.folder = context.paths.attempt(launch["attempt"])
        self.slot = slot
        self.is_simple = _is_simple(launch)
        self.acquired: "acquire.Acquired | None" = None
        self.report = Reporter(self.folder, launch, send_message)
        self.tree = ProcessTree(self.folder, self._write_status, self.report.send_held)
        self.chain = Chain(context, launch, self.tree, self.report, slot)
        self.inputs = self.chain.inputs
        lease = launch["lease"]
        self.lease = LeaseWait(self.folder.node, context.boot_id, lease, self.tree, self.report)
        self.outputs: "List[Dict[str, Any]]" = []
        self.stored: "List[Dict[str, str]]" = []
        self.is_plain = False
        """Whether the attempt succeeded without a signal, and without any special work."""
        self.leftovers: "Iterator[None]" = iter(())
        """The removal of files that are too many to remove before the end is reported."""

    def run(self) -> "tuple[bytes, bytes]":
        """Do the work, clean up, and record the end message; return its name and text."""
        phase = "staging-in" if self.launch["ahead"] else "running"
        is_quick = self.is_simple and not acquire.is_needed(self.launch)
        self.report.start(self.context.boot_id, phase, is_held=is_quick)
        result = self._work()
        self.is_plain = (
            result["outcome"] == "successful"
            and not self.tree.was_signaled
            and self.is_simple
            and not (self.acquired is not None and self.acquired.has_made)
        )
        inputs.protect(self.inputs.values())
        os.chdir("/")
        self._clean_up(result)
        return self.report.finish(result)

    def _clean_up(self, result: "Dict[str, Any]") -> None:
        """Hand the working directory on if it is as new, and begin to remove other files."""
        unneeded = [self.folder.work]
        if not (result.get("outputs") or result.get("retained")):
            unneeded.append(self.folder.cache)
        if self.is_plain and self.tree.is_reaper and len(self.launch["inputs"]) <= MOST_REMOVED:
            inputs.unlink(self.folder.work, self.launch["inputs"])
            if self.slot.keep_folder(self.folder.work):
                unneeded.remove(self.folder.work)
            for number in range(1, len(self.launch["binaries"]) + 1):
                for log in self.folder.logs(b"%d" % number):
                    self.slot.keep_log(log)
        if not self.is_plain:
            unneeded += [self.folder.file(name) for name in (b"staging", b"packed")]
        self.leftovers = _removal(unneeded)
        removed = sum(1 for _ in itertools.islice(self.leftovers, MOST_REMOVED))
        self.is_plain = self.is_plain and removed < MOST_REMOVED
        if self.is_plain and self.acquired is not None:
            self.acquired.release()

    def remove_leftovers(self) -> None:
        """Remove the other files; after the report of the end, since this may take minutes."""
        self.slot.release_logs()
        for _ in self.leftovers:
            pass

    def _work(self) -> "Dict[str, Any]":
        """Do all the work, end all processes, and return the fields of the end message."""
        try:
            return self._try_to_work()
        except Terminated:
            return self._end_early()

    def _try_to_work(self) -> "Dict[str, Any]":
        """Do all the work; raise Terminated if the attempt has to end, even at its end."""
        try:
            self._prepare()
            self._run_chain()
            self.tree.end(lambda: LEFTOVER_GRACE_S)
            self._check_inputs()
            for remark in unexpected.not_kept(self.folder.work, self.launch, self.inputs):
                self.report.remark(remark)
            self.outputs = self._keep(self.launch["keep"])
            return {"outcome": "successful", **self._done(), **self._deliver()}
        except Failed as failed:
            self.tree.end(lambda: LEFTOVER_GRACE_S)
            return self._failed(failed)

    def _write_status(self) -> None:
        status_file.write(self.report, self.tree)

    def _wait_for_cpus(self) -> None:
        """Wait for CPUs after staging in; not to deliver only, or with an open input list."""
        if self.launch["ahead"]:
            if not (self.launch["early"] or self.launch["delivers"]):
                self.report.state("staging-in", "its inputs are staged; waiting for free CPUs")
                cpu_request.wait(self.folder, self._write_status)
            self.report.begin_run("its inputs are staged")

    def _prepare(self) -> None:
        """Stage in the inputs and wait for CPUs."""
        self.acquired = inputs.prepare(
            self.folder, self.launch, self.slot, self._runner, self.chain.interruptions.pause_point
        )
        if self.acquired is not None:
            self.report.extras["staged"] = self.acquired.staged
        self._wait_for_cpus()

    def _run_chain(self) -> None:
        """Run the remaining binaries, and the hooks at the end in every case."""
        try:
            self.chain.run()
        except Failed as failed:
            self.tree.end(lambda: LEFTOVER_GRACE_S)
            if self.chain.has_run:
                self.chain.hooks.end(failed)
            raise
        if self.chain.has_run:
            self.chain.hooks.end(None)

    def _check_inputs(self) -> None:
        """Raise Failed if a shared input was changed, since the outputs are not reliable then."""
        entries = [*self.launch["inputs"], *self.chain.input_list.linked]
        for remark in inputs.check_unchanged(self.folder.work, entries):
            self.report.remark(remark)

    def _done(self) -> "Dict[str, Any]":
        return {**self.chain.resume.began, **self.chain.resume.done_events()}

    def _failed(self, failed: Failed) -> "Dict[str, Any]":
        """Retain work for the next attempt, and return the fields of the end message."""
        resume = self.chain.resume
        self.chain.interruptions.has_computed = True
        if self.outputs:
            work = resume.whole(self.outputs, self.stored)
        else:
            work = resume.salvage(self.launch["leave"] and failed.reason not in NOT_LEFT)
        return {**failed.result(), **self._done(), **work}

    def _runner(self, may_go_on: "Callable[[], bool]" = lambda: True) -> TransferRunner:
        log = self.folder.file(b"transfer")
        rules = self.launch["transfer"]
        found = environment.of_binary(self.context.environment, self.folder, self.launch)
        obeyed = TransferOrders(
            self.chain.interruptions.pause_point, self.chain.interruptions.watch_transfer, may_go_on
        )
        return TransferRunner(self.tree, rules, found, log, obeyed)

    def _deliver(self) -> "Dict[str, Any]":
        """Deliver outputs to their locators; return the fields of the end message.

        After a failure they stay for the next attempt, which only delivers the rest.
        """
        if self.launch["deliver"]:
            self.stored = self.report.extras["stored"] = list(self.chain.resume.stored)
            wanted = [
                delivery for delivery in self.launch["deliver"] if delivery not in self.stored
            ]
            self.chain.resume.note_whole(self.outputs)
            runner = self._runner(self.lease.is_held)
            stage_out = StageOut(self.folder, runner, self.lease, self.context.umask)
            try:
                stage_out.deliver(wanted, self.outputs, self.stored)
            except Failed as failed:
                return {**failed.result(), **self.chain.resume.whole(self.outputs, self.stored)}
        return {"outputs": self.outputs}

    def _keep(self, names: "List[str]") -> "List[Dict[str, Any]]":
        self.chain.interruptions.has_computed = True
        try:
            digests = self.chain.resume.digests
            # one that has more to do then keeps its CPUs meanwhile
            wait = self.slot.wait_for_disk if self.is_simple else outputs.at_once
            linked = self.chain.resume.linked
            retained_outputs = outputs.keep(self.folder, names, self.inputs, digests, linked, wait)
            return late_outputs.described(self.launch, retained_outputs)
        except OSError as error:
            reason = "disk-full" if error.errno in FULL else "stage-out"
            raise Failed(reason, "can't keep the outputs: %s" % error.strerror)

    def _end_early(self) -> "Dict[str, Any]":
        """End all processes after a kill, or a shutdown of the node."""
        if orders.kill_asked(self.folder) is None:
            self.tree.end(lambda: LEFTOVER_GRACE_S)
            self.chain.record_end()
            if self.context.boot_id == ELSEWHERE:
                sys.exit("the batch system ends this job, and tells why")
            failed = Failed("platform-failure", "the node ended the wrapper by SIGTERM")
            self.chain.interruptions.read_until = time.monotonic() + SHUTDOWN_S
            try:
                return self._failed(failed)
            except Terminated:
                return {**failed.result(), **self._done()}
        how = ending.end(self.folder, self.tree, self.chain.interruptions.suspension)
        self.chain.record_end()
        detail = "ended on request: %s" % how
        result = {"outcome": "killed", "reason": "killed", "detail": detail, **self._done()}
        kill = orders.kill_asked(self.folder)
        return {**result, **self._partial()} if kill and kill.partial else result

    def _partial(self) -> "Dict[str, Any]":
        """Keep the outputs that exist and are large enough, and note the faults of others."""
        if self.outputs:
            return {"outputs": self.outputs, "partial": True}
        self.chain.interruptions.is_saving = True
        self._find_late()
        wanted = [output for binary in self.launch["binaries"] for output in binary["outputs"]]
        whole = {output["name"] for output in wanted if self._is_whole(output)}
        try:
            self._check_inputs()
            self.outputs = self._keep([name for name in self.launch["keep"] if name in whole])
            delivered = self._deliver()
        except Failed as failed:
            self.report.remark(failed.detail)
            return {}
        except Terminated:
            return {"outputs": self.outputs, "partial": True}
        if delivered.get("detail"):
            self.report.remark(delivered["detail"])
        return {"outputs": self.outputs, "partial": True}

    def _find_late(self) -> None:
        """Find the existing files of late outputs, even if they are too few."""
        for binary in self.launch["binaries"]:
            try:
                late_outputs.settle(self.folder.work, self.launch, binary, is_partial=True)
            except Failed as failed:
                self.report.remark("not kept: %s" % failed.detail)

    def _is_whole(self, output: "Dict[str, Any]") -> bool:
        try:
            outputs.check(self.folder.work, [output], self.inputs)
        except Failed as failed:
            self.report.remark("not kept: %s" % failed.detail)
            return False
        return True


def _is_simple(launch: Launch) -> bool:
    """Return whether an attempt only gets its inputs and runs binaries, without hooks and so on."""
    special = ("early", "ahead", "delivers", "deliver", "hooks", "startup", "previous", "accept")
    return (
        not any(launch[field] for field in special)
        and not any(packing.is_folder(name) for name in launch["keep"])
        and not any(binary["hooks"] or binary["software"] for binary in launch["binaries"])
    )


def _removal(paths: "List[bytes]") -> "Iterator[None]":
    """Remove files and folders as far as possible; yields after each file."""
    for path in paths:
        try:
            yield from removal(path)
        except OSError:
            pass
