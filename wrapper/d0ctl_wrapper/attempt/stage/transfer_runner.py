"""Transfers of an attempt: files are copied in processes that the wrapper watches.

A transfer that takes too long or makes no progress is ended, and a kill ends it like a binary.
"""

import errno
import os
from typing import Any, Callable, Dict, List, NamedTuple

from d0ctl_wrapper import program
from d0ctl_wrapper.attempt import verdict
from d0ctl_wrapper.attempt.intervals import Backoff, Watch, Watcher
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.attempt.run.spawn import Command, spawn
from d0ctl_wrapper.attempt.stage import builtin_transfers
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.host import process
from d0ctl_wrapper.host.fetch import SourceNotFound, Unreachable
from d0ctl_wrapper.protocol.paths import remove, to_path
from d0ctl_wrapper.protocol.text import last_line

PAUSES = (1, 4)
"""The pauses between tries, as multiples of the first."""

LEFTOVER_GRACE_S = 1.0
"""The seconds from TERM to KILL for a transfer that is given up."""


class TransferFailed(Exception):
    """A transfer failed; another try may succeed."""


class SourceMissing(TransferFailed):
    """The source does not exist."""


class NoTransferCommand(TransferFailed):
    """There is no command for the scheme."""


class NoSpace(TransferFailed):
    """The disk of the target is full."""


class LeaseLapsed(Exception):
    """The lease has expired."""


class TransferOrders(NamedTuple):
    """The orders that are obeyed during a transfer."""

    pause_point: "Callable[[], None]"
    """Called between two pieces of a file; it pauses, or raises, if ordered."""
    watch: "Callable[[Clock, List[Watcher]], Watch]"
    """Returns the watch over a transfer process, which pauses it if ordered."""
    may_go_on: "Callable[[], bool]"
    """Whether the attempt still holds the lease, if it needs one."""


class TransferRunner:
    """The transfers of one attempt."""

    def __init__(
        self,
        tree: ProcessTree,
        rules: "Dict[str, Any]",
        environment: "Dict[bytes, bytes]",
        log: bytes,
        orders: TransferOrders,
    ) -> None:
        self.tree = tree
        self.orders = orders
        self.idle_s: float = rules["idle"]
        self.timeout_s: float = rules["timeout"]
        self.retry_s: float = rules["retry"]
        self._commands: "Dict[str, Dict[str, Any]]" = rules["commands"]
        self._environment = environment
        self._log = log

    def run_with_retries(self, carry: "Callable[[], Any]") -> Any:
        """Try a transfer a few times; a missing source is not tried again."""
        for pause in PAUSES:
            try:
                return carry()
            except (SourceMissing, NoSpace, NoTransferCommand):
                raise
            except TransferFailed:
                self.tree.rest(pause * self.retry_s)
        return carry()

    def command(self, transport: str, way: str, source: str, dest: str) -> "List[bytes] | None":
        """Return the site's command that fetches or stores files of a scheme or store; or None."""
        template = self._commands.get(transport, {}).get(way)
        if not template:
            return None
        import shlex

        template = template.replace("{d0ctl}", program.shell())
        parts = (part.replace("{dest}", shlex.quote(dest)) for part in template.split("{source}"))
        return [b"sh", b"-c", to_path(shlex.quote(source).join(parts))]

    def run(self, what: str, argv: "List[bytes]", target: "bytes | None" = None) -> None:
        """Run a command of the site."""
        self._clear()
        try:
            pid = spawn(Command(argv, self._environment, self._log + b".out", self._log + b".err"))
        except OSError as error:
            if error.errno == errno.E2BIG:
                raise verdict.start_failure("", "%s: can't start the shell" % what, error)
            raise TransferFailed("%s: can't start the shell: %s" % (what, error.strerror))
        status = self._wait(what, pid, target)
        if status != 0:
            raise _command_error(what, status, last_line(self._log + b".err"), target)

    def do(self, what: str, work: "Callable[[], None]", target: "bytes | None" = None) -> None:
        """Run a transfer of the wrapper in a forked process."""
        self._clear()
        log = self._log + b".err"
        status = self._wait(what, builtin_transfers.fork(work, log), target)
        if status != 0:
            raise _transfer_error(what, status, last_line(log))

    def do_here(self, what: str, work: "Callable[[], None]", target: bytes) -> None:
        """Run a transfer of the wrapper that takes a moment in the wrapper itself."""
        self.orders.pause_point()
        try:
            remove(target)
            work()
        except (OSError, ValueError, SourceNotFound, Unreachable) as error:
            raise _failure(what, error)

    def _clear(self) -> None:
        """Remove the logs of the last transfer."""
        for end in (b".out", b".err"):
            remove(self._log + end)

    def _wait(self, what: str, pid: int, target: "bytes | None") -> int:
        """Wait for the end of a transfer, and return its status; end one without progress."""
        clock = Clock()
        watcher = _Progress(self, what, target, clock)
        try:
            return self.tree.wait(pid, lambda: self.orders.watch(clock, [watcher.poll]))
        except (TransferFailed, LeaseLapsed):
            self.tree.end(lambda: LEFTOVER_GRACE_S)
            raise
        finally:
            self.tree.clear()


class _Progress:
    """The watcher over the progress of a transfer."""

    def __init__(
        self, runner: TransferRunner, what: str, target: "bytes | None", clock: Clock
    ) -> None:
        self._runner, self._what, self._target, self._clock = runner, what, target, clock
        self._moved_at = 0.0
        self._seen = -1
        self._backoff = Backoff()

    def poll(self) -> float:
        """Raise TransferFailed if the transfer makes no progress or takes too long."""
        if not self._runner.orders.may_go_on():
            raise LeaseLapsed
        now, seen = self._clock.now(), self._measure()
        has_moved, self._seen = seen != self._seen, seen
        if has_moved:
            self._moved_at = now
        if now - self._moved_at > self._runner.idle_s:
            raise TransferFailed("%s: no progress for %.0f s" % (self._what, now - self._moved_at))
        if now > self._runner.timeout_s:
            raise TransferFailed("%s: not done after %.0f s" % (self._what, now))
        return min(self._backoff.next(has_moved), max(0.1, self._runner.idle_s / 4))

    def _measure(self) -> int:
        """Return the size of the target, or the bytes read if there is none."""
        if self._target is not None:
            try:
                return os.stat(self._target).st_size
            except OSError:
                pass
        return sum(process.bytes_read(pid) for pid in process.below(os.getpid()))


def _command_error(what: str, status: int, output: str, target: "bytes | None") -> TransferFailed:
    """Return why a command failed; on a full disk its output is not reliable."""
    if target is not None and _is_full(os.path.dirname(target)):
        return NoSpace("%s: the disk is full" % what)
    if os.WIFSIGNALED(status):
        return TransferFailed("%s: ended by signal %d" % (what, os.WTERMSIG(status)))
    code = os.WEXITSTATUS(status)
    kind = SourceMissing if code == builtin_transfers.EXIT_MISSING else TransferFailed
    return kind("%s: exit code %d%s" % (what, code, ": " + output if output else ""))


def _transfer_error(what: str, status: int, output: str) -> TransferFailed:
    """Return why a forked transfer failed, by its exit code."""
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else builtin_transfers.EXIT_FAILED
    if code == builtin_transfers.EXIT_FULL:
        return NoSpace("%s: the disk is full" % what)
    message = "%s: %s" % (what, output or "it broke off")
    is_missing = code == builtin_transfers.EXIT_MISSING
    return SourceMissing(message) if is_missing else TransferFailed(message)


def _failure(what: str, error: Exception) -> TransferFailed:
    """Return why a transfer in the wrapper itself failed."""
    if isinstance(error, OSError) and error.errno in FULL:
        return NoSpace("%s: the disk is full" % what)
    strerror = error.strerror if isinstance(error, OSError) else None
    kind = SourceMissing if isinstance(error, SourceNotFound) else TransferFailed
    return kind("%s: %s" % (what, strerror or error))


def _is_full(folder: bytes) -> bool:
    try:
        return os.statvfs(folder).f_bavail == 0
    except OSError:
        return False
