"""The only place where a wrapper has a file carried, by a process of its own that it watches.

It ends one that takes too long or makes no progress, and a kill ends it as it ends a binary.
"""

import os
import time
from typing import Any, Callable, Dict, List

from d0ctl_wrapper import process
from d0ctl_wrapper.attempt import builtin
from d0ctl_wrapper.attempt.spawn import Command, spawn
from d0ctl_wrapper.attempt.tree import Tree
from d0ctl_wrapper.attempt.watch import Ease, Watch
from d0ctl_wrapper.paths import remove, to_path
from d0ctl_wrapper.words import last_line, one_line

PAUSES = (1, 4)
"""How long each pause between two tries is, as a multiple of the first."""

LEFTOVER_GRACE = 1.0
"""How many seconds a carrier that is given up has after TERM."""


class Trouble(Exception):
    """A file could not be carried; another try may."""


class Absent(Trouble):
    """There is no such file."""


class Full(Trouble):
    """There is no space for it."""


class Lapsed(Exception):
    """The attempt may not touch the world any more."""


def _always() -> bool:
    return True


class Carrier:
    """Carries the files of one attempt."""

    def __init__(
        self,
        tree: Tree,
        rules: "Dict[str, Any]",
        environment: "Dict[bytes, bytes]",
        log: bytes,
        may_go_on: "Callable[[], bool]" = _always,
    ) -> None:
        self.tree = tree
        self.may_go_on = may_go_on
        self.idle: float = rules["idle"]
        self.timeout: float = rules["timeout"]
        self.retry: float = rules["retry"]
        self._commands: "Dict[str, Dict[str, Any]]" = rules["commands"]
        self._environment = environment
        self._log = log

    def insist(self, carry: "Callable[[], Any]") -> Any:
        """Do something that may fail by Trouble, a few times; what is absent stays so."""
        for pause in PAUSES:
            try:
                return carry()
            except (Absent, Full):
                raise
            except Trouble:
                self.tree.rest(pause * self.retry)
        return carry()

    def command(self, scheme: str, way: str, source: str, dest: str) -> "List[bytes] | None":
        """Give the site's command that fetches from, or stores to, URLs of a scheme."""
        template = self._commands.get(scheme, {}).get(way)
        if not template:
            return None
        import shlex

        words = [_fill(word, source, dest) for word in shlex.split(template)]
        return [to_path(word) for word in words]

    def run(self, what: str, argv: "List[bytes]", target: "bytes | None" = None) -> None:
        """Have a command of the site do it."""
        self._clear()
        try:
            pid = spawn(Command(argv, self._environment, self._log + b".out", self._log + b".err"))
        except OSError as error:
            raise Trouble("%s: `%s` cannot be started: %s" % (what, _shown(argv), error.strerror))
        self._attend(what, pid, target)

    def do(self, what: str, work: "Callable[[], None]", target: "bytes | None" = None) -> None:
        """Have a process of ours do it."""
        self._clear()
        self._attend(what, builtin.fork(work, self._log + b".err"), target)

    def _clear(self) -> None:
        """Let the log hold what the next carrier says, and nothing else."""
        for end in (b".out", b".err"):
            remove(self._log + end)

    def _attend(self, what: str, pid: int, target: "bytes | None") -> None:
        """Wait for the end of a carrier, and raise Trouble unless it went well."""
        watcher = _Progress(self, what, target)
        try:
            status = self.tree.wait(pid, lambda: Watch([watcher.look], lambda: None))
        except (Trouble, Lapsed):
            self.tree.end(lambda: LEFTOVER_GRACE)
            raise
        finally:
            self.tree.let_go()
        if status != 0:
            raise _trouble(what, status, last_line(self._log + b".err"))


class _Progress:
    """Looks whether a carrier gets on."""

    def __init__(self, carrier: Carrier, what: str, target: "bytes | None") -> None:
        self._carrier, self._what, self._target = carrier, what, target
        self._began = self._moved = time.monotonic()
        self._seen = -1
        self._ease = Ease()

    def look(self) -> float:
        """Raise Trouble when it stands still or takes too long."""
        if not self._carrier.may_go_on():
            raise Lapsed
        now, seen = time.monotonic(), self._measure()
        has_moved, self._seen = seen != self._seen, seen
        if has_moved:
            self._moved = now
        if now - self._moved > self._carrier.idle:
            raise Trouble("%s: no progress for %.0f s" % (self._what, now - self._moved))
        if now - self._began > self._carrier.timeout:
            raise Trouble("%s: not done after %.0f s" % (self._what, now - self._began))
        return min(self._ease.next(has_moved), max(0.1, self._carrier.idle / 4))

    def _measure(self) -> int:
        """Give the size of what has come, or how much was read where none can be seen."""
        if self._target is not None:
            try:
                return os.stat(self._target).st_size
            except OSError:
                pass
        return sum(process.bytes_read(pid) for pid in process.below(os.getpid()))


def _fill(word: str, source: str, dest: str) -> str:
    parts = word.split("{source}")
    return source.join(part.replace("{dest}", dest) for part in parts)


def _shown(argv: "List[bytes]") -> str:
    return one_line(argv[0].decode("utf-8", "replace"))


def _trouble(what: str, status: int, said: str) -> Trouble:
    if os.WIFSIGNALED(status):
        return Trouble("%s: ended by signal %d" % (what, os.WTERMSIG(status)))
    code = os.WEXITSTATUS(status)
    known = {builtin.EXIT_ABSENT: Absent, builtin.EXIT_FULL: Full}
    if code in known and said:
        return known[code]("%s: %s" % (what, said))
    return Trouble("%s: exit code %d%s" % (what, code, ": " + said if said else ""))
