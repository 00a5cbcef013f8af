"""The wrapper: it takes one attempt from its start message to its end message."""

import time
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt import answer, ending, orders
from d0ctl_wrapper.attempt.chain import late_outputs
from d0ctl_wrapper.attempt.chain.chain import Run
from d0ctl_wrapper.attempt.deliver import outputs
from d0ctl_wrapper.attempt.deliver.lease_wait import Lease
from d0ctl_wrapper.attempt.deliver.stageout import StageOut
from d0ctl_wrapper.attempt.guards import slot  # fmt: skip
from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.run import environment
from d0ctl_wrapper.attempt.run.detach import Setting
from d0ctl_wrapper.attempt.run.processes import Told, Tree
from d0ctl_wrapper.attempt.stage import acquire, inputs
from d0ctl_wrapper.attempt.stage.carrier import Carrier, Orders
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import remove

NOT_LEFT = ("disk-full", "platform-failure")
"""After failures for these reasons nothing is left for a person to accept."""

SHUTDOWN = 5.0
"""For how many seconds files are read for the next attempt while the node shuts down."""

LEFTOVER_GRACE = 2.0
"""How many seconds processes that outlive their binary have after TERM."""


def run(setting: Setting, launch: Launch) -> None:
    """Be the wrapper of `launch`, from its start message to its end message."""
    Wrapper(setting, launch).run()


class Wrapper:
    """One attempt under way."""

    def __init__(self, setting: Setting, launch: Launch) -> None:
        self.setting = setting
        self.launch = launch
        self.folder = setting.paths.attempt(launch["attempt"])
        self.tree = Tree(self.folder)
        self.report = Report(self.folder, launch)
        self.tree.answer = lambda: answer.give(self.report, self.tree)
        self.chain = Run(setting, launch, self.tree, self.report)
        self.inputs = self.chain.inputs
        lease = launch["lease"]
        self.lease = Lease(self.folder.node, setting.boot_id, lease, self.tree, self.report)
        self.kept: "List[Dict[str, Any]]" = []
        self.stored: "List[Dict[str, str]]" = []

    def run(self) -> None:
        """Do the work, clear up, and tell about it."""
        self.report.start(self.setting.boot_id, "staging-in" if self.launch["ahead"] else "running")
        result = self._work()
        if not (result.get("outputs") or result.get("retained")):
            _drop(self.folder.cache)
        for name in (b"work", b"staging"):
            _drop(self.folder.file(name))
        self.report.finish(result)

    def _work(self) -> "Dict[str, Any]":
        """Do all the work, leave no process, and give what the end message says of it."""
        try:
            return self._try_to_work()
        except Told:
            return self._end_early()

    def _try_to_work(self) -> "Dict[str, Any]":
        """Do all the work; raise Told when the attempt is to end, also while outputs are kept."""
        try:
            self._prepare()
            self._run_chain()
            self.tree.end(lambda: LEFTOVER_GRACE)
            self._judge_inputs()
            self.kept = self._keep(self.launch["keep"])
            return {"outcome": "successful", **self._done(), **self._deliver()}
        except Failed as failed:
            self.tree.end(lambda: LEFTOVER_GRACE)
            return self._failed(failed)

    def _take_slot(self) -> None:
        """Wait for processors, if the inputs were brought without; one that only delivers, or
        whose list is open, goes on."""
        if self.launch["ahead"]:
            if not (self.launch["early"] or self.launch["delivers"]):
                self.report.state("staging-in", "its inputs are there; it waits for a free cpu")
                slot.wait(self.folder, self.tree.answer)
            self.report.state("running", "its inputs are there")

    def _prepare(self) -> None:
        """Have all there that the chain needs."""
        staged = inputs.prepare(self.folder, self.launch, self._carrier, self.chain.heed)
        if acquire.is_needed(self.launch):
            self.report.extras["staged"] = staged
        self._take_slot()

    def _run_chain(self) -> None:
        """Run the binaries that are left, and the hooks at their end however that was."""
        try:
            self.chain.run()
        except Failed as failed:
            self.tree.end(lambda: LEFTOVER_GRACE)
            if self.chain.has_run:
                self.chain.hooks.end(failed)
            raise
        if self.chain.has_run:
            self.chain.hooks.end(None)

    def _judge_inputs(self) -> None:
        """Raise Failed if a shared input was changed; no output of such a run can be trusted."""
        for remark in inputs.judge([*self.launch["inputs"], *self.chain.arrivals.brought]):
            self.report.remark(remark)

    def _done(self) -> "Dict[str, Any]":
        return {**self.chain.resume.told, **self.chain.resume.done_events()}

    def _failed(self, failed: Failed) -> "Dict[str, Any]":
        """Keep what the next attempt can go on with, and give what the end message says."""
        resume = self.chain.resume
        if self.kept:
            kept = resume.whole(self.kept, self.stored)
        else:
            kept = resume.salvage(self.launch["leave"] and failed.reason not in NOT_LEFT)
        return {**failed.result(), **self._done(), **kept}

    def _carrier(self, may_go_on: "Callable[[], bool]" = lambda: True) -> Carrier:
        log = self.folder.file(b"transfer")
        rules = self.launch["transfer"]
        found = environment.of_binary(self.setting.environment, self.folder, self.launch)
        obeyed = Orders(self.chain.heed, self.chain.watch_transfer, may_go_on)
        return Carrier(self.tree, rules, found, log, obeyed)

    def _deliver(self) -> "Dict[str, Any]":
        """Take outputs to where they are wanted; give what the end message says of all.

        When that fails they stay for the next attempt, which only goes on with this.
        """
        if self.launch["deliver"]:
            self.stored = self.report.extras["stored"] = list(self.chain.resume.stored)
            wanted = [one for one in self.launch["deliver"] if one not in self.stored]
            self.chain.resume.note_whole(self.kept)
            carrier = self._carrier(self.lease.is_held)
            umask = self.setting.umask
            way_out = StageOut(self.folder, carrier, self.lease, umask)
            try:
                way_out.deliver(wanted, self.kept, self.stored)
            except Failed as failed:
                kept = self.chain.resume.whole(self.kept, self.stored)
                return {**failed.result(), **kept}
        return {"outputs": self.kept}

    def _keep(self, names: "List[str]") -> "List[Dict[str, Any]]":
        try:
            digests = self.chain.resume.digests
            kept = outputs.keep(
                self.folder, names, self.inputs, digests,
                self.chain.resume.linked,
            )  # fmt: skip
            return late_outputs.told(self.launch, kept)
        except OSError as error:
            reason = "disk-full" if error.errno in FULL else "stage-out"
            raise Failed(reason, "the outputs cannot be kept: %s" % error.strerror)

    def _end_early(self) -> "Dict[str, Any]":
        """End all processes, and tell a kill of ours from a shutdown of the node."""
        if orders.kill_asked(self.folder) is None:
            self.tree.end(lambda: LEFTOVER_GRACE)
            self.chain.note_end()
            failed = Failed("platform-failure", "the node ended the wrapper by SIGTERM")
            self.chain.latest = time.monotonic() + SHUTDOWN
            try:
                return self._failed(failed)
            except Told:
                return {**failed.result(), **self._done()}
        way = ending.end(self.folder, self.tree, self.chain.suspension)
        self.chain.note_end()
        detail = "ended on request: %s" % way
        result = {"outcome": "killed", "reason": "killed", "detail": detail, **self._done()}
        kill = orders.kill_asked(self.folder)
        return {**result, **self._partial()} if kill and kill.partial else result

    def _partial(self) -> "Dict[str, Any]":
        """Keep the outputs that are there and large enough, and note what others lack."""
        if self.kept:
            return {"outputs": self.kept, "partial": True}
        self.chain.is_saving = True
        self._find_late()
        wanted = [output for binary in self.launch["binaries"] for output in binary["outputs"]]
        whole = {output["name"] for output in wanted if self._is_whole(output)}
        try:
            self._judge_inputs()
            self.kept = self._keep([name for name in self.launch["keep"] if name in whole])
            told = self._deliver()
        except Failed as failed:
            self.report.remark(failed.detail)
            return {}
        except Told:
            return {"outputs": self.kept, "partial": True}
        if told.get("detail"):
            self.report.remark(told["detail"])
        return {"outputs": self.kept, "partial": True}

    def _find_late(self) -> None:
        """Find what is there of the outputs without a known name, however few they are."""
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


def _drop(path: bytes) -> None:
    """Remove what is not needed any more; what can't be removed goes with the attempt."""
    try:
        remove(path)
    except OSError:
        pass
