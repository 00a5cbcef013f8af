"""The only place where a wrapper has a file carried, by a process of its own that it watches.

It ends one that takes too long or makes no progress, and a kill ends it as it ends a binary.
"""

import os
from typing import Any, Callable, Dict, List, NamedTuple

from d0ctl_wrapper.attempt.intervals import Ease, Watch, Watcher
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.processes import Tree
from d0ctl_wrapper.attempt.run.spawn import Command, spawn
from d0ctl_wrapper.attempt.stage import transfers
from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.paths import remove, to_path
from d0ctl_wrapper.protocol.text import last_line

PAUSES = (1, 4)
"""How long each pause between two tries is, as a multiple of the first."""

LEFTOVER_GRACE = 1.0
"""How many seconds a carrier that is given up has after TERM."""


class Trouble(Exception):
    """A file could not be carried; another try may."""


class Absent(Trouble):
    """There is no such file."""


class Unable(Trouble):
    """Nobody here knows how to carry it."""


class Full(Trouble):
    """There is no space for it."""


class Lapsed(Exception):
    """The attempt may not touch the world any more."""


class Orders(NamedTuple):
    """What a carrier obeys while it works."""

    heed: "Callable[[], None]"
    """Called between two pieces of a file; it stands still, or raises, when that is ordered."""
    watch: "Callable[[Clock, List[Watcher]], Watch]"
    """Makes what looks at a process that carries, and has it pause when that is ordered."""
    may_go_on: "Callable[[], bool]"
    """Whether the attempt may touch the world still."""


class Carrier:
    """Carries the files of one attempt."""

    def __init__(
        self,
        tree: Tree,
        rules: "Dict[str, Any]",
        environment: "Dict[bytes, bytes]",
        log: bytes,
        orders: Orders,
    ) -> None:
        self.tree = tree
        self.orders = orders
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
            except (Absent, Full, Unable):
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

        parts = (part.replace("{dest}", shlex.quote(dest)) for part in template.split("{source}"))
        return [b"sh", b"-c", to_path(shlex.quote(source).join(parts))]

    def run(self, what: str, argv: "List[bytes]", target: "bytes | None" = None) -> None:
        """Have a command of the site do it."""
        self._clear()
        try:
            pid = spawn(Command(argv, self._environment, self._log + b".out", self._log + b".err"))
        except OSError as error:
            raise Trouble("%s: the shell cannot be started: %s" % (what, error.strerror))
        status = self._attend(what, pid, target)
        if status != 0:
            raise _trouble(what, status, last_line(self._log + b".err"), target)

    def do(self, what: str, work: "Callable[[], None]", target: "bytes | None" = None) -> None:
        """Have a process of ours do it."""
        self._clear()
        log = self._log + b".err"
        status = self._attend(what, transfers.fork(work, log), target)
        if status != 0:
            raise _own_trouble(what, status, last_line(log))

    def _clear(self) -> None:
        """Let the log hold what the next carrier says, and nothing else."""
        for end in (b".out", b".err"):
            remove(self._log + end)

    def _attend(self, what: str, pid: int, target: "bytes | None") -> int:
        """Wait for the end of a carrier, and give its status; end one that does not get on."""
        clock = Clock()
        watcher = _Progress(self, what, target, clock)
        try:
            return self.tree.wait(pid, lambda: self.orders.watch(clock, [watcher.look]))
        except (Trouble, Lapsed):
            self.tree.end(lambda: LEFTOVER_GRACE)
            raise
        finally:
            self.tree.let_go()


class _Progress:
    """Looks whether a carrier gets on."""

    def __init__(self, carrier: Carrier, what: str, target: "bytes | None", clock: Clock) -> None:
        self._carrier, self._what, self._target, self._clock = carrier, what, target, clock
        self._moved = 0.0
        self._seen = -1
        self._ease = Ease()

    def look(self) -> float:
        """Raise Trouble when it stands still or takes too long."""
        if not self._carrier.orders.may_go_on():
            raise Lapsed
        now, seen = self._clock.now(), self._measure()
        has_moved, self._seen = seen != self._seen, seen
        if has_moved:
            self._moved = now
        if now - self._moved > self._carrier.idle:
            raise Trouble("%s: no progress for %.0f s" % (self._what, now - self._moved))
        if now > self._carrier.timeout:
            raise Trouble("%s: not done after %.0f s" % (self._what, now))
        return min(self._ease.next(has_moved), max(0.1, self._carrier.idle / 4))

    def _measure(self) -> int:
        """Give the size of what has come, or how much was read where none can be seen."""
        if self._target is not None:
            try:
                return os.stat(self._target).st_size
            except OSError:
                pass
        return sum(process.bytes_read(pid) for pid in process.below(os.getpid()))


def _trouble(what: str, status: int, said: str, target: "bytes | None") -> Trouble:
    """Say how a command failed; on a full disk it may have said anything."""
    if target is not None and _is_full(os.path.dirname(target)):
        return Full("%s: the disk is full" % what)
    if os.WIFSIGNALED(status):
        return Trouble("%s: ended by signal %d" % (what, os.WTERMSIG(status)))
    code = os.WEXITSTATUS(status)
    return Trouble("%s: exit code %d%s" % (what, code, ": " + said if said else ""))


def _own_trouble(what: str, status: int, said: str) -> Trouble:
    """Say how a process of ours failed, whose exit code has a meaning."""
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else transfers.EXIT_TROUBLE
    if code == transfers.EXIT_FULL:
        return Full("%s: the disk is full" % what)
    told = "%s: %s" % (what, said or "it broke off")
    return Absent(told) if code == transfers.EXIT_ABSENT else Trouble(told)


def _is_full(folder: bytes) -> bool:
    try:
        return os.statvfs(folder).f_bavail == 0
    except OSError:
        return False
