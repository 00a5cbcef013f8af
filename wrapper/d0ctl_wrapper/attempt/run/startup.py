"""The startup script of a package, which calls the chain of its binaries (D0 Job Definition).

The script runs once. It finds a program, `$D0CTL_CHAIN`, that runs the binaries one by one in
the environment in which it is called, and ends when the last has been verified. The program and
the wrapper communicate by two named pipes: the wrapper writes the number of the next binary, or
the exit code; the program writes the exit code of each binary.
"""

import fcntl
import os
import shlex
import signal
from typing import Any, Callable, Dict

from d0ctl_wrapper.attempt import verdict
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.attempt.run.script import ScriptContext
from d0ctl_wrapper.attempt.run.spawn import Command, be_nice, spawn
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.paths import to_path, write
from d0ctl_wrapper.protocol.text import one_line

TIMEOUT_S = 3600.0
"""The seconds that a startup script may take before it calls the chain, and after that."""

GRACE_S = 10.0
"""The seconds that it has to clean up after a binary that failed."""

_CHAIN = b"""\
#!/bin/sh
# Run the binaries of this package as the wrapper says; end as the chain ends.
cd %(folder)s || exit 126
if [ -e over ]; then read -r code < over; exit "$code"; fi
if ! mkdir called 2>/dev/null; then
  echo "the chain is running already" >&2
  exit 125
fi
echo called > answers || exit 125
while read -r what number < next; do
  [ "$what" = run ] || exit "$number"
  ( cd %(work)s && . %(folder)s/"$number" )
  echo "$?" > answers || exit 125
done
exit 125
"""


class Startup:
    """The startup script of one attempt."""

    def __init__(self, context: ScriptContext, description: "Dict[str, Any]") -> None:
        self._attempt_folder = context.folder
        self._tree: ProcessTree = context.tree
        self._context = context
        self._path = to_path(description["path"])
        self._parameters = description["parameters"]
        self._folder = context.folder.file(b"chain")
        self.who = "the startup script `%s`" % one_line(description["path"])
        self.pid = 0
        self._from_chain = self._to_chain = -1
        self._read = b""

    def begin(self, nice: int) -> None:
        """Start the script, and wait until it calls the chain; raise Failed if it does not."""
        try:
            self._make_files()
            self._start()
        except OSError as error:
            what = "can't start %s" % self.who
            raise verdict.start_failure("software-missing", what, error)
        be_nice(self.pid, nice)
        self._wait(self._answer)
        if self.has_ended:
            self._judge()
            detail = "ended without calling the chain of its binaries, `$D0CTL_CHAIN`"
            raise Failed("verification", "%s %s" % (self.who, detail))

    def run(self, number: int, command: Command, base: "Dict[bytes, bytes]") -> int:
        """Let the chain run a binary; return the pid to wait for, whose status `answer` returns."""
        lines = ["export %s\n" % _assignment(name, value, base)
                 for name, value in sorted(command.environment.items())
                 if base.get(name) != value]  # fmt: skip
        quoted_command = " ".join(_quoted(word) for word in command.argv)
        logs = ">>%s 2>>%s" % (_quoted(command.out), _quoted(command.err))
        stdin = _quoted(command.stdin or b"/dev/null")
        text = "%sexec <%s %s\nexec %s\n" % ("".join(lines), stdin, logs, quoted_command)
        write(self._folder + b"/%d" % number, text.encode("utf-8", "surrogateescape"))
        for log in (command.out, command.err):
            os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        self._send("run %d" % number)
        return self.pid

    def answer(self) -> "int | None":
        """Return the status of the running binary as `wait` does; None while it runs."""
        code = self._answer()
        return None if code is None else code << 8

    def check(self, who: str) -> None:
        """Raise Failed if the script has ended before the chain."""
        if self.has_ended:
            self._judge()
            detail = "ended without waiting for the chain, while %s was running" % who
            raise Failed("verification", "%s %s" % (self.who, detail))

    @property
    def has_ended(self) -> bool:
        """Whether the script has ended."""
        return self._tree.ended.get(self.pid) is not None

    def finish(self) -> None:
        """Let the chain succeed, and wait for the script; raise Failed unless it succeeds."""
        self._over(0)
        self._wait(lambda: None)
        self._judge()

    def dismiss(self) -> None:
        """Let the chain fail, and give the script some time to clean up."""
        if self.pid and not self.has_ended:
            self._over(1)
            self._tree.await_end(self.pid, GRACE_S)

    def _make_files(self) -> None:
        os.mkdir(self._folder, 0o700)
        for name in (b"answers", b"next"):
            os.mkfifo(self._folder + b"/" + name, 0o600)
        self._from_chain = os.open(
            self._folder + b"/answers", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
        )
        self._to_chain = os.open(self._folder + b"/next", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.fcntl(self._from_chain, fcntl.F_SETOWN, os.getpid())
        set_signal = getattr(fcntl, "F_SETSIG", 10)
        fcntl.fcntl(self._from_chain, set_signal, int(signal.SIGCHLD))
        flags = fcntl.fcntl(self._from_chain, fcntl.F_GETFL)
        fcntl.fcntl(self._from_chain, fcntl.F_SETFL, flags | os.O_ASYNC)
        names = {b"folder": _bytes(self._folder), b"work": _bytes(self._attempt_folder.work)}
        write(self._folder + b"/run", _CHAIN % names)
        os.chmod(self._folder + b"/run", 0o700)

    def _start(self) -> None:
        out, err = self._attempt_folder.logs(b"startup")
        parameters = {to_path(name): to_path(value) for name, value in self._parameters.items()}
        chain = {b"D0CTL_CHAIN": self._folder + b"/run"}
        path = self._path if self._path.startswith(b"/") else b"./" + self._path
        argv = [path] if os.access(path, os.X_OK) else [b"bash", path]
        os.stat(path)
        os.umask(self._context.umask)
        try:
            self.pid = spawn(
                Command(argv, {**self._context.environment, **parameters, **chain}, out, err)
            )
            self._tree.ended[self.pid] = None
        finally:
            os.umask(0o077)

    def _wait(self, outcome: "Callable[[], int | None]") -> None:
        """Wait for a line of the chain or the end of the script, up to the timeout."""
        clock = Clock()

        def deadline() -> float:
            left = TIMEOUT_S - clock.now()
            if left <= 0:
                raise Failed("looping", "%s took longer than %g s" % (self.who, TIMEOUT_S))
            return left

        self._tree.wait(self.pid, lambda: self._context.watch(clock, [deadline]), outcome)

    def _judge(self) -> None:
        """Raise Failed unless the script succeeded."""
        code, number = verdict.decode(self._tree.ended.get(self.pid) or 0)
        err = self._attempt_folder.file(b"startup.err")
        verdict.judge(self.who, code, number, True, err)

    def _answer(self) -> "int | None":
        """Read a line of the chain; return its exit code, or 0 for the call."""
        try:
            self._read += os.read(self._from_chain, 4096)
        except BlockingIOError:
            pass
        line, end, rest = self._read.partition(b"\n")
        if not end:
            return None
        self._read = rest
        return int(line) & 0xFF if line.isdigit() else 0

    def _over(self, code: int) -> None:
        write(self._folder + b"/over", b"%d\n" % code)
        self._send("over %d" % code)

    def _send(self, line: str) -> None:
        """Write a line to the chain; if it is gone, the script has ended."""
        os.write(self._to_chain, line.encode("ascii") + b"\n")


def _assignment(name: bytes, value: bytes, base: "Dict[bytes, bytes]") -> str:
    """Return the assignment of a variable; a new prefix is put before the script's own value."""
    previous = base.get(name)
    shown = name.decode("utf-8", "surrogateescape")
    if previous and value.endswith(b":" + previous):
        return '%s=%s"$%s"' % (shown, _quoted(value[: -len(previous)]), shown)
    return "%s=%s" % (shown, _quoted(value))


def _quoted(word: bytes) -> str:
    return shlex.quote(word.decode("utf-8", "surrogateescape"))


def _bytes(word: bytes) -> bytes:
    return _quoted(word).encode("utf-8", "surrogateescape")
