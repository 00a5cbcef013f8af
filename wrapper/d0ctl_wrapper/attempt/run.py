"""The wrapper: it runs the chain of binaries of one attempt, and says how that went."""

import errno
import os
from typing import Any, Dict, List

from d0ctl_wrapper import words
from d0ctl_wrapper.attempt import outputs, tools, verdict
from d0ctl_wrapper.attempt.detach import Setting
from d0ctl_wrapper.attempt.report import Report
from d0ctl_wrapper.attempt.spawn import Command, spawn
from d0ctl_wrapper.attempt.stage import prepare
from d0ctl_wrapper.attempt.tree import Told, Tree
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.launch import Launch
from d0ctl_wrapper.paths import remove, to_path, write

Binary = Dict[str, Any]

LEFTOVER_GRACE = 2.0
"""How many seconds processes that outlive their binary have after TERM."""

DEFAULT_GRACE = 10.0
"""How many seconds an attempt has after TERM, when the disk was too full to note it."""

SHELLS = {"bash": [b"bash", b"-eo", b"pipefail"], "sh": [b"sh", b"-e"]}

NOT_STARTABLE = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC, errno.EPERM)
"""How exec fails when a program is not there, or is none."""


def run(setting: Setting, launch: Launch) -> None:
    """Be the wrapper of `launch`, from its start message to its end message."""
    Wrapper(setting, launch).run()


class Wrapper:
    """One attempt under way."""

    def __init__(self, setting: Setting, launch: Launch) -> None:
        self.setting = setting
        self.places = setting.places
        self.launch = launch
        self.attempt: int = launch["attempt"]
        self.work = self.places.attempt(self.attempt, b"work")
        self.inputs = {entry["name"] for entry in launch["inputs"]}
        self.tree = Tree(self.places, self.attempt)
        self.report = Report(self.places, launch)
        self.software: "List[bytes | None]" = []

    def run(self) -> None:
        """Do the work, clear up, and tell about it."""
        self.report.start(self.setting.boot_id)
        result = self._work()
        if result["outcome"] != "successful":
            _drop(self.places.kept(self.attempt))
        _drop(self.work)
        self.report.finish(result)

    def _work(self) -> "Dict[str, Any]":
        """Do all the work, leave no process, and give what the end message says of it."""
        try:
            prepare(self.places, self.launch)
            binaries = self.launch["binaries"]
            self.software = tools.provide(self.places, binaries, self.tree.check)
            for number, binary in enumerate(binaries, 1):
                self._run_binary(number, binary)
            self.tree.end(lambda: LEFTOVER_GRACE)
            return {"outcome": "successful", "outputs": self._keep()}
        except Failed as failed:
            self.tree.end(lambda: LEFTOVER_GRACE)
            return failed.result()
        except Told:
            return self._end_early()

    def _run_binary(self, number: int, binary: Binary) -> None:
        """Run one binary to its end; raise Failed or Told when the chain ends with it."""
        self.tree.check()
        self.report.begin(number)
        who = "binary %d (%s)" % (number, words.one_line(binary["name"]))
        self.tree.wait(self._start(number, binary, who))
        code, signal_number = self._note(binary)
        err = self.places.attempt(self.attempt, b"%d.err" % number)
        verdict.judge(who, code, signal_number, binary["script"] is not None, err)
        outputs.check(self.work, binary["outputs"], self.inputs)

    def _start(self, number: int, binary: Binary, who: str) -> int:
        try:
            command = self._command(number, binary)
            os.umask(self.setting.umask)
            return spawn(command)
        except OSError as error:
            reason = "software-missing" if error.errno in NOT_STARTABLE else "launch-failed"
            reason = "disk-full" if error.errno in FULL else reason
            program = words.one_line(binary["argv"][0] if binary["argv"] else "the shell")
            detail = "%s cannot be started: %s: %s" % (who, program, error.strerror)
            raise Failed(reason, detail)
        finally:
            os.umask(0o077)

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
        logs = here + b"/%d.out" % number, here + b"/%d.err" % number
        environment = tools.add(self.software[number - 1], self._environment())
        return Command(argv, environment, *logs)

    def _environment(self) -> "Dict[bytes, bytes]":
        """Give the environment of a binary; strays are found by the marks in it."""
        asked = self.launch["environment"].items()
        return {
            **self.setting.environment,
            **{to_path(name): to_path(value) for name, value in asked},
            b"D0CTL_BASE": self.places.base,
            b"D0CTL_ATTEMPT": b"%d" % self.attempt,
            b"D0CTL_PACKAGE": to_path(self.launch["path"]),
            b"D0CTL_INPUTS": self.places.attempt(self.attempt, b"inputs"),
            b"D0CTL_WORK": self.work,
        }

    def _note(self, binary: Binary) -> "tuple[int | None, int | None]":
        """Record how the binary ended, and give its exit code and signal."""
        code, number = verdict.decode(self.tree.status or 0, binary["script"] is not None)
        self.report.note(code, number, self.tree.cpu, self.tree.rss)
        return code, number

    def _keep(self) -> "List[Dict[str, Any]]":
        try:
            names = self.launch["keep"]
            return outputs.keep(self.places, self.attempt, self.work, names, self.inputs)
        except OSError as error:
            reason = "disk-full" if error.errno in FULL else "stage-out"
            raise Failed(reason, "the outputs cannot be kept: %s" % error.strerror)

    def _end_early(self) -> "Dict[str, Any]":
        """End all processes, and tell a kill of ours from a shutdown of the node."""
        asked = os.path.exists(self.places.attempt(self.attempt, b"kill"))
        self.tree.end(self._grace if asked else lambda: LEFTOVER_GRACE)
        if self.report.is_open():
            self._note(self.launch["binaries"][len(self.report.records)])
        if asked:
            return {"outcome": "killed", "reason": "killed", "detail": "ended on request"}
        return Failed("platform-failure", "the node ended the wrapper by SIGTERM").result()

    def _grace(self) -> float:
        """Read how many seconds whoever asked for the end leaves to the binary."""
        try:
            with open(self.places.attempt(self.attempt, b"kill")) as file:
                return float(file.read())
        except (OSError, ValueError):
            return DEFAULT_GRACE


def _drop(path: bytes) -> None:
    """Remove what is not needed any more; what can't be removed goes with the attempt."""
    try:
        remove(path)
    except OSError:
        pass
