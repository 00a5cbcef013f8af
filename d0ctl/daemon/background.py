"""The daemon seen from outside: one per home, started in the background, stopped, its status."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from d0ctl import access
from d0ctl.config import Home
from d0ctl.daemon.systemd_service import Service, installed
from d0ctl.errors import DatabaseUnavailable, Refused
from d0ctl.store import Store, lifecycle, open_store
from d0ctl.store.clusters.other_homes import refuse_second_driver
from d0ctl.store.locks import daemon_lock
from d0ctl.store.mail import mail_queue
from d0ctl.store.nodes import leases
from d0ctl.store.nodes.holder import is_outdated, process_id
from d0ctl.store.nodes.leases import LEASE
from d0ctl.store.nodes.site import site_name

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 30.0

HANDOVER_S = 15.0
"""How long a daemon waits for another one that is ending or about to take the lease."""

LOOK_S = 0.02


@contextmanager
def only_daemon(home: Home) -> Iterator[None]:
    """Be the only daemon of the home until the block ends. Raises Refused if another one runs."""
    deadline = time.monotonic() + HANDOVER_S
    with daemon_lock(home) as is_taken:
        while not is_taken():
            with open_store(home, read_only=True) as store:
                holder = leases.living_holder(store, LEASE)
            if holder or time.monotonic() > deadline:
                who = f"process {process_id(holder)}" if holder else "another process"
                raise Refused(
                    f"a daemon is already running in the home `{home.root}`: {who}",
                    hint="d0ctl daemon status",
                )
            time.sleep(LOOK_S)
        yield


def start(home: Home, by: str) -> int:
    """Start a daemon in the background for a person and return its process id once it works.

    Raises Refused if another home of this machine drives the nodes of the site.
    If the home has a service, systemd starts it. Where systemd does not answer, such as in a
    cron job, the daemon starts without it.
    """
    asked = time.time()
    with open_store(home, create=True) as store:
        if holder := leases.living_holder(store, LEASE):
            return process_id(holder)
        refuse_second_driver(home, site_name(store))
        service = installed(home)
        pid = (service and _start_service(service, store)) or _start_process(home, store)
        lifecycle.attribute(store, "daemon start", by, since=asked)
    return pid


def _start_process(home: Home, store: Store) -> int:
    """Start a daemon that runs on when its parent ends."""
    log_file = home.logs / "daemon.log"
    with log_file.open("ab") as errors:
        before = errors.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "d0ctl", "--home", str(home.root), "daemon", "run"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
            cwd="/",
        )
    threading.Thread(target=process.wait, name="daemon's end", daemon=True).start()
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if leases.living_holder(store, LEASE):
            return process.pid
        if process.poll() is not None:
            break
        time.sleep(LOOK_S)
    raise _did_not_start(home, log_file, before)


def _start_service(service: Service, store: Store) -> int | None:
    """Have systemd start the daemon; None if it can't be asked, or the daemon does not work."""
    try:
        service.call("start", service.name)
    except Refused:
        return None
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if holder := leases.living_holder(store, LEASE):
            return process_id(holder)
        time.sleep(LOOK_S)
    return None


def _did_not_start(home: Home, log_file: Path, before: int) -> DatabaseUnavailable:
    """Return the error that the daemon itself printed, if any."""
    with log_file.open("rb") as file:
        file.seek(before)
        lines = file.read().decode(errors="replace").splitlines()
    printed = [n for n, line in enumerate(lines) if line.startswith("d0ctl: ")]
    if not printed and access.is_full(home.root):
        return access.full(home.root)
    if not printed:
        return DatabaseUnavailable("the daemon did not start", hint=f"tail {log_file}")
    reason, *hint = lines[printed[-1] :]
    return DatabaseUnavailable(
        f"the daemon did not start: {reason.removeprefix('d0ctl: ')}",
        hint=hint[0] if hint else f"tail {log_file}",
    )


def stop(home: Home, by: str) -> bool:
    """Stop the daemon for a person and wait for its end; packages continue.

    Return False when none runs.
    """
    asked = time.time()
    with open_store(home) as store:
        holder = leases.living_holder(store, LEASE)
        if holder is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(process_id(holder), signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while leases.living_holder(store, LEASE) == holder or not _is_unlocked(home):
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(f"daemon process {process_id(holder)} does not stop")
            time.sleep(LOOK_S)
        lifecycle.attribute(store, "daemon stop", by, since=asked)
    return True


def _is_unlocked(home: Home) -> bool:
    with daemon_lock(home) as is_taken:
        return is_taken()


def status(home: Home) -> dict[str, Any]:
    """Return whether a daemon runs, since when, and which notifications could not be sent."""
    with open_store(home, read_only=True) as store, store.reading():
        holder = leases.living_holder(store, LEASE)
        since = next((row["taken"] for row in leases.leases(store) if row["name"] == LEASE), None)
        unsent = mail_queue.unsent(store)
    if holder is None:
        return {"running": False, "pid": None, "since": None, "unsent": unsent, "outdated": False}
    return {"running": True, "pid": process_id(holder), "since": since, "unsent": unsent,
            "outdated": is_outdated(holder)}  # fmt: skip
