"""Ways to drive packages: as the daemon, for one job, or only to reach the nodes."""

import gc
import logging
import logging.handlers
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from d0ctl.config import Home
from d0ctl.daemon.background import only_daemon
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import LOOK_S, Loop
from d0ctl.daemon.steps.monitor import take_daemon_lease
from d0ctl.daemon.steps.notifications import send_last
from d0ctl.daemon.steps.schedule import settle
from d0ctl.daemon.turn import Turn
from d0ctl.dropbox import DropBox
from d0ctl.errors import DatabaseUnavailable
from d0ctl.model import ACTOR, Counts
from d0ctl.nodes import carry
from d0ctl.nodes.link import Site
from d0ctl.nodes.transports.local import allow_many
from d0ctl.policy.remarks import Remark
from d0ctl.site_key import Signer
from d0ctl.store import Store, open_store
from d0ctl.store.clusters import pilots
from d0ctl.store.clusters.other_homes import marked_as_driver, refuse_second_driver, take_over
from d0ctl.store.damaged_pages import refuse_damage
from d0ctl.store.files import copies
from d0ctl.store.jobs.removal import sweep
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes import contact, leases
from d0ctl.store.nodes.leases import LEASE
from d0ctl.store.nodes.site import default, last_restore, site_name
from d0ctl.store.nodes.standstill import counts_of, is_settled
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.units import clean

log = logging.getLogger("d0ctl")

CHECK_S = 1.0
"""How long the start of a daemon may check for damaged pages."""

MOST_NEW = 20_000
"""After how many new objects the daemon searches them for cycles, which are rare."""

PILOTS_S, STOPPED_S = 20.0, 5.0
"""How long a process without a daemon waits at its end for its pilots to end, and when stopped."""

FORECAST_AFTER_S = 10.0
"""When caches are first forecast: messages that wait for a daemon come first."""

END_S = 2.0
"""How long the thread that takes events may need to end; it is left behind then."""

NO_JOB = 0
"""The number of no job: nothing is scheduled."""


def drive_all(home: Home, stop: threading.Event) -> None:
    """Be the daemon: drive all jobs until `stop` is set.

    Raises Refused if another daemon runs, and DatabaseUnavailable if the database is damaged,
    moved or removed.
    """
    allow_many()
    with only_daemon(home):
        with open_store(home, read_only=True) as store:
            refuse_damage(store, CHECK_S)
            note = Remark.LAST_DAEMON_DIED if leases.has_dead_holder(store, LEASE) else None
        with driving(home, None) as desk:
            _drive_all(desk, stop, note)


def _drive_all(desk: Desk, stop: threading.Event, note: Remark | None) -> None:
    with desk.store.writing():
        take_daemon_lease(desk, Turn(time.time()))
        _record(desk.store, "daemon start", note)
    _search_for_cycles_rarely()
    log.info("daemon %d drives %s", os.getpid(), desk.home.root)
    try:
        Loop(desk).run(stop)
    finally:
        if desk.store.is_in_place():
            with desk.store.writing():
                leases.give_lease(desk.store, LEASE)
                _record(desk.store, "daemon stop")
        log.info("daemon %d ends", os.getpid())


def _record(store: Store, verb: str, note: str | None = None) -> None:
    keep_action(store, verb=verb, target="", actor=ACTOR, note=note, packages=0, now=time.time())


def _search_for_cycles_rarely() -> None:
    """Let Python search for cycles rarely: not in modules, and seldom in the rows of a turn."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(MOST_NEW, *gc.get_threshold()[1:])


def drive(home: Home, job: int, watch: Callable[[Counts], None], stop: threading.Event) -> None:
    """Drive one job until nothing in it can move without a person, or `stop` is set.

    While a daemon runs, the daemon drives the job and this only follows.
    """

    def is_done(store: Store) -> bool:
        watch(counts_of(store, job))
        return is_settled(store, job, now=time.time()) and not copies.has_due_result(store, job)

    _drive_until(home, job, is_done, stop)


def keep_contact(home: Home, is_done: Callable[[Store], bool], stop: threading.Event) -> None:
    """Keep in contact with the nodes until `is_done` or `stop` is set; schedule nothing.

    While a daemon runs, the daemon has the contact and this only follows.
    """
    _drive_until(home, NO_JOB, is_done, stop)


def _drive_until(
    home: Home, job: int, is_done: Callable[[Store], bool], stop: threading.Event
) -> None:
    with open_store(home) as store, database_errors(home):
        contact.forget_untried(store, now=time.time())
        if not leases.living_holder(store, LEASE):
            with store.writing():
                settle(store, now=time.time())  # people may have changed what moves
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
    with driving(home, job) as desk, _leased(desk.store, leases.job_lease(job)):
        loop = Loop(desk)
        while not stop.is_set():
            loop.turn(stop)
            if leases.living_holder(desk.store, LEASE):
                return
            if is_done(desk.store):
                break
        _end_pilots(desk, loop, stop)


@contextmanager
def _leased(store: Store, name: str) -> Iterator[None]:
    """Hold a lease, by which others see what this process drives."""
    with store.writing():
        leases.take_lease(store, name, now=time.time())
    try:
        yield
    finally:
        if store.is_in_place():
            with store.writing():
                leases.give_lease(store, name)


def _end_pilots(desk: Desk, loop: Loop, stop: threading.Event) -> None:
    """End the pilots without packages: they would keep their allocations, with no one to end them.

    A batch system that does not answer keeps the process waiting for `PILOTS_S`, or for
    `STOPPED_S` if it is stopped. Nothing is scheduled meanwhile.
    """
    desk.is_over, desk.job = True, NO_JOB
    began = time.monotonic()
    while time.monotonic() - began < (STOPPED_S if stop.is_set() else PILOTS_S):
        if not any(pilots.has_idle(desk.store, cluster) for cluster in desk.batches):
            return
        loop.turn(threading.Event())


@contextmanager
def driving(home: Home, job: int | None) -> Iterator[Desk]:
    """Open a desk, and close it at the end; packages on nodes are not affected.

    Raises Refused if a process drives the nodes of this site from another home of this machine,
    and DatabaseUnavailable without a key.
    """
    with open_store(home, resident=True) as store, _as_driver(home, site_name(store)):
        take_over(store)
        sweep(store, now=time.time())
        contact.settle_abandoned(store, now=time.time())
        dropbox = DropBox(home.dropbox, Signer(home).tokens)
        dropbox.sweep()
        for folder in home.asides:
            carry.sweep(folder)
        site = Site(
            site_name(store),
            home.nodes,
            home.known_hosts,
            home.dropbox,
            lease=default(store, "lease"),
            keep_logs=default(store, "keep-logs"),
            driver=clean(f"{socket.gethostname()} {home.root.resolve()}"),
            restored=last_restore(store),
            reserve=default(store, "control-reserve"),
        )
        forecast_due = time.monotonic() + FORECAST_AFTER_S
        desk = Desk(home, store, dropbox, site, job=job, forecast_due=forecast_due)
        with dropbox.watched(desk.wake.set):
            desk.wake.set()  # for everything that came before
            try:
                yield desk
            finally:
                _close(desk)


@contextmanager
def _as_driver(home: Home, site: str) -> Iterator[None]:
    """Mark the home as driven; without a key it can't be, and takes over from no other home."""
    try:
        home.site_key()
    except DatabaseUnavailable:
        refuse_second_driver(home, site)  # another home that works is the better reason
        raise
    with marked_as_driver(home, site):
        yield


def _close(desk: Desk) -> None:
    """Stop the couriers and release their leases; send the notifications that are due.

    All couriers are asked to stop before the first is waited for, so that many slow nodes take
    no longer than one. Nothing is written to a database that was moved or removed.
    """
    now = time.time()
    # messages of this machine's packages come by the drop-box, not by its link
    contacts = {node: now if courier.address.kind == "local" else now - courier.silence_s
                for node, courier in desk.couriers.items() if courier.is_up}  # fmt: skip
    if desk.listener is not None:
        desk.listener.leave()
    for courier in desk.couriers.values():
        courier.leave()
    for courier in desk.couriers.values():
        courier.stop()
    for batch in desk.batches.values():
        batch.engine.end()
    if desk.broker is not None:
        desk.broker.end()
    if desk.lines is not None:
        desk.lines.end()
    if desk.tasks is not None:
        desk.tasks.end()
    if desk.listener is not None:
        desk.listener.join(END_S)
    desk.copier.shutdown(cancel_futures=True)
    if desk.store.is_in_place():
        with desk.store.writing():
            for node in desk.couriers:
                if node in contacts:
                    contact.note_contact(desk.store, node, None, at=contacts[node])
                contact.unknown(desk.store, node, now=time.time())
                leases.give_lease(desk.store, f"node {node}")
            for batch in desk.batches.values():
                leases.give_lease(desk.store, f"cluster {batch.engine.login.name}")
        send_last(desk)
    elif desk.delivery is not None:
        desk.delivery.stop()


def log_to_file(home: Home) -> None:
    """Write the daemon's log to a file, which keeps its last ten megabytes."""
    handler = logging.handlers.RotatingFileHandler(
        home.logs / "daemon.log", maxBytes=5_000_000, backupCount=1
    )
    _log_to(handler, "%(asctime)s %(levelname)s %(message)s")


def log_to_journal() -> None:
    """Write the daemon's log to stderr, with priorities that systemd's journal reads there."""
    for level, priority in ((logging.INFO, 6), (logging.WARNING, 4), (logging.ERROR, 3)):
        logging.addLevelName(level, f"<{priority}>")
    _log_to(logging.StreamHandler(), "%(levelname)s%(message)s")


def _log_to(handler: logging.Handler, form: str) -> None:
    handler.setFormatter(logging.Formatter(form))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
