"""The only place that runs what goes with a binary and is none: hooks and checks, by the clock."""

import os
from typing import Any, Callable, Dict, List, NamedTuple

from d0ctl_wrapper.attempt import exits, verdict
from d0ctl_wrapper.attempt.intervals import Watch, Watcher
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.processes import Tree
from d0ctl_wrapper.attempt.run.spawn import Command, spawn
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.protocol.paths import AttemptFolder, to_path, write
from d0ctl_wrapper.protocol.text import last_line, signal_name

SHELLS = {"bash": [b"bash", b"-eo", b"pipefail"], "sh": [b"sh", b"-e"]}

LEFTOVER_GRACE = 2.0
"""How many seconds a script has after TERM that did not end in time."""


class Script(NamedTuple):
    """A text for a shell: the name of its files, what people call it, why its failure is one."""

    name: bytes
    who: str
    reason: str
    text: str
    shell: str
    timeout: float


class Surroundings(NamedTuple):
    """What a script finds: the environment of the binaries, and who looks at it meanwhile."""

    folder: AttemptFolder
    umask: int
    tree: Tree
    environment: "Dict[bytes, bytes]"
    watch: "Callable[[Clock, List[Watcher]], Watch]"


def run(around: Surroundings, script: Script, more: "Dict[bytes, bytes]") -> None:
    """Run a script to its end; raise Failed when it fails or takes too long."""
    clock = Clock()
    out, err = around.folder.logs(script.name)
    pid = _start(around, script, out, err, more)

    def deadline() -> float:
        left = script.timeout - clock.now()
        if left <= 0:
            raise Failed(script.reason, "%s did not end within %g s" % (script.who, script.timeout))
        return left

    try:
        around.tree.wait(pid, lambda: around.watch(clock, [deadline]))
    except Failed:
        around.tree.end(lambda: LEFTOVER_GRACE)
        raise
    _judge(script, around.tree.status or 0, err)


def _start(
    around: Surroundings, script: Script, out: bytes, err: bytes, more: "Dict[bytes, bytes]"
) -> int:
    try:
        path = around.folder.file(script.name + b".sh")
        write(path, to_path(script.text))
        os.umask(around.umask)
        argv = [*SHELLS[script.shell], path]
        return spawn(Command(argv, {**around.environment, **more}, out, err))
    except OSError as error:
        reason = "disk-full" if error.errno in FULL else script.reason
        raise Failed(reason, "%s cannot be started: %s" % (script.who, error.strerror))
    finally:
        os.umask(0o077)


def _judge(script: Script, status: int, err: bytes) -> None:
    """Raise Failed, with the last words of the script, unless it ended well."""
    code, number = verdict.decode(status)
    if code == 0:
        return
    ended = "was ended by %s" % signal_name(number) if number else exits.phrase(code)
    said = last_line(err) or last_line(err[: -len(b".err")] + b".out")
    raise Failed(script.reason, "%s %s" % (script.who, ended) + (": " + said if said else ""))


def facts(values: "Dict[str, Any]") -> "Dict[bytes, bytes]":
    """Give variables for the environment of a script; what is not known is empty."""
    return {
        to_path("D0CTL_" + name): b"" if value is None else to_path(str(value))
        for name, value in values.items()
    }
