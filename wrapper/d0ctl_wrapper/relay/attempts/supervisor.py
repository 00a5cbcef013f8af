"""The supervisor of attempts: starts, adopts, pauses and kills them."""

import os
import signal
from typing import Any, Callable, Collection, Dict, List, NamedTuple, Set, Tuple, Union

from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.host import attempt_records, spool
from d0ctl_wrapper.host.input_stream import InputStreams
from d0ctl_wrapper.protocol import launch as launches
from d0ctl_wrapper.protocol import text
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import remove
from d0ctl_wrapper.relay.attempts.cpus import CpuFree, CpuQueue, needs_none
from d0ctl_wrapper.relay.attempts.elsewhere import WrappersElsewhere
from d0ctl_wrapper.relay.attempts.pool import WrapperPool
from d0ctl_wrapper.relay.attempts.reaper import Reaper

Frame = Dict[str, Any]
Wrappers = Union[WrapperPool, WrappersElsewhere]


class LiveWrapper(NamedTuple):
    """A running wrapper: a child of this relay, adopted from a previous one, or elsewhere."""

    pid: int
    cpus: float
    is_reported: bool
    """Whether its end is reported: as that of a child, or by a batch system."""
    gpus: "Tuple[str, ...]" = ()


class Supervisor:
    """The attempts of one node that are queued, running or dead."""

    def __init__(
        self,
        context: RelayContext,
        cpus: int,
        gpus: "List[str]",
        pool: Wrappers,
        send: "Callable[[Frame], None]",
        send_again: "Callable[[bytes], None]",
        clean: "Callable[[int], None]",
    ) -> None:
        self.context = context
        self.paths = context.paths
        self.send = send
        self.send_again = send_again
        self.clean = clean
        self.queue = CpuQueue(cpus)
        self.gpus = gpus
        self.live: "Dict[int, LiveWrapper]" = {}
        self._computed: "Set[int]" = set()
        """The live attempts that only wait for the disk."""
        self.pool = pool
        self.is_elsewhere = pool.is_elsewhere
        pool.on_end = self.drop
        pool.on_unread = self._start_again
        pool.on_computed = self._release_cpus
        self.reaper = Reaper(context.paths)
        self.cpu_free = CpuFree(context.paths)
        self.input_streams = InputStreams(context.paths)

    def adopt(self) -> "List[Frame]":
        """Take over the attempts of previous relays, and list all attempts with their states."""
        states = {attempt: self._adopt(attempt) for attempt in attempt_records.recorded(self.paths)}
        for attempt in self.reaper.proceed(self.pool.pids):
            states[attempt] = "dead"
        return [{"attempt": attempt, "state": state} for attempt, state in states.items()]

    def _adopt(self, attempt: int) -> str:
        record = attempt_records.read_record(self.paths.attempt(attempt))
        is_running = attempt_records.is_running(record, self.context.boot_id)
        if attempt_records.has_ended(self.paths.attempt(attempt)):  # last, as it may end meanwhile
            return "ended"
        if record is not None and record.boot_id != self.context.boot_id:
            return "dead"
        if record is not None and is_running:
            cpus = self.cpu_free.adopt(attempt, record.cpus)
            self.live[attempt] = LiveWrapper(record.pid, cpus, self.pool.is_elsewhere, record.gpus)
        else:
            self.reaper.begin(attempt, "its wrapper is gone")
        return "running"

    def launch(self, values: "List[Any]") -> None:
        """Queue launches, and start those that fit into the free CPUs."""
        accepted: "List[int]" = []
        already: "List[int]" = []
        for value in values:
            launch = self._check(value)
            if launch is not None and launch["gpus"] > len(self.gpus) and not self.is_elsewhere:
                why = "it needs %d GPUs, and the node has %d" % (launch["gpus"], len(self.gpus))
                self._refuse(launch["attempt"], "launch-failed", why)
                launch = None
            if launch is not None:
                is_here = self._is_here(launch["attempt"])
                (already if is_here else accepted).append(launch["attempt"])
                if not is_here and self._needs_no_queue(launch):
                    self._start(launch)
                elif not is_here:
                    self.queue.add(launch)
        for kind, attempts in (("accepted", accepted), ("already", already)):
            if attempts:
                self.send({"kind": kind, "attempts": attempts})
        self.start_waiting()

    def _check(self, value: Any) -> "Launch | None":
        try:
            return launches.check(value)
        except ValueError as error:
            attempt = value.get("attempt") if isinstance(value, dict) else None
            if isinstance(attempt, int) and not isinstance(attempt, bool):
                self._refuse(attempt, "launch-failed", "the launch %s" % error)
            else:
                self.send({"kind": "fault", "message": "a launch %s" % error})
            return None

    def _needs_no_queue(self, launch: Launch) -> bool:
        """Return whether an attempt starts at once: elsewhere, the batch system has the queue."""
        return self.is_elsewhere or (
            needs_none(launch) and launch["gpus"] <= len(self._free_gpus())
        )

    def _is_here(self, attempt: int) -> bool:
        return attempt in self.queue or attempt_records.exists(self.paths.attempt(attempt))

    def start_waiting(self) -> None:
        """Start waiting attempts while there are free CPUs."""
        used = sum(live.cpus for live in self.live.values())
        waiting = self.queue.next(used, len(self._free_gpus()))
        while waiting is not None:
            used += self._start(waiting.launch) if waiting.launch else self.grant(waiting.attempt)
            waiting = self.queue.next(used, len(self._free_gpus()))

    def _free_gpus(self) -> "List[str]":
        """Return the GPUs that no attempt uses; none while a dead attempt may have processes."""
        if not self.gpus or self.reaper:
            return []
        taken = {name for live in self.live.values() for name in live.gpus}
        return [name for name in self.gpus if name not in taken]

    def queue_cpu_requests(self) -> None:
        """Queue the running attempts that request CPUs."""
        for attempt in self.cpu_free.requests():
            if attempt in self.live:
                self.queue.add_running(attempt, self.cpu_free.cpus(attempt))

    def grant(self, attempt: int) -> float:
        """Grant an attempt its CPUs, and return how many; try again later if the disk is full."""
        if attempt not in self.cpu_free or attempt not in self.live:
            return 0
        try:
            cpus = self.cpu_free.grant(attempt)
        except OSError as error:
            why = "can't grant CPUs to attempt %d: %s" % (attempt, error.strerror)
            self.send({"kind": "fault", "message": why})
            return 0
        self.live[attempt] = self.live[attempt]._replace(cpus=cpus)
        self.signal(attempt, signal.SIGUSR1)
        return cpus

    def _release_cpus(self, attempt: int) -> None:
        """Free the CPUs of an attempt that only waits for the disk.

        The number is limited: on a very slow disk, waiting wrappers would fill the memory.
        """
        if attempt in self.live and len(self._computed) < self.queue.cpus:
            self._computed.add(attempt)
            self.live[attempt] = self.live[attempt]._replace(cpus=0.0)

    def drop(self, attempt: int) -> None:
        """Forget an attempt without a wrapper."""
        del self.live[attempt]
        self._computed.discard(attempt)
        self.cpu_free.forget(attempt)
        self.input_streams.forget(attempt)
        self.queue.drop(attempt)

    def _start(self, launch: Launch) -> float:
        """Create the folder of an attempt, start it, and return the CPUs that it takes."""
        attempt: int = launch["attempt"]
        launch["devices"] = self._free_gpus()[: launch["gpus"]] if self.gpus else None
        folder = self.paths.attempt(attempt).path
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            self.send({"kind": "already", "attempts": [attempt]})
            return 0
        except OSError as error:
            self._refuse_for(attempt, error)
            return 0
        try:
            cpus = self.cpu_free.begin(launch)
            pid = self.pool.start(launch)
        except OSError as error:
            self.cpu_free.forget(attempt)
            remove(folder)
            self._refuse_for(attempt, error)
            return 0
        self.live[attempt] = LiveWrapper(pid, cpus, True, tuple(launch["devices"] or ()))
        return cpus

    def _start_again(self, launch: Launch) -> None:
        """Start an attempt whose wrapper has ended before it read the launch."""
        attempt: int = launch["attempt"]
        folder = self.paths.attempt(attempt)
        remove(folder.file(b"wrapper"))
        try:
            pid = self.pool.start(launch)
        except OSError as error:
            self.drop(attempt)
            remove(folder.path)
            self._refuse_for(attempt, error)
        else:
            self.live[attempt] = self.live[attempt]._replace(pid=pid)

    def _refuse_for(self, attempt: int, error: OSError) -> None:
        reason = "disk-full" if error.errno in FULL else "launch-failed"
        self._refuse(attempt, reason, error.strerror or str(error))

    def _refuse(self, attempt: int, reason: str, why: str) -> None:
        self.send({"kind": "refused", "attempt": attempt, "reason": reason, "message": why})

    def ended(self, pid: int, status: int) -> None:
        """Record that a child process has ended."""
        attempt = self.pool.ended(pid)
        if attempt is None:
            return
        self.drop(attempt)
        if attempt_records.has_ended(self.paths.attempt(attempt)):
            self.send_end(attempt)  # it may have died before it did so itself
        else:
            self.reaper.begin(attempt, "its wrapper %s" % _ending(status), session=pid)

    def check_adopted(self) -> None:
        """Check whether adopted wrappers have ended, as no signal reports it."""
        for attempt, live in list(self.live.items()):
            if not live.is_reported and not self._is_busy(attempt):
                self.drop(attempt)

    def _is_busy(self, attempt: int) -> bool:
        record = attempt_records.read_record(self.paths.attempt(attempt))
        is_running = attempt_records.is_running(record, self.context.boot_id)
        if attempt_records.has_ended(self.paths.attempt(attempt)):
            self.send_end(attempt)  # it may have died before it did so itself
            return False
        if not is_running:
            self.reaper.begin(attempt, "its wrapper is gone")
        return is_running

    def reap_dead(self, children: "Collection[int]") -> None:
        """Continue to reap dead attempts; report those without processes."""
        for attempt, why in self.reaper.proceed(children).items():
            self.clean(attempt)
            self._report_dead(attempt, why)

    def _report_dead(self, attempt: int, why: str) -> None:
        self.send({"kind": "dead", "attempts": [{"attempt": attempt, "message": why}]})

    def signal(self, attempt: int, number: int) -> None:
        """Signal the wrapper of a running attempt."""
        self.pool.signal(self.live[attempt].pid, number)

    def send_end(self, attempt: int) -> None:
        """Send the end message of an attempt without a wrapper, or have it reaped."""
        name = attempt_records.end_name(self.paths.attempt(attempt))
        if name is None:
            self.reaper.begin(attempt, "its wrapper is gone")
        else:
            spool.send_end(self.paths.attempt(attempt), name)
            self.send_again(name)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return "was ended by %s" % text.signal_name(os.WTERMSIG(status))
    return "crashed, see the file `crash` in its folder"
