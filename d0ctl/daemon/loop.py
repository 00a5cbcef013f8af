"""The loop that drives packages: a list of small steps, one transaction a turn."""

import json
import logging
import logging.handlers
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from d0ctl.config import Home
from d0ctl.daemon.background import only_daemon
from d0ctl.daemon.control import Control
from d0ctl.daemon.steps.apply_messages import settle_refused, sync
from d0ctl.daemon.steps.cleanup import expire, give_back_memory, sweep_caches, tidy
from d0ctl.daemon.steps.distribute import carry_files, distribute, forget_idle
from d0ctl.daemon.steps.input_stream import feed
from d0ctl.daemon.steps.monitor import give_up, hear, keep_contact, look_after, stand_in
from d0ctl.daemon.steps.notifications import notify, tell_last
from d0ctl.daemon.steps.purge import make_room
from d0ctl.daemon.steps.reload import heed
from d0ctl.daemon.steps.schedule import finish, schedule
from d0ctl.daemon.steps.software import see_to_software
from d0ctl.dropbox import DropBox, Letters
from d0ctl.errors import D0Error, DatabaseMoved, DatabaseUnavailable
from d0ctl.model import Counts
from d0ctl.nodes import carry
from d0ctl.nodes.courier import Said, Up
from d0ctl.nodes.descriptors import allow_many
from d0ctl.nodes.link import Site
from d0ctl.store import Store, open_store
from d0ctl.store.damaged_pages import refuse_damage
from d0ctl.store.jobs.removal import sweep
from d0ctl.store.nodes import contact, leases
from d0ctl.store.nodes.leases import LEASE
from d0ctl.store.nodes.placement import counts_of
from d0ctl.store.nodes.site import default, site_name
from d0ctl.store.nodes.standstill import is_settled
from d0ctl.units import clean

log = logging.getLogger("d0ctl")

Step = Callable[[Control, float], None]

STEPS: tuple[Step, ...] = (
    sync,
    hear,
    make_room,
    schedule,
    tidy,
    distribute,
    feed,
    carry_files,
    finish,
)
"""What a turn does, in this order."""

SLOW_STEPS: tuple[Step, ...] = (
    stand_in, heed, look_after, keep_contact, give_up, settle_refused, see_to_software,
    forget_idle, expire, sweep_caches, give_back_memory, notify,
)  # fmt: skip
"""What a turn does besides, once a second."""

REST_S = 0.005
MOST_REST_S = 0.03
"""From one turn to the next it takes as long as the turn took, within these bounds.

What comes meanwhile shares a transaction: turns grow with what there is to do.
"""

CHECK_S = 5.0
"""How long the start of a daemon may look for damaged pages."""

LOOK_S = 0.2
"""How often the database is asked whether another process has written."""

NO_JOB = 0
"""The number of no job."""

SLOW_S = 1.0
"""How often the slow steps are due."""


def run(home: Home, stop: threading.Event) -> None:
    """Drive all jobs until `stop` is set.

    Raises Refused if another daemon runs, and DatabaseUnavailable if the database is damaged,
    or later not in place any more.
    """
    allow_many()
    with only_daemon(home):
        with open_store(home, read_only=True) as store:
            refuse_damage(store, CHECK_S)
        with driving(home, None) as control:
            _drive_all(control, stop)


def _drive_all(control: Control, stop: threading.Event) -> None:
    with control.store.writing():
        stand_in(control, time.time())
    log.info("daemon %d drives %s", os.getpid(), control.home.root)
    try:
        while not stop.is_set():
            _turn_or_log(control, stop)
    finally:
        if control.store.is_in_place():
            with control.store.writing():
                leases.give_lease(control.store, LEASE)
        log.info("daemon %d ends", os.getpid())


def drive(home: Home, job: int, watch: Callable[[Counts], None], stop: threading.Event) -> None:
    """Drive one job until nothing in it can move without a person, or `stop` is set.

    Where a daemon runs, it drives and this only follows.
    """

    def look(store: Store) -> bool:
        watch(counts_of(store, job))
        return is_settled(store, job, now=time.time())

    _drive_until(home, job, look, stop)


def attend(home: Home, is_done: Callable[[Store], bool], stop: threading.Event) -> None:
    """Reach the nodes until `is_done` or `stop` is set, and schedule nothing.

    Where a daemon runs, it reaches them and this only looks.
    """
    _drive_until(home, NO_JOB, is_done, stop)


def _drive_until(
    home: Home, job: int, is_done: Callable[[Store], bool], stop: threading.Event
) -> None:
    with open_store(home) as store:
        contact.forget_untried(store, now=time.time())
        while not stop.is_set():
            store.check_in_place()
            if is_done(store):
                return
            if leases.living_holder(store, LEASE):
                stop.wait(LOOK_S)
            else:
                _drive_without_daemon(home, job, is_done, stop)


def _drive_without_daemon(
    home: Home, job: int, is_done: Callable[[Store], bool], stop: threading.Event
) -> None:
    with driving(home, job) as control:
        while not stop.is_set():
            _turn(control, stop)
            if is_done(control.store) or leases.living_holder(control.store, LEASE):
                return


@contextmanager
def driving(home: Home, job: int | None) -> Iterator[Control]:
    """All that driving needs, given back at the end: packages go on without us."""
    with open_store(home, resident=True) as store:
        sweep(store, now=time.time())
        dropbox = DropBox(home.dropbox, home.site_key())
        dropbox.sweep()
        for folder in home.asides:
            carry.sweep(folder)
        places = home.nodes, home.known_hosts, home.dropbox
        site = Site(
            site_name(store),
            *places,
            lease=default(store, "lease"),
            keep_logs=default(store, "keep-logs"),
            reserve=default(store, "control-reserve"),
        )
        control = Control(home, store, dropbox, site, job=job)
        with dropbox.watched(control.wake.set):
            try:
                yield control
            finally:
                _let_go(control)


def _let_go(control: Control) -> None:
    """End the couriers and give their leases back; send the notifications that are due.

    Nothing is written to a database that is not in place any more.
    """
    now = time.time()
    heard = {
        node: now - courier.silent for node, courier in control.couriers.items() if courier.is_up
    }
    for courier in control.couriers.values():
        courier.leave()
    for courier in control.couriers.values():
        courier.stop()
    control.porter.shutdown(cancel_futures=True)
    if control.store.is_in_place():
        with control.store.writing():
            for node in control.couriers:
                if node in heard:
                    contact.note_contact(control.store, node, None, at=heard[node])
                contact.unknown(control.store, node, now=time.time())
                leases.give_lease(control.store, f"node {node}")
        tell_last(control)
    elif control.post is not None:
        control.post.stop()


def _turn_or_log(control: Control, stop: threading.Event) -> None:
    """A turn of the daemon, which outlives trouble with the database, and any other."""
    try:
        _turn(control, stop)
    except DatabaseMoved as error:
        log.error("%s", error)
        raise
    except D0Error as error:
        log.error("%s", error)
        stop.wait(SLOW_S)
    except Exception:
        log.exception("a turn failed and is tried again")
        stop.wait(SLOW_S)


def _turn(control: Control, stop: threading.Event) -> None:
    """Wait until there may be something to do, and do it in one transaction."""
    control.store.check_in_place()
    woken = control.wake.wait(LOOK_S)
    stop.wait(max(0.0, control.turned + control.rest - time.monotonic()))
    control.wake.clear()
    version = control.store.version()
    is_slow = time.monotonic() - control.slow_done >= SLOW_S
    if not (woken or is_slow or version != control.seen):
        return
    control.seen = version
    began = time.monotonic()
    control.letters = control.dropbox.collect()
    while not control.mailbox.empty():
        control.reports.append(control.mailbox.get())
    try:
        _work(control, (*STEPS, *SLOW_STEPS) if is_slow else STEPS)
    except (DatabaseUnavailable, MemoryError):
        raise
    except Exception:
        if not _leave_out(control):
            raise
        control.wake.set()
        return
    control.turned = time.monotonic()
    control.rest = min(MOST_REST_S, max(REST_S, control.turned - began))
    if control.letters.has_more:
        control.rest = 0.0
        control.wake.set()
    if is_slow:
        control.slow_done = time.monotonic()


def _work(control: Control, steps: Sequence[Step]) -> None:
    """One transaction, and then what it leads to in the world."""
    now = time.time()
    control.afterwards = []
    with control.store.writing():
        for step in steps:
            step(control, now)
    control.reports.clear()
    for action in control.afterwards:
        try:
            action()
        except Exception:
            log.exception("what follows a turn failed in a part")


def _leave_out(control: Control) -> bool:
    """Try alone what a turn could not do together; leave out what can't be done; whether any was.

    Nodes may report anything, and the database may refuse their messages; those of others are
    applied all the same. If the database itself fails, everything is kept for the next turn.
    """
    reports, letters = control.reports, control.letters
    control.letters = Letters()
    troubles = 0
    while reports:
        report = reports[0]
        control.reports = [report]
        try:
            trouble = _try_alone(control, hear)
        finally:
            control.reports = reports
        reports.pop(0)
        if trouble:
            troubles += 1
            name = control.name_of(report.node)
            log.error("the report of node %s makes no sense: %s", name, clean(trouble))
            if report.node in control.couriers and isinstance(report, Up | Said):
                control.couriers[report.node].hang_up(f"it reports what makes no sense: {trouble}")
    if troubles:
        return True
    for message in letters.messages:
        control.letters = Letters([message])
        trouble = _try_alone(control, sync)
        if trouble:
            troubles += 1
            control.dropbox.reject_text("refused", json.dumps(message), trouble)
            if message["kind"] == "end":
                control.refuse_end(message["attempt"], trouble, time.time())
    control.dropbox.clear(letters.files)
    return troubles > 0


def _try_alone(control: Control, step: Step) -> str | None:
    """One step in a transaction of its own; what the trouble is, if there is any with it."""
    try:
        _work(control, (step,))
    except (DatabaseUnavailable, MemoryError):
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def log_to_file(home: Home) -> None:
    """Keep the daemon's log, the last ten megabytes of it."""
    handler = logging.handlers.RotatingFileHandler(
        home.logs / "daemon.log", maxBytes=5_000_000, backupCount=1
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
