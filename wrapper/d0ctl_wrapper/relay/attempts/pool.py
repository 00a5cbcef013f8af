"""The wrappers that a relay has forked: each serves a slot, one attempt after another."""

import socket
import time
from typing import Callable, Dict, List, Set

from d0ctl_wrapper.attempt import serve
from d0ctl_wrapper.attempt.run import detach
from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.host import attempt_records, channel, process
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, remove
from d0ctl_wrapper.relay.attempts.cpus import load, needs_none

IDLE_S = 5.0
"""The seconds after which an idle wrapper ends."""

MOST_ATTEMPTS = 1000
"""The attempts after which a wrapper ends."""


class WrapperProcess:
    """A wrapper that is a child of this relay."""

    def __init__(self, pid: int, end: socket.socket) -> None:
        found = process.inspect(pid)
        self.pid = pid
        self.started = found.started if found is not None else 0
        self.end = end
        self.attempt: "int | None" = None
        self.launch: "Launch | None" = None
        """The launch of this attempt, unless it was inherited."""
        self.record: "attempt_records.Record | None" = None
        self.recorded: "AttemptFolder | None" = None
        """The folder in which this record was written."""
        self.attempts = 0
        self.is_signaled = False
        self.idle_since = 0.0

    def take(self, packet: bytes, attempt: int, launch: "Launch | None" = None) -> bool:
        """Send it a launch; return whether it could receive the launch."""
        self.attempt, self.launch = attempt, launch
        self.attempts += 1
        return channel.send(self.end, packet)

    def release(self) -> "int | None":
        """Record that its attempt has ended, and return that attempt."""
        attempt, self.attempt, self.launch = self.attempt, None, None
        return attempt

    @property
    def is_open(self) -> bool:
        """Whether its channel is open."""
        return self.end.fileno() >= 0

    @property
    def is_reusable(self) -> bool:
        """Whether it may serve another attempt.

        A signal that was sent to it may arrive only after the end of the attempt.
        """
        return not self.is_signaled and self.attempts < MOST_ATTEMPTS


class WrapperPool:
    """The wrappers of this relay, busy and idle.

    The record of an attempt names its wrapper before the wrapper gets the launch. So no wrapper
    ever runs an attempt without a record, even if this relay dies at any instruction.
    """

    is_elsewhere = False

    def __init__(
        self,
        context: RelayContext,
        watch: "Callable[[int, Callable[[], object]], None]",
        unwatch: "Callable[[int], None]",
        add_message: "Callable[[bytes, bytes], None]",
    ) -> None:
        self._context = context
        self._watch = watch
        self._unwatch = unwatch
        self._add_message = add_message
        self._wrappers: "Dict[int, WrapperProcess]" = {}
        self._idle: "List[WrapperProcess]" = []
        """The idle wrappers; the last was busy last."""
        self.on_end: "Callable[[int], None]" = lambda attempt: None
        """Called with an attempt that has ended."""
        self.on_computed: "Callable[[int], None]" = lambda attempt: None
        """Called with an attempt that only waits for the disk until its end."""
        self.on_unread: "Callable[[Launch], None]" = lambda launch: None
        """Called with a launch whose wrapper has ended without reading it."""

    @property
    def pids(self) -> "Set[int]":
        """The wrappers that have not been reaped."""
        return set(self._wrappers)

    def start(self, launch: Launch) -> int:
        """Give a launch, whose folder exists, to a wrapper, and return the pid of the wrapper.

        Raises OSError if the record cannot be written or no process can be forked.
        """
        folder = self._context.paths.attempt(launch["attempt"])
        packet = channel.pack(launch)
        while packet is not None and self._idle:
            wrapper = self._idle.pop()
            self._claim(folder, wrapper, launch)
            if wrapper.take(packet, folder.attempt, launch):
                break
            wrapper.release()
            self._close(wrapper)
            remove(folder.file(b"wrapper"))
        else:
            wrapper = self._fork(launch)
            self._claim(folder, wrapper, launch)
            wrapper.take(channel.INHERITED, folder.attempt)
        if needs_none(launch):
            self._close(wrapper)
        return wrapper.pid

    def _claim(self, folder: AttemptFolder, wrapper: WrapperProcess, launch: Launch) -> None:
        """Record that an idle wrapper gets an attempt.

        Links the equal record of its previous attempt if possible, which saves an inode.
        """
        boot_id, devices = self._context.boot_id, tuple(launch.get("devices") or ())
        record = attempt_records.Record(
            wrapper.pid, wrapper.started, boot_id, load(launch), devices
        )
        try:
            if record != wrapper.record or not attempt_records.link_record(
                folder, wrapper.recorded
            ):
                attempt_records.write_record(folder, record)
                wrapper.record, wrapper.recorded = record, folder
        except OSError:
            self._rest(wrapper)
            raise

    def _fork(self, launch: Launch) -> WrapperProcess:
        ours, theirs = channel.pair()
        try:
            pid = detach.fork(
                theirs.fileno(),
                lambda: serve.serve(
                    self._context, channel.RelayChannel(self._context.paths, theirs), launch
                ),
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        wrapper = self._wrappers[pid] = WrapperProcess(pid, ours)
        self._watch(ours.fileno(), lambda: self._take_packet(wrapper))
        return wrapper

    def _take_packet(self, wrapper: WrapperProcess) -> bool:
        """Handle the next packet of a wrapper; return whether there was one."""
        packet = channel.receive(wrapper.end)
        if packet is None:
            return False
        if not packet.kind:
            self._close(wrapper)
            return False
        if packet.kind == channel.UNREAD:
            self._launch_again(wrapper)
            return False
        if packet.kind == channel.COMPUTED:
            if wrapper.attempt is not None:
                self.on_computed(wrapper.attempt)
            return True
        self._add_message(packet.name, packet.text)
        attempt = None if packet.kind == channel.MESSAGE else wrapper.release()
        if attempt is not None:
            if packet.kind == channel.END and wrapper.is_reusable:
                self._rest(wrapper)
            else:
                self._close(wrapper)
            self.on_end(attempt)
        return True

    def _launch_again(self, wrapper: WrapperProcess) -> None:
        """Give a launch that a wrapper has not read to another wrapper.

        Not after a signal such as a kill, which may be why the wrapper ended.
        """
        self._close(wrapper)
        launch = wrapper.launch
        if launch is not None and not wrapper.is_signaled:
            wrapper.release()
            self.on_unread(launch)

    def _rest(self, wrapper: WrapperProcess) -> None:
        wrapper.idle_since = time.monotonic()
        self._idle.append(wrapper)

    def _close(self, wrapper: WrapperProcess) -> None:
        """Close the channel of a wrapper, which ends after its attempt."""
        if wrapper in self._idle:
            self._idle.remove(wrapper)
        if wrapper.is_open:
            self._unwatch(wrapper.end.fileno())
            wrapper.end.close()

    def retire(self) -> "float | None":
        """End wrappers that were idle for IDLE_S; return the seconds until the next, or None."""
        while self._idle:
            left = self._idle[0].idle_since + IDLE_S - time.monotonic()
            if left > 0:
                return left
            self._close(self._idle[0])
        return None

    def signal(self, pid: int, number: int) -> None:
        """Send a signal to a wrapper; one of this pool ends after its attempt."""
        if pid in self._wrappers:
            self._wrappers[pid].is_signaled = True
        process.send(pid, number)

    def withdraw(self, attempt: int) -> bool:
        """Return False: a wrapper has each launch already."""
        return False

    def ended(self, pid: int) -> "int | None":
        """Record that a child has ended; return its unfinished attempt, or None."""
        wrapper = self._wrappers.pop(pid, None)
        if wrapper is None:
            return None
        while wrapper.is_open and self._take_packet(wrapper):
            pass
        self._close(wrapper)
        return wrapper.attempt
