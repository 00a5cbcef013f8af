"""The loop that drives packages: a list of small steps, one transaction per turn."""

import ctypes
import json
import logging
import threading
import time
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.steps.apply_messages import (
    apply_messages,
    listen_for_events,
    settle_refused_ends,
)
from d0ctl.daemon.steps.cleanup import (
    expire_outputs,
    foresee_caches,
    free_space,
    keep_capacities,
    make_room,
    remove_unneeded,
    sweep_caches,
)
from d0ctl.daemon.steps.courier_reports import act_on_reports
from d0ctl.daemon.steps.inventory import take_inventories
from d0ctl.daemon.steps.monitor import (
    assign_couriers,
    follow_clock,
    give_up_nodes,
    record_contact,
    reload_settings,
    take_daemon_lease,
)
from d0ctl.daemon.steps.notifications import queue_notifications
from d0ctl.daemon.steps.orders import send_inputs, send_orders
from d0ctl.daemon.steps.pilots import manage_pilots
from d0ctl.daemon.steps.retention import archive_ended
from d0ctl.daemon.steps.schedule import (
    rebroker,
    resume_in_time,
    schedule,
    settle_jobs,
    work_on_tasks,
)
from d0ctl.daemon.steps.software import manage_software
from d0ctl.daemon.steps.transfers import (
    begin_transfers,
    drop_idle_transfers,
    gather_inputs,
    notice_put_back,
    spread_hot_inputs,
)
from d0ctl.daemon.turn import Step, Turn
from d0ctl.dropbox import ReceivedMessages
from d0ctl.errors import D0Error, DatabaseMoved, DatabaseUnavailable
from d0ctl.nodes.courier_reports import NodeUp, Received, Report
from d0ctl.units import clean

log = logging.getLogger("d0ctl")

STEPS: tuple[Step, ...] = (
    # Incoming news comes first, so that the rest decides by the latest state: an end message
    # frees CPUs and makes packages ready in the turn in which it arrives. Messages go before
    # reports: an attempt that a relay does not list any more may have ended well by one.
    apply_messages,
    act_on_reports,
    free_space,
    schedule,
    gather_inputs,
    # Before the orders, which ask the nodes in the same turn to remove what this finds.
    remove_unneeded,
    send_orders,
    send_inputs,
    begin_transfers,
    settle_jobs,
    # With the messages of nodes, so that the last contact is right after a kill of the daemon.
    record_contact,
)
"""What a turn does, in this order."""

SLOW_STEPS: tuple[Step, ...] = (
    follow_clock, take_daemon_lease, reload_settings, manage_pilots, assign_couriers,
    give_up_nodes, settle_refused_ends, resume_in_time, rebroker, manage_software,
    drop_idle_transfers, spread_hot_inputs, notice_put_back, expire_outputs, keep_capacities,
    make_room, foresee_caches, sweep_caches, take_inventories, archive_ended, queue_notifications,
    work_on_tasks, listen_for_events,
)  # fmt: skip
"""What a turn does in addition, once in `SLOW_S`."""

SLOW_S = 1.0
"""How often the slow steps run."""

TRIM_EVERY_S = 60.0
"""How often freed memory is returned to the system."""

REST_S = 0.003
REST_SHARE = 2
MOST_REST_S = 0.015
"""The pause after a turn is a fraction of the turn, within these bounds, in seconds.

What arrives meanwhile shares a transaction, so turns grow with their work.
"""

LEAD_SHARE = 2
LONG_REST_S = 0.1
"""While all nodes have work, the pause is this fraction of that time, and at most this long.

Nothing waits then, and few large turns cost half as much as many small ones.
"""

AVERAGED = 16
"""About how many turns count for their average time."""

LOOK_S = 0.2
"""How often the loop checks whether another process has written to the database."""


class Loop(Struct):
    """The turns of one process; times are those of the monotonic clock."""

    desk: Desk
    reports: list[Report] = field(default_factory=list)
    """Reports of couriers that have not been acted on."""
    seen: tuple[int, int] = (0, 0)
    """The version of the database at the last turn."""
    ended: float = 0.0
    """When the last turn ended."""
    rest_s: float = 0.0
    """The shortest pause before the next turn."""
    needs_pass: bool = True
    """Whether the next turn schedules packages: the last one failed, or ran the slow steps."""
    slow_done: float = 0.0
    """When the slow steps last ran."""
    trimmed: float = 0.0
    """When freed memory was last returned."""

    def run(self, stop: threading.Event) -> None:
        """Take turns until `stop` is set; survive all errors but a moved or removed database."""
        while not stop.is_set():
            try:
                self.turn(stop)
            except DatabaseMoved as error:
                log.error("%s", error)
                raise
            except D0Error as error:
                log.error("%s", error)
                stop.wait(SLOW_S)
            except Exception:
                log.exception("a turn failed and is tried again")
                stop.wait(SLOW_S)

    def turn(self, stop: threading.Event) -> None:
        """Wait until there may be something to do, and do it in one transaction."""
        desk = self.desk
        desk.store.check_in_place()
        is_woken = desk.wake.wait(min(LOOK_S, max(0.0, desk.pass_due - time.monotonic())))
        is_due = time.monotonic() >= desk.pass_due
        is_woken = is_woken or is_due
        stop.wait(max(0.0, self.ended + self.rest_s - time.monotonic()))
        # cleared before anything is read: whatever arrives from here on wakes the next turn
        desk.wake.clear()
        version = desk.store.version()
        is_slow = time.monotonic() - self.slow_done >= SLOW_S
        if not (is_woken or is_slow or version != self.seen):
            return
        needs_pass = self.needs_pass or is_due or is_slow or version != self.seen
        desk.is_between_passes, self.needs_pass, self.seen = not needs_pass, True, version
        began = time.monotonic()
        received = desk.dropbox.collect()
        while not desk.mailbox.empty():
            self.reports.append(desk.mailbox.get())
        try:
            self.work((*STEPS, *SLOW_STEPS) if is_slow else STEPS, received, self.reports)
        except (DatabaseUnavailable, MemoryError):
            raise  # reports and letters are kept for the next turn
        except Exception:
            if not self._leave_out(received):
                raise
            desk.wake.set()
            return
        self.reports.clear()
        self.needs_pass = is_slow
        self.ended = time.monotonic()
        took_s = self.ended - began
        desk.turn_s += (took_s - desk.turn_s) / AVERAGED
        self.rest_s = rest_s(took_s, desk.lead_s)
        for courier in desk.couriers.values():
            courier.receiver.rest_s = self.rest_s
        if received.has_more:
            self.rest_s = 0.0
            desk.wake.set()
        if is_slow:
            self.slow_done = self.ended
            self._give_back_memory()

    def work(
        self,
        steps: Sequence[Step],
        received: ReceivedMessages | None = None,
        reports: Sequence[Report] = (),
    ) -> None:
        """Run steps in one transaction, and after its commit their side effects.

        If one side effect fails, the others still happen.
        """
        turn = Turn(time.time(), received or ReceivedMessages(), reports)
        with self.desk.store.writing():
            for step in steps:
                step(self.desk, turn)
        for action in turn.afterwards:
            try:
                action()
            except Exception:
                log.exception("an action that follows a turn failed")

    def _leave_out(self, received: ReceivedMessages) -> bool:
        """Apply reports and messages one by one; omit those that fail; return whether any did.

        Nodes may report anything, and the database may refuse their messages; those of others are
        still applied. If the database itself fails, everything is kept for the next turn.
        """
        desk, failures = self.desk, 0
        while self.reports:
            report = self.reports[0]
            error = self._try_alone(act_on_reports, reports=[report])
            self.reports.pop(0)
            if error:
                failures += 1
                name = desk.name_of(report.node)
                log.error("the report of node %s makes no sense: %s", name, clean(error))
                if report.node in desk.couriers and isinstance(report, NodeUp | Received):
                    why = f"its relay sent a report that makes no sense: {error}"
                    desk.couriers[report.node].hang_up(why)
        if failures:
            return True
        for message, sender in zip(received.messages, received.senders, strict=True):
            error = self._try_alone(apply_messages, received=ReceivedMessages([message], [sender]))
            if error:
                failures += 1
                desk.dropbox.reject_text("refused", json.dumps(message), error)
                if message["kind"] == "end":
                    desk.refuse_end(message["attempt"], error, time.time())
        desk.dropbox.clear(received.files)
        return failures > 0

    def _try_alone(
        self, step: Step, received: ReceivedMessages | None = None, reports: Sequence[Report] = ()
    ) -> str | None:
        """Run a step in a transaction of its own; return its error, if there is one."""
        try:
            self.work([step], received, reports)
        except (DatabaseUnavailable, MemoryError):
            raise
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def _give_back_memory(self) -> None:
        """Return freed memory to the system, from time to time.

        After messages of 30 MB, glibc kept 88 MB between blocks in use.
        """
        if time.monotonic() - self.trimmed >= TRIM_EVERY_S:
            self.trimmed = time.monotonic()
            trim_memory()


def rest_s(took_s: float, lead_s: float) -> float:
    """Return how long to pause after a turn, when all nodes have work for `lead_s`."""
    usual_s = min(MOST_REST_S, max(REST_S, took_s / REST_SHARE))
    return max(usual_s, min(LONG_REST_S, lead_s / LEAD_SHARE))


def trim_memory() -> None:
    """Have the C library return free memory; only glibc has a function for it."""
    malloc_trim: Callable[[int], object] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
