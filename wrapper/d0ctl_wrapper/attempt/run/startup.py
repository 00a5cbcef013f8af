"""The startup script of a package, which calls the chain of its binaries (D0 Job Definition).

The script runs once. It finds a program, `$D0CTL_CHAIN`, that runs the binaries one by one in
the environment in which it is called, and ends when the last has been verified. The program and
the wrapper talk by two pipes with names: the wrapper writes which binary is to run next, or the
exit code; the program writes the exit code of each binary.
"""

import fcntl
import os
import shlex
import signal
from typing import Any, Callable, Dict

from d0ctl_wrapper.attempt import verdict
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.processes import Tree
from d0ctl_wrapper.attempt.run.script import Surroundings
from d0ctl_wrapper.attempt.run.spawn import Command, spawn
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.protocol.paths import to_path, write
from d0ctl_wrapper.protocol.text import one_line

TIMEOUT = 3600.0
"""How many seconds a startup script may take before it calls the chain, and after that."""

GRACE = 10.0
"""How many seconds it has to clear up after a binary that failed."""

_SET_SIGNAL = getattr(fcntl, "F_SETSIG", 10)

_CHAIN = b"""\
#!/bin/sh
# Run the binaries of this package as the wrapper says; end as the chain ends.
cd %(folder)s || exit 126
if [ -e over ]; then read -r code < over; exit "$code"; fi
if ! mkdir called 2>/dev/null; then
  echo "the chain is running already" >&2
  exit 125
fi
echo called > told || exit 125
while read -r what number < next; do
  [ "$what" = run ] || exit "$number"
  ( cd %(work)s && . %(folder)s/"$number" )
  echo "$?" > told || exit 125
done
exit 125
"""


class Startup:
    """The startup script of one attempt under way."""

    def __init__(self, around: Surroundings, described: "Dict[str, Any]") -> None:
        self._attempt_folder = around.folder
        self._tree: Tree = around.tree
        self._around = around
        self._path = to_path(described["path"])
        self._parameters = described["parameters"]
        self._folder = around.folder.file(b"chain")
        self.who = "the startup script `%s`" % one_line(described["path"])
        self.pid = 0
        self._told = self._next = -1
        self._read = b""

    def begin(self, be_nice: "Callable[[int], None]") -> None:
        """Start the script, and wait until it calls the chain; raise Failed when it does not."""
        try:
            self._lay_out()
            self._start()
        except OSError as error:
            reason = "disk-full" if error.errno in FULL else "software-missing"
            raise Failed(reason, "%s cannot be started: %s" % (self.who, error.strerror))
        be_nice(self.pid)
        self._wait(self._answer)
        if self.has_ended:
            self._judge()
            told = "ended without calling the chain of its binaries, `$D0CTL_CHAIN`"
            raise Failed("verification", "%s %s" % (self.who, told))

    def run(self, number: int, command: Command, base: "Dict[bytes, bytes]") -> int:
        """Have the chain run a binary; give the process to wait for, `answer` its status."""
        lines = ["export %s\n" % _assignment(name, value, base)
                 for name, value in sorted(command.environment.items())
                 if base.get(name) != value]  # fmt: skip
        words = " ".join(_quoted(word) for word in command.argv)
        logs = ">>%s 2>>%s" % (_quoted(command.out), _quoted(command.err))
        text = "%sexec </dev/null %s\nexec %s\n" % ("".join(lines), logs, words)
        write(self._folder + b"/%d" % number, text.encode("utf-8", "surrogateescape"))
        for log in (command.out, command.err):
            os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        self._say("run %d" % number)
        return self.pid

    def answer(self) -> "int | None":
        """Give how the binary under way ended, as a status of `wait`; None while it runs."""
        code = self._answer()
        return None if code is None else code << 8

    def check(self, who: str) -> None:
        """Raise Failed when the script has ended before the chain was done."""
        if self.has_ended:
            self._judge()
            told = "ended without waiting for the chain, while %s was running" % who
            raise Failed("verification", "%s %s" % (self.who, told))

    @property
    def has_ended(self) -> bool:
        """Tell whether the script itself is no more."""
        return self._tree.ended.get(self.pid) is not None

    def finish(self) -> None:
        """Let the chain end well, and wait for the script; raise Failed unless it ends well."""
        self._over(0)
        self._wait(lambda: None)
        self._judge()

    def dismiss(self) -> None:
        """Let the chain end badly, and give the script some time to clear up."""
        if self.pid and not self.has_ended:
            self._over(1)
            self._tree.await_end(self.pid, GRACE)

    def _lay_out(self) -> None:
        os.mkdir(self._folder, 0o700)
        for name in (b"told", b"next"):
            os.mkfifo(self._folder + b"/" + name, 0o600)
        self._told = os.open(self._folder + b"/told", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._next = os.open(self._folder + b"/next", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.fcntl(self._told, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(self._told, _SET_SIGNAL, int(signal.SIGCHLD))
        flags = fcntl.fcntl(self._told, fcntl.F_GETFL)
        fcntl.fcntl(self._told, fcntl.F_SETFL, flags | os.O_ASYNC)
        names = {b"folder": _bytes(self._folder), b"work": _bytes(self._attempt_folder.work)}
        write(self._folder + b"/run", _CHAIN % names)
        os.chmod(self._folder + b"/run", 0o700)

    def _start(self) -> None:
        out, err = self._attempt_folder.logs(b"startup")
        given = {to_path(name): to_path(value) for name, value in self._parameters.items()}
        chain = {b"D0CTL_CHAIN": self._folder + b"/run"}
        path = self._path if self._path.startswith(b"/") else b"./" + self._path
        argv = [path] if os.access(path, os.X_OK) else [b"bash", path]
        os.stat(path)
        os.umask(self._around.umask)
        try:
            self.pid = spawn(
                Command(argv, {**self._around.environment, **given, **chain}, out, err)
            )
            self._tree.ended[self.pid] = None
        finally:
            os.umask(0o077)

    def _wait(self, outcome: "Callable[[], int | None]") -> None:
        """Wait for word of the chain or the end of the script, for a limited time."""
        clock = Clock()

        def deadline() -> float:
            left = TIMEOUT - clock.now()
            if left <= 0:
                raise Failed("looping", "%s took longer than %g s" % (self.who, TIMEOUT))
            return left

        self._tree.wait(self.pid, lambda: self._around.watch(clock, [deadline]), outcome)

    def _judge(self) -> None:
        """Raise Failed unless the script has ended well."""
        code, number = verdict.decode(self._tree.ended.get(self.pid) or 0)
        err = self._attempt_folder.file(b"startup.err")
        verdict.judge(self.who, code, number, True, err)

    def _answer(self) -> "int | None":
        """Read a line that the chain has written; give its number, 0 where it was called."""
        try:
            self._read += os.read(self._told, 4096)
        except BlockingIOError:
            pass
        line, end, rest = self._read.partition(b"\n")
        if not end:
            return None
        self._read = rest
        return int(line) & 0xFF if line.isdigit() else 0

    def _over(self, code: int) -> None:
        write(self._folder + b"/over", b"%d\n" % code)
        self._say("over %d" % code)

    def _say(self, line: str) -> None:
        """Write to the chain, which reads; one that is gone shows by the end of the script."""
        os.write(self._next, line.encode("ascii") + b"\n")


def _assignment(name: bytes, value: bytes, base: "Dict[bytes, bytes]") -> str:
    """Set a variable; one that only begins with more than before keeps what the script added."""
    former = base.get(name)
    shown = name.decode("utf-8", "surrogateescape")
    if former and value.endswith(b":" + former):
        return '%s=%s"$%s"' % (shown, _quoted(value[: -len(former)]), shown)
    return "%s=%s" % (shown, _quoted(value))


def _quoted(word: bytes) -> str:
    return shlex.quote(word.decode("utf-8", "surrogateescape"))


def _bytes(word: bytes) -> bytes:
    return _quoted(word).encode("utf-8", "surrogateescape")
