"""Scripts that belong to a binary: hooks and checks, with a timeout."""

import os
from typing import Any, Callable, Dict, List, NamedTuple

from d0ctl_wrapper.attempt import verdict
from d0ctl_wrapper.attempt.intervals import Watch, Watcher
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.attempt.run.spawn import Command, spawn
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.paths import AttemptFolder, to_path, write
from d0ctl_wrapper.protocol.text import last_line

SHELLS = {"bash": [b"bash", b"-eo", b"pipefail"], "sh": [b"sh", b"-e"]}

LEFTOVER_GRACE_S = 2.0
"""The seconds from TERM to KILL for a script that timed out."""


class Script(NamedTuple):
    """A script: the name of its files, its name for people, the reason of its failure."""

    name: bytes
    who: str
    reason: str
    text: str
    shell: str
    timeout: float


class ScriptContext(NamedTuple):
    """The context of scripts: folder, processes, environment and watch."""

    folder: AttemptFolder
    umask: int
    tree: ProcessTree
    environment: "Dict[bytes, bytes]"
    watch: "Callable[[Clock, List[Watcher]], Watch]"


def run(context: ScriptContext, script: Script, more: "Dict[bytes, bytes]") -> None:
    """Run a script to its end; raise Failed if it fails or times out."""
    clock = Clock()
    out, err = context.folder.logs(script.name)
    pid = _start(context, script, out, err, more)

    def deadline() -> float:
        left = script.timeout - clock.now()
        if left <= 0:
            raise Failed(script.reason, "%s did not end within %g s" % (script.who, script.timeout))
        return left

    try:
        context.tree.wait(pid, lambda: context.watch(clock, [deadline]))
    except Failed:
        context.tree.end(lambda: LEFTOVER_GRACE_S)
        raise
    _judge(script, context.tree.status or 0, err)


def _start(
    context: ScriptContext, script: Script, out: bytes, err: bytes, more: "Dict[bytes, bytes]"
) -> int:
    try:
        path = context.folder.file(script.name + b".sh")
        write(path, to_path(script.text))
        os.umask(context.umask)
        argv = [*SHELLS[script.shell], path]
        return spawn(Command(argv, {**context.environment, **more}, out, err))
    except OSError as error:
        raise verdict.start_failure(script.reason, "can't start %s" % script.who, error)
    finally:
        os.umask(0o077)


def _judge(script: Script, status: int, err: bytes) -> None:
    """Raise Failed, with the last line of its log, unless the script succeeded."""
    code, number = verdict.decode(status)
    if code == 0:
        return
    ended = verdict.signal_phrase(number) if number else verdict.exit_phrase(code)
    line = last_line(err) or last_line(err[: -len(b".err")] + b".out")
    raise Failed(script.reason, "%s %s" % (script.who, ended) + (": " + line if line else ""))


def facts(values: "Dict[str, Any]") -> "Dict[bytes, bytes]":
    """Return variables for the environment of a script; unknown values are empty."""
    return {
        to_path("D0CTL_" + name): b"" if value is None else to_path(str(value))
        for name, value in values.items()
    }
