"""The only place that runs the chain of binaries of an attempt, one after the other."""

import errno
import os
from typing import Any, Dict, List

from d0ctl_wrapper import words
from d0ctl_wrapper.attempt import orders, outputs, tools, verdict
from d0ctl_wrapper.attempt.clock import Clock
from d0ctl_wrapper.attempt.command import CommandFile
from d0ctl_wrapper.attempt.detach import Setting
from d0ctl_wrapper.attempt.environment import of_binary
from d0ctl_wrapper.attempt.guards import Guards
from d0ctl_wrapper.attempt.headway import Chain, Headway
from d0ctl_wrapper.attempt.progress import source
from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.spawn import Command, spawn
from d0ctl_wrapper.attempt.suspend import Suspension
from d0ctl_wrapper.attempt.tree import Tree
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.attempt.watch import Watch
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.launch import Launch
from d0ctl_wrapper.paths import remove, to_path, write

Binary = Dict[str, Any]

SHELLS = {"bash": [b"bash", b"-eo", b"pipefail"], "sh": [b"sh", b"-e"]}

GUARD_GRACE = 10.0
"""How many seconds a binary has after TERM that a guard ends."""

NOT_STARTABLE = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC, errno.EPERM)
"""How exec fails when a program is not there, or is none."""


class Run:
    """The chain of one attempt under way."""

    def __init__(self, setting: Setting, launch: Launch, tree: Tree, report: Report) -> None:
        self.setting = setting
        self.places = setting.places
        self.launch = launch
        self.tree = tree
        self.report = report
        self.attempt: int = launch["attempt"]
        self.work = self.places.attempt(self.attempt, b"work")
        self.inputs = {entry["name"] for entry in launch["inputs"]}
        self.progress_file = self.places.attempt(self.attempt, b"progress")
        self.command = CommandFile(self.places, self.attempt)
        self.suspension: "Suspension | None" = None
        self.guards = Guards(self.places, launch, tree, report)
        self._environment = of_binary(setting.environment, self.places, launch)
        self._software: "List[bytes | None]" = []

    def run(self) -> None:
        """Run all binaries; raise Failed or Told when the chain ends with one of them."""
        binaries = self.launch["binaries"]
        self._software = tools.provide(self.places, binaries, self.tree.check)
        for number, binary in enumerate(binaries, 1):
            self._run_binary(number, binary)

    def note_end(self) -> None:
        """Record how a binary ended that was under way when the chain was ended."""
        if self.report.is_open():
            self._note(self.launch["binaries"][len(self.report.records)])

    def _run_binary(self, number: int, binary: Binary) -> None:
        self.tree.check()
        self.report.begin(number)
        remove(self.progress_file)
        who = "binary %d (%s)" % (number, words.one_line(binary["name"]))
        pid = self._start(number, binary, who)
        self._wait(pid, number, binary, who)
        code, signal_number = self._note(binary)
        self.guards.judge(who, signal_number)
        err = self.places.attempt(self.attempt, b"%d.err" % number)
        verdict.judge(who, code, signal_number, binary["script"] is not None, err)
        outputs.check(self.work, binary["outputs"], self.inputs)

    def _wait(self, pid: int, number: int, binary: Binary, who: str) -> None:
        """Wait for the end of a binary; one that a guard ends has its record, too."""
        try:
            self.tree.wait(pid, lambda: self._watch(number, binary, who))
        except Failed:
            self.tree.end(lambda: GUARD_GRACE)
            self._note(binary)
            raise

    def _watch(self, number: int, binary: Binary, who: str) -> Watch:
        """Make what looks at a binary that has just been started."""
        clock = Clock()
        self.suspension = Suspension(self.tree, self.command, clock, self.report.state)
        logs = self._logs(number)
        progress = source(binary["progress"], self.progress_file, logs, self.work)
        chain = Chain(self.launch["binaries"])
        headway = Headway(number, chain, progress, clock, self._tell_progress)
        self.report.present = headway.present
        guards = self.guards.over(who, binary, logs, clock, headway, self.suspension)
        return Watch([headway.look, *guards], self._obey)

    def _obey(self) -> "float | None":
        """Do what the control host has ordered for the binary under way."""
        assert self.suspension is not None
        grace = orders.pause_asked(self.places, self.attempt)
        if grace is None:
            self.suspension.release("order")
        else:
            self.suspension.want("order", "paused on request", grace)
        return self.suspension.proceed()

    def _tell_progress(self, fields: "Dict[str, Any]") -> None:
        usage = self.tree.usage()
        self.report.progress(fields, usage.cpu, usage.rss)

    def _logs(self, number: int) -> "List[bytes]":
        return [
            self.places.attempt(self.attempt, b"%d.%s" % (number, end)) for end in (b"out", b"err")
        ]

    def _start(self, number: int, binary: Binary, who: str) -> int:
        try:
            command = self._command(number, binary)
            os.umask(self.setting.umask)
            pid = spawn(command)
        except OSError as error:
            reason = "software-missing" if error.errno in NOT_STARTABLE else "launch-failed"
            reason = "disk-full" if error.errno in FULL else reason
            program = words.one_line(binary["argv"][0] if binary["argv"] else "the shell")
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
        here = self.places.attempt(self.attempt)
        names = "".join(name + "\n" for name in binary["inputs"])
        write(here + b"/inputs", to_path(names))
        argv = [to_path(word) for word in binary["argv"] or ()]
        if binary["script"] is not None:
            script = here + b"/%d.sh" % number
            write(script, to_path(binary["script"]))
            argv = [*SHELLS[binary["shell"] or "bash"], script]
        out, err = self._logs(number)
        environment = tools.add(self._software[number - 1], self._environment)
        return Command(argv, environment, out, err)

    def _note(self, binary: Binary) -> "tuple[int | None, int | None]":
        """Record how the binary ended, and give its exit code and signal."""
        code, number = verdict.decode(self.tree.status or 0, binary["script"] is not None)
        self.report.note(code, number, self.tree.cpu, self.tree.rss, self.guards.end())
        return code, number
