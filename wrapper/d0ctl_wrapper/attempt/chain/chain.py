"""The only place that runs the chain of binaries of an attempt, one after the other."""

import errno
import math
import os
import time
from typing import Any, Dict, List, Tuple

from d0ctl_wrapper.attempt import orders, verdict
from d0ctl_wrapper.attempt.chain import late_outputs
from d0ctl_wrapper.attempt.chain.hooks import Hooks
from d0ctl_wrapper.attempt.chain.resume import Resume
from d0ctl_wrapper.attempt.deliver import outputs
from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.guards import slot
from d0ctl_wrapper.attempt.guards.guards import Guards
from d0ctl_wrapper.attempt.guards.log_rules import Rules
from d0ctl_wrapper.attempt.intervals import Watch, Watcher
from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.run import cores, script
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.command_file import CommandFile
from d0ctl_wrapper.attempt.run.detach import Setting
from d0ctl_wrapper.attempt.run.environment import of_binary
from d0ctl_wrapper.attempt.run.processes import Told, Tree
from d0ctl_wrapper.attempt.run.progress import source
from d0ctl_wrapper.attempt.run.progress_report import Chain, Headway
from d0ctl_wrapper.attempt.run.script import SHELLS, Script, Surroundings
from d0ctl_wrapper.attempt.run.spawn import Command, spawn
from d0ctl_wrapper.attempt.run.startup import Startup
from d0ctl_wrapper.attempt.run.suspend import LOOK, Suspension
from d0ctl_wrapper.attempt.stage import software
from d0ctl_wrapper.attempt.stage.input_list import Arrivals
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.protocol import text
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import remove, to_path, write

Binary = Dict[str, Any]

GRACE = 10.0
"""How many seconds a binary has after TERM that fails while it runs."""

WAITING = "waiting for inputs"
"""Why the clock of a binary that started early stands still."""

NOT_STARTABLE = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC, errno.EPERM)
"""How exec fails when a program is not there, or is none."""


class Run:
    """The chain of one attempt under way."""

    def __init__(self, setting: Setting, launch: Launch, tree: Tree, report: Report) -> None:
        self.setting = setting
        self.launch = launch
        self.tree = tree
        self.report = report
        self.folder = setting.paths.attempt(launch["attempt"])
        self.inputs = {entry["name"] for entry in launch["inputs"]}
        self.arrivals = Arrivals(self.folder, launch, self.inputs, tree.check)
        self.progress_file = self.folder.file(b"progress")
        self.command = CommandFile(self.folder)
        self.suspension: "Suspension | None" = None
        self.has_run = False
        """Whether any binary was begun; in an attempt that only stores outputs none is."""
        self.is_saving = False
        """Whether the outputs of an attempt that was ended early are being kept."""
        self.latest = math.inf
        """Until when files may be read, by the monotonic clock."""
        self.startup: "Startup | None" = None
        self.guards = Guards(self.folder, launch, tree, report)
        self._environment = of_binary(setting.environment, self.folder, launch)
        self._software: "List[bytes | None]" = []
        self._is_open = False
        self.resume = Resume(self.folder, launch, setting.boot_id, report, Digests(self.heed))
        self.around = Surroundings(
            self.folder, setting.umask, tree, self._environment, self._watch_script
        )
        self.hooks = Hooks(self.around, launch, report)

    def run(self) -> None:
        """Run all binaries; raise Failed or Told when the chain ends with one of them."""
        done = self.resume.begin()
        left = self.launch["binaries"][done:]
        if left and self.launch["delivers"]:
            self._take_slot()
        unused: "List[bytes | None]" = [None] * done
        self._software = unused + software.provide(self.folder.node, left, self.tree.check)
        if left and self.launch["startup"] is not None:
            self.startup = Startup(self.around, self.launch["startup"])
        try:
            self._run_rest(list(enumerate(left, done + 1)))
        except Failed:
            if self.startup is not None:
                self.startup.dismiss()
            raise
        if left:
            self.arrivals.check_closed()

    def _take_slot(self) -> None:
        """Wait for processors after all: the outputs that were to be delivered are not whole."""
        self.report.state("staging-in", "its outputs are not whole; it waits for a free cpu")
        slot.wait(self.folder, self.tree.answer)
        self.report.state("running", "its outputs are made again")

    def _run_rest(self, rest: "List[Tuple[int, Binary]]") -> None:
        """Run the binaries that are not done, within the startup script if there is one."""
        if self.startup is not None:
            self.startup.begin(self._be_nice)
        for number, binary in rest:
            self.has_run = True
            self._run_binary(number, binary)
        if self.startup is not None:
            self.startup.finish()

    def heed(self) -> None:
        """Obey orders between two pieces of a file: answer, stand still, or raise Told."""
        self._check()
        if orders.pause_asked(self.folder) is None:
            return
        self.report.state("suspended", "paused on request, while its files are read")
        while orders.pause_asked(self.folder) is not None:
            self.tree.rest(LOOK)
        self.report.state("running", "it goes on")

    def _check(self) -> None:
        """Raise Told when the attempt is to end; not again for an end that keeps its outputs."""
        if time.monotonic() > self.latest:
            raise Told
        try:
            self.tree.check()
        except Told:
            kill = orders.kill_asked(self.folder)
            if not (self.is_saving and kill is not None and kill.partial):
                raise

    def note_end(self) -> None:
        """Record how a binary ended that was under way when the chain was ended."""
        if self._is_open:
            self._note()

    def _run_binary(self, number: int, binary: Binary) -> None:
        """Run one binary between its hooks, and verify it."""
        self.tree.check()
        self.report.begin(number)
        remove(self.progress_file)
        self.hooks.before(number, binary)
        who = "binary %d (%s)" % (number, text.one_line(binary["name"]))
        try:
            self._execute(number, binary, who)
            self._verify(number, binary, who)
        except Failed as failed:
            self.hooks.after(number, binary, failed)
            raise
        self.hooks.after(number, binary, None)
        self.resume.add(number, binary)

    def _execute(self, number: int, binary: Binary, who: str) -> None:
        """Run one binary to its end; raise Failed unless it ended well."""
        rules = (
            Rules(who, binary["log_rules"], self.folder.logs(b"%d" % number))
            if binary["log_rules"]
            else None
        )
        pid = self._start(number, binary, who)
        self._is_open = True
        try:
            self._wait(pid, number, binary, who, rules)
            code, signal_number = self._note()
            self._see_to_cores(number, signal_number)
            self.guards.judge(who, signal_number)
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
            raise verdict.with_disk(failed, self.folder.work)
        if rules is not None:
            rules.require()

    def _wait(self, pid: int, number: int, binary: Binary, who: str, rules: "Rules | None") -> None:
        """Wait for the end of a binary; one that fails while it runs has its record, too."""
        try:
            watch = lambda: self._watch(number, binary, who, rules)  # noqa: E731
            if self.startup is None:
                self.tree.wait(pid, watch)
            else:
                self.tree.wait(pid, watch, self.startup.answer)
                self.startup.check(who)
        except Failed:
            self.tree.end(lambda: GRACE)
            self._note()
            raise

    def _verify(self, number: int, binary: Binary, who: str) -> None:
        """Raise Failed unless a binary that ended well has done what it was to do."""
        late_outputs.settle(self.folder.work, self.launch, binary)
        outputs.check(self.folder.work, binary["outputs"], self.inputs)
        outputs.verify(self.folder.work, binary["outputs"], self.inputs, self.resume.digests)
        self.resume.judge_events(number, who)
        if binary["check"] is not None:
            name, shell = b"%d.check" % number, binary["shell"] or "bash"
            of = "the check of %s" % who
            check = Script(
                name, of, "verification", binary["check"], shell, binary["check_timeout"]
            )
            script.run(self.around, check, {})

    def _see_to_cores(self, number: int, signal_number: "int | None") -> None:
        """Keep or remove the cores of a binary that a signal has ended."""
        status = self.tree.status or 0
        if signal_number is not None or os.WCOREDUMP(status):
            for said in cores.collect(self.folder, self.launch, number, os.WCOREDUMP(status)):
                self.report.remark(said)

    def _watch(self, number: int, binary: Binary, who: str, rules: "Rules | None") -> Watch:
        """Make what looks at a binary that has just been started."""
        clock = Clock()
        if self.arrivals.is_open:
            clock.stop(WAITING)
        self.suspension = Suspension(self.tree, self.command, clock, self.report.state)
        logs = self.folder.logs(b"%d" % number)
        progress = source(binary["progress"], self.progress_file, logs, self.folder.work)
        chain = Chain(self.launch["binaries"])
        pace = Clock() if self.arrivals.is_open else clock
        headway = Headway(number, chain, progress, pace, self._tell_progress)
        self.report.present = headway.present
        guards = self.guards.over(who, binary, logs, clock, headway, self.suspension)
        by_rules = [rules.look] if rules is not None else []
        arrivals = [lambda: self._take_arrivals(clock)] if self.arrivals.is_open else []
        return Watch([headway.look, *arrivals, *by_rules, *guards], self._obey)

    def _take_arrivals(self, clock: Clock) -> float:
        """Take inputs that have come; a binary that waits for others has not run meanwhile."""
        delay = self.arrivals.look()
        if not self.arrivals.is_open:
            clock.go_on(WAITING)
        return delay

    def _watch_script(self, clock: Clock, watchers: "List[Watcher]") -> Watch:
        """Make what looks at a script that goes with a binary; it can be paused like one."""
        self.suspension = Suspension(self.tree, self.command, clock, self.report.state)
        return Watch(watchers, self._obey)

    def watch_transfer(self, clock: Clock, watchers: "List[Watcher]") -> Watch:
        """Make what looks at a process that carries a file; a pause stops it at once."""
        self.suspension = Suspension(self.tree, self.command, clock, self.report.state)
        return Watch(watchers, lambda: self._stand_or_go(0.0))

    def _obey(self) -> "float | None":
        """Do what the control host has ordered for the binary under way."""
        self.arrivals.take()
        return self._stand_or_go()

    def _stand_or_go(self, most: float = math.inf) -> "float | None":
        """Pause or go on as ordered; there are at most `most` seconds to pause by itself."""
        assert self.suspension is not None
        grace = orders.pause_asked(self.folder)
        if grace is None:
            self.suspension.release("order")
        else:
            self.suspension.want("order", "paused on request", min(grace, most))
        return self.suspension.proceed()

    def _tell_progress(self, fields: "Dict[str, Any]") -> None:
        usage = self.tree.usage()
        self.report.progress(fields, usage.cpu, usage.rss)

    def _start(self, number: int, binary: Binary, who: str) -> int:
        try:
            command = self._command(number, binary)
            if self.startup is not None:
                return self.startup.run(number, command, self._environment)
            os.umask(self.setting.umask)
            pid = spawn(command)
        except OSError as error:
            reason = "software-missing" if error.errno in NOT_STARTABLE else "launch-failed"
            reason = "disk-full" if error.errno in FULL else reason
            program = text.one_line(binary["argv"][0] if binary["argv"] else "the shell")
            detail = "%s cannot be started: %s: %s" % (who, program, error.strerror)
            raise Failed(reason, detail)
        finally:
            os.umask(0o077)
        self._be_nice(pid)
        return pid

    def _be_nice(self, pid: int) -> None:
        """Put a binary, and what it has started already, below the priority of its wrapper."""
        level = min(19, os.getpriority(os.PRIO_PROCESS, 0) + int(self.launch["nice"]))
        try:
            os.setpriority(os.PRIO_PGRP, pid, level)
        except OSError:
            pass

    def _command(self, number: int, binary: Binary) -> Command:
        """Write down what a binary needs, and give the command that runs it."""
        here = self.folder.path
        self.arrivals.begin(number, binary)
        argv = [to_path(word) for word in binary["argv"] or ()]
        if binary["script"] is not None:
            script = here + b"/%d.sh" % number
            write(script, to_path(binary["script"]))
            argv = [*SHELLS[binary["shell"] or "bash"], script]
        out, err = self.folder.logs(b"%d" % number)
        environment = software.add(self._software[number - 1], self._environment)
        environment = {**environment, **self.resume.prepare(number, binary)}
        return Command(argv, environment, out, err)

    def _note(self) -> "tuple[int | None, int | None]":
        """Record how the binary ended, and give its exit code and signal."""
        self._is_open = False
        code, number = verdict.decode(self.tree.status or 0)
        self.report.note(code, number, self.tree.cpu, self.tree.rss, self.guards.end())
        return code, number
