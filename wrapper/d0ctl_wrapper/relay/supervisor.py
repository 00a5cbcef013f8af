"""The only place where a relay starts, adopts and kills attempts."""

import os
import signal
from typing import Any, Callable, Collection, Dict, List, NamedTuple

from d0ctl_wrapper.attempt import orders, wrapper
from d0ctl_wrapper.attempt.run import detach
from d0ctl_wrapper.attempt.run.detach import Setting
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.host import process, records, spool
from d0ctl_wrapper.protocol import launch as launches
from d0ctl_wrapper.protocol import text
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import remove
from d0ctl_wrapper.relay.inputs import Feeding
from d0ctl_wrapper.relay.queue import Queue
from d0ctl_wrapper.relay.reaper import Burial
from d0ctl_wrapper.relay.slots import Slots, needs_none

Frame = Dict[str, Any]

REFUSALS = {
    detach.EXIT_DISK_FULL: ("disk-full", "the disk is full"),
    detach.EXIT_LAUNCH_FAILED: ("launch-failed", "the attempt's folder cannot be written"),
}


class Live(NamedTuple):
    """A wrapper that runs: a child of this relay, or adopted from a former one."""

    pid: int
    cpus: int
    is_child: bool


class Keeper:
    """The attempts of one node, as far as its relay has to care for them."""

    def __init__(
        self,
        setting: Setting,
        cpus: int,
        send: "Callable[[Frame], None]",
        again: "Callable[[bytes], None]",
        clean: "Callable[[int], None]",
    ) -> None:
        self.setting = setting
        self.paths = setting.paths
        self.send = send
        self.again = again
        self.clean = clean
        self.queue = Queue(cpus)
        self.live: "Dict[int, Live]" = {}
        self.children: "Dict[int, int]" = {}
        self.burial = Burial(setting.paths)
        self.slots = Slots(setting.paths)
        self.feeding = Feeding(setting.paths)
        self._unfed: "List[Frame]" = []

    def adopt(self) -> "List[Frame]":
        """Take over from former relays, and list all attempts with their states."""
        states = {one: self._adopt(one) for one in records.recorded(self.paths)}
        for attempt in self.burial.proceed(self.children):
            states[attempt] = "dead"
        return [{"attempt": one, "state": state} for one, state in states.items()]

    def _adopt(self, attempt: int) -> str:
        record = records.read_record(self.paths.attempt(attempt))
        is_running = records.is_running(record, self.setting.boot_id)
        if records.has_ended(self.paths.attempt(attempt)):  # last, as it may end while we look
            return "ended"
        if record is not None and record.boot_id != self.setting.boot_id:
            return "dead"
        if record is not None and is_running:
            cpus = self.slots.adopt(attempt, record.cpus)
            self.live[attempt] = Live(record.pid, cpus, False)
        else:
            self.burial.begin(attempt, "its wrapper is gone")
        return "running"

    def launch(self, values: "List[Any]") -> None:
        """Queue launches, and start those for which there are processors."""
        accepted: "List[int]" = []
        already: "List[int]" = []
        for value in values:
            launch = self._check(value)
            if launch is not None:
                is_here = self._is_here(launch["attempt"])
                (already if is_here else accepted).append(launch["attempt"])
                if not is_here and needs_none(launch):
                    self._start(launch)
                elif not is_here:
                    self.queue.add(launch)
        for kind, which in (("accepted", accepted), ("already", already)):
            if which:
                self.send({"kind": kind, "attempts": which})
        self.fill()

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

    def _is_here(self, attempt: int) -> bool:
        return attempt in self.queue or records.exists(self.paths.attempt(attempt))

    def fill(self) -> None:
        """Start what waits, as long as there are processors."""
        used = sum(live.cpus for live in self.live.values())
        waiting = self.queue.next(used)
        while waiting is not None:
            used += self._start(waiting.launch) if waiting.launch else self._grant(waiting.attempt)
            waiting = self.queue.next(used)

    def look_for_asking(self) -> None:
        """Queue the wrappers that are done with what takes no processors."""
        for attempt in self.slots.asking():
            if attempt in self.live:
                self.queue.add_running(attempt, self.slots.cpus(attempt))

    def _grant(self, attempt: int) -> int:
        """Let a wrapper take its processors, and give how many; tried again on a full disk."""
        if attempt not in self.slots or attempt not in self.live:
            return 0
        try:
            cpus = self.slots.grant(attempt)
        except OSError as error:
            why = "attempt %d cannot be told to go on: %s" % (attempt, error.strerror)
            self.send({"kind": "fault", "message": why})
            return 0
        self.live[attempt] = self.live[attempt]._replace(cpus=cpus)
        process.send(self.live[attempt].pid, signal.SIGUSR1)
        return cpus

    def feed(self, entries: "List[Frame]") -> None:
        """Hand inputs to attempts that run already; what a full disk refuses is tried again."""
        for entry in entries:
            attempt = entry["attempt"]
            if attempt not in self.live:
                continue
            try:
                is_new = self.feeding.hand(attempt, entry["inputs"], entry["closed"])
            except OSError as error:
                self._unfed.append(entry)
                why = "inputs of attempt %d cannot be noted: %s" % (attempt, error.strerror)
                self.send({"kind": "fault", "message": why})
                continue
            if is_new:
                process.send(self.live[attempt].pid, signal.SIGUSR1)
            if entry["closed"]:
                self._grant(attempt)

    def feed_again(self) -> None:
        """Hand over what could not be noted before."""
        entries, self._unfed = self._unfed, []
        self.feed(entries)

    def _let_go(self, attempt: int) -> None:
        """Forget what is kept about an attempt that lives no more."""
        del self.live[attempt]
        self.slots.forget(attempt)
        self.feeding.forget(attempt)
        self.queue.drop(attempt)

    def _start(self, launch: Launch) -> int:
        """Claim an attempt, fork its wrapper, and give the processors that it takes."""
        attempt: int = launch["attempt"]
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
            cpus = self.slots.begin(launch)
            pid = detach.fork(self.setting, launch, wrapper.run)
        except OSError as error:
            self.slots.forget(attempt)
            remove(folder)
            self._refuse_for(attempt, error)
            return 0
        self.live[attempt] = Live(pid, cpus, True)
        self.children[pid] = attempt
        return cpus

    def _refuse_for(self, attempt: int, error: OSError) -> None:
        reason = "disk-full" if error.errno in FULL else "launch-failed"
        self._refuse(attempt, reason, error.strerror or str(error))

    def _refuse(self, attempt: int, reason: str, why: str) -> None:
        self.send({"kind": "refused", "attempt": attempt, "reason": reason, "message": why})

    def ended(self, pid: int, status: int) -> None:
        """Take note that a child of ours has ended."""
        attempt = self.children.pop(pid, None)
        if attempt is None:
            return
        self._let_go(attempt)
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        if code in REFUSALS:
            self._refuse(attempt, *REFUSALS[code])
        elif code != detach.EXIT_ENDED and not records.has_ended(self.paths.attempt(attempt)):
            self.burial.begin(attempt, "its wrapper %s" % _how(status), session=pid)

    def check_adopted(self) -> None:
        """Look whether adopted wrappers have ended, of which no signal tells us."""
        for attempt, live in list(self.live.items()):
            if not live.is_child and not self._is_busy(attempt):
                self._let_go(attempt)

    def _is_busy(self, attempt: int) -> bool:
        record = records.read_record(self.paths.attempt(attempt))
        is_running = records.is_running(record, self.setting.boot_id)
        if records.has_ended(self.paths.attempt(attempt)):
            return False
        if not is_running:
            self.burial.begin(attempt, "its wrapper is gone")
        return is_running

    def bury(self, children: "Collection[int]") -> None:
        """Go on ending what dead wrappers left; report the attempts of which nothing lives."""
        for attempt, why in self.burial.proceed(children).items():
            self.clean(attempt)
            self._report_dead(attempt, why)

    def _report_dead(self, attempt: int, why: str) -> None:
        self.send({"kind": "dead", "attempts": [{"attempt": attempt, "message": why}]})

    def kill(self, which: "List[int]", kill: orders.Kill) -> None:
        """End attempts; those that only waited are forgotten."""
        absent = []
        self.check_adopted()
        for attempt in which:
            if attempt in self.live and not records.has_ended(self.paths.attempt(attempt)):
                self._kill(attempt, kill)
            elif self.queue.drop(attempt) or not records.exists(self.paths.attempt(attempt)):
                absent.append(attempt)
            else:
                self._tell_end(attempt)
        self._send_absent(absent)

    def resend(self, which: "List[int]") -> None:
        """Send end messages again, those of running attempts when there are any."""
        absent = []
        for attempt in which:
            if records.has_ended(self.paths.attempt(attempt)):
                self._tell_end(attempt)
            elif attempt not in self.live and attempt not in self.queue:
                if records.exists(self.paths.attempt(attempt)):
                    self._tell_end(attempt)
                else:
                    absent.append(attempt)
        self._send_absent(absent)

    def forget(self, which: "List[int]") -> "List[int]":
        """Drop waiting attempts, and give those whose folders may be removed."""
        for attempt in which:
            self.queue.drop(attempt)
            if attempt in self.live:
                why = "attempt %d is still running and cannot be forgotten" % attempt
                self.send({"kind": "fault", "message": why})
        return [attempt for attempt in which if attempt not in self.live]

    def _kill(self, attempt: int, kill: orders.Kill) -> None:
        self._note(attempt, lambda one: orders.ask_kill(self.paths.attempt(one), kill))
        process.send(self.live[attempt].pid, signal.SIGTERM)

    def pause(self, which: "List[int]", grace: float) -> None:
        """Have attempts stand still; those that wait are not started."""
        for attempt in which:
            self.queue.pause(attempt)
            self._order(attempt, lambda one: orders.ask_pause(self.paths.attempt(one), grace))

    def resume(self, which: "List[int]") -> None:
        """Let attempts go on."""
        for attempt in which:
            self.queue.resume(attempt)
            self._order(attempt, lambda one: orders.ask_resume(self.paths.attempt(one)))
        self.fill()

    def _order(self, attempt: int, note: "Callable[[int], None]") -> None:
        """Note something for a running wrapper, and wake it."""
        if attempt in self.live:
            self._note(attempt, note)
            process.send(self.live[attempt].pid, signal.SIGUSR1)

    def _note(self, attempt: int, note: "Callable[[int], None]") -> None:
        try:
            note(attempt)
        except OSError as error:
            why = "an order for attempt %d cannot be noted: %s" % (attempt, error.strerror)
            self.send({"kind": "fault", "message": why})

    def _tell_end(self, attempt: int) -> None:
        """Send the end message of an attempt without a wrapper, or say that there is none."""
        name = records.end_name(self.paths.attempt(attempt))
        if name is None:
            self.burial.begin(attempt, "its wrapper is gone")
        else:
            spool.send_end(self.paths.attempt(attempt), name)
            self.again(name)

    def _send_absent(self, which: "List[int]") -> None:
        if which:
            self.send({"kind": "absent", "attempts": which})


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return "was ended by %s" % text.signal_name(os.WTERMSIG(status))
    return "crashed, see the file `crash` in its folder"
