"""The chain of binaries of an attempt, run one after another."""

import os
import signal
from typing import Any, Dict, List, Tuple

from d0ctl_wrapper import merge_types
from d0ctl_wrapper.attempt import orders, verdict
from d0ctl_wrapper.attempt.chain import late_outputs
from d0ctl_wrapper.attempt.chain.hooks import Hooks
from d0ctl_wrapper.attempt.chain.interruptions import Interruptions
from d0ctl_wrapper.attempt.chain.resumption import Resumption
from d0ctl_wrapper.attempt.deliver import outputs, unexpected
from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.guards import cpu_request
from d0ctl_wrapper.attempt.guards.guards import Guards
from d0ctl_wrapper.attempt.guards.log_rules import Rules
from d0ctl_wrapper.attempt.intervals import Watch
from d0ctl_wrapper.attempt.reporter import Reporter
from d0ctl_wrapper.attempt.run import cores, script
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.attempt.run.environment import of_binary
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.attempt.run.progress import source
from d0ctl_wrapper.attempt.run.progress_report import ChainRuntimes, ProgressReport
from d0ctl_wrapper.attempt.run.script import SHELLS, Script, ScriptContext
from d0ctl_wrapper.attempt.run.spawn import Command, be_nice, spawn
from d0ctl_wrapper.attempt.run.startup import Startup
from d0ctl_wrapper.attempt.slot import Slot
from d0ctl_wrapper.attempt.stage import software
from d0ctl_wrapper.attempt.stage.input_list import InputList
from d0ctl_wrapper.attempt.verdict import Failed, MissingOutput
from d0ctl_wrapper.protocol import text
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import remove, to_path, write

Binary = Dict[str, Any]

GRACE_S = 10.0
"""The seconds from TERM to KILL for a binary that fails while it runs."""

SHUTDOWN_AFTER_S = 1.0
"""How long after the binary the wrapper may get its SIGTERM, if the node ends both."""

WATCH_AFTER_S = 0.05
"""The seconds after which the watch over a binary begins; many end before."""

WAITING = "waiting for inputs"
"""The reason for which the clock of a binary that started early is stopped."""


class Chain:
    """The running chain of one attempt."""

    def __init__(
        self,
        context: RelayContext,
        launch: Launch,
        tree: ProcessTree,
        report: Reporter,
        slot: Slot,
    ) -> None:
        self.context = context
        self.launch = launch
        self.tree = tree
        self.report = report
        self.folder = context.paths.attempt(launch["attempt"])
        self.inputs = {entry["name"]: entry for entry in launch["inputs"]}
        self.input_list = InputList(self.folder, launch, slot, self.inputs, tree.check)
        self.progress_file = self.folder.file(b"progress")
        self.interruptions = Interruptions(self.folder, tree, report, self.input_list)
        self.has_run = False
        """Whether any binary was started; none is in an attempt that only delivers outputs."""
        self.startup: "Startup | None" = None
        self.guards = Guards(self.folder, launch, tree, report, self.inputs)
        self._slot = slot
        self._environment = of_binary(context.environment, self.folder, launch)
        self._software: "List[bytes | None]" = []
        self._is_open = False
        digests = Digests(self.interruptions.pause_point)
        self.resume = Resumption(self.folder, launch, context.boot_id, report, digests)
        self.script_context = ScriptContext(
            self.folder, context.umask, tree, self._environment, self.interruptions.watch_script
        )
        self.hooks = Hooks(self.script_context, launch, report)

    def run(self) -> None:
        """Run all binaries; raise Failed or Terminated when the chain ends early."""
        done = self.resume.begin()
        left = self.launch["binaries"][done:]
        if left and self.launch["delivers"]:
            self._wait_for_cpus()
        unused: "List[bytes | None]" = [None] * done
        self._software = unused + software.provide(self.folder.node, left, self.tree.check)
        if left and self.launch["startup"] is not None:
            self.startup = Startup(self.script_context, self.launch["startup"])
        try:
            self._run_rest(list(enumerate(left, done + 1)))
        except Failed as failed:
            if self.startup is not None:
                self.startup.dismiss()
            if failed.reason == "software-missing":
                for remark in software.distrust(self.folder.node, left, self.tree.check):
                    self.report.remark(remark)
            raise
        if left:
            self.input_list.check_closed()

    def _wait_for_cpus(self) -> None:
        """Wait for CPUs, although only a delivery was planned: the outputs are not whole."""
        self.report.state("staging-in", "its outputs are incomplete; waiting for free CPUs")
        cpu_request.wait(self.folder, self.tree.on_status_request)
        self.report.begin_run("running its binaries again")

    def _run_rest(self, rest: "List[Tuple[int, Binary]]") -> None:
        """Run the remaining binaries, within the startup script if there is one."""
        if self.startup is not None:
            self.startup.begin(self.launch["nice"])
        for number, binary in rest:
            self.has_run = True
            self._run_binary(number, binary)
        if self.startup is not None:
            self.startup.finish()

    def record_end(self) -> None:
        """Record the end of a binary that was running when the chain was ended."""
        if self._is_open:
            self._record_end()

    def _run_binary(self, number: int, binary: Binary) -> None:
        """Run one binary between its hooks, and verify it."""
        self.tree.check()
        self.report.begin(number)
        remove(self.progress_file)
        self.hooks.before(number, binary)
        who = "binary %d (%s)" % (number, text.one_line(binary["name"]))
        try:
            self._execute(number, binary, who)
            self.interruptions.has_computed = number == len(self.launch["binaries"])
            self._verify(number, binary, who)
        except Failed as failed:
            self.hooks.after(number, binary, failed)
            raise
        self.hooks.after(number, binary, None)
        self.resume.add(number, binary)

    def _execute(self, number: int, binary: Binary, who: str) -> None:
        """Run one binary to its end; raise Failed unless it succeeded."""
        rules = (
            Rules(who, binary["log_rules"], self.folder.logs(b"%d" % number))
            if binary["log_rules"]
            else None
        )
        # A binary that answers the command left by the last one would answer once, and too early.
        self.interruptions.command.clear()
        pid = self._start(number, binary, who)
        self._is_open = True
        try:
            self._wait(pid, number, binary, who, rules)
            code, signal_number = self._record_end()
            self._collect_cores(number, signal_number)
            self.guards.judge(who, signal_number)
            if signal_number == signal.SIGTERM:
                self.tree.rest(SHUTDOWN_AFTER_S)
            if rules is not None:
                rules.finish(self.tree.check)
        finally:
            for remark in rules.remarks() if rules is not None else ():
                self.report.remark(remark)
        err = self.folder.file(b"%d.err" % number)
        by_shell = binary["script"] is not None or self.startup is not None
        try:
            verdict.judge(who, code, signal_number, by_shell, err)
        except Failed as failed:
            ran_s = self.report.now() - self.report.binary_started
            raise verdict.with_disk(failed, self.folder, err, ran_s)
        if rules is not None:
            rules.require()

    def _wait(self, pid: int, number: int, binary: Binary, who: str, rules: "Rules | None") -> None:
        """Wait for the end of a binary; record one that fails while it runs, too."""
        clock = Clock()
        if self.input_list.is_open:
            clock.stop(WAITING)
        self.interruptions.suspension = self.report.current = None
        self.guards.begin(clock, binary)
        try:
            watch = lambda: self._watch(number, binary, who, rules, clock)  # noqa: E731
            if self.startup is None:
                is_urgent = self.input_list.is_open or orders.pause_asked(self.folder) is not None
                self.tree.wait(pid, watch, watch_after=0.0 if is_urgent else WATCH_AFTER_S)
            else:
                self.tree.wait(pid, watch, self.startup.answer)
                self.startup.check(who)
        except Failed:
            self.tree.end(lambda: GRACE_S)
            self._record_end()
            raise

    def _verify(self, number: int, binary: Binary, who: str) -> None:
        """Raise Failed unless a binary without an error has made what it declares."""
        try:
            late_outputs.settle(self.folder.work, self.launch, binary)
            outputs.check(self.folder.work, binary["outputs"], self.inputs)
        except MissingOutput as missing:
            known = late_outputs.known(self.launch)
            made = unexpected.sentence(self.folder.work, missing.name, known)
            raise MissingOutput(missing.name, "%s, %s" % (missing.detail, made))
        outputs.verify(self.folder.work, binary["outputs"], self.inputs, self.resume.digests)
        self.resume.judge_events(number, who)
        if binary["check"] is not None:
            name, shell = b"%d.check" % number, binary["shell"] or "bash"
            of = "the check of %s" % who
            check = Script(
                name, of, "verification", binary["check"], shell, binary["check_timeout"]
            )
            script.run(self.script_context, check, {})

    def _collect_cores(self, number: int, signal_number: "int | None") -> None:
        """Keep or remove the cores of a binary that was ended by a signal."""
        status = self.tree.status or 0
        if signal_number is not None or os.WCOREDUMP(status):
            for remark in cores.collect(self.folder, self.launch, number, os.WCOREDUMP(status)):
                self.report.remark(remark)

    def _watch(
        self, number: int, binary: Binary, who: str, rules: "Rules | None", clock: Clock
    ) -> Watch:
        """Return the watch over a binary that has been started, by its running time."""
        suspension = self.interruptions.begin(clock)
        logs = self.folder.logs(b"%d" % number)
        progress = source(binary["progress"], self.progress_file, logs, self.folder.work)
        chain = ChainRuntimes(self.launch["binaries"])
        progress_clock = Clock() if self.input_list.is_open else clock
        progress_report = ProgressReport(
            number, chain, progress, progress_clock, self._send_progress
        )
        self.report.current = progress_report
        guards = self.guards.over(who, binary, logs, clock, progress_report, suspension)
        by_rules = [rules.poll] if rules is not None else []
        by_inputs = [lambda: self._take_inputs(clock)] if self.input_list.is_open else []
        return Watch(
            [progress_report.poll, *by_inputs, *by_rules, *guards], self.interruptions.obey
        )

    def _take_inputs(self, clock: Clock) -> float:
        """Accept delivered inputs; while a binary waits for more, its clock is stopped."""
        delay = self.input_list.poll()
        if not self.input_list.is_open:
            clock.resume(WAITING)
        return delay

    def _send_progress(self, fields: "Dict[str, Any]") -> None:
        usage = self.tree.usage()
        self.report.progress(fields, usage.cpu, usage.rss)

    def _start(self, number: int, binary: Binary, who: str) -> int:
        try:
            command = self._command(number, binary)
            if self.startup is not None:
                return self.startup.run(number, command, self._environment)
            os.umask(self.context.umask)
            pid = spawn(command)
        except OSError as error:
            program = text.one_line(binary["argv"][0] if binary["argv"] else "the shell")
            raise verdict.not_started(who, program, error)
        finally:
            os.umask(0o077)
        be_nice(pid, self.launch["nice"])
        return pid

    def _command(self, number: int, binary: Binary) -> Command:
        """Write the files that a binary needs, and return its command."""
        here = self.folder.path
        self.input_list.begin(number, binary)
        outputs.make_folders(self.folder.work, binary["outputs"])
        argv = [to_path(word) for word in binary["argv"] or ()]
        if argv[:1] == [merge_types.PROGRAM.encode()]:
            argv[:1] = merge_types.command()
        if binary["script"] is not None:
            script = here + b"/%d.sh" % number
            write(script, to_path(binary["script"]))
            argv = [*SHELLS[binary["shell"] or "bash"], script]
        out, err = logs = self.folder.logs(b"%d" % number)
        self._slot.make_logs(logs)
        environment = software.add(self._software[number - 1], self._environment)
        environment = {**environment, **self.resume.prepare(number, binary)}
        stdin = binary["stdin"]
        source = None if stdin is None else os.path.join(self.folder.work, to_path(stdin))
        return Command(argv, environment, out, err, source)

    def _record_end(self) -> "tuple[int | None, int | None]":
        """Record the end of the binary, and return its exit code and signal."""
        self._is_open = False
        code, number = verdict.decode(self.tree.status or 0)
        gap, disk = self.guards.end()
        self.report.record_end(code, number, self.tree.cpu, self.tree.rss, gap, disk)
        return code, number
