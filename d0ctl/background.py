"""The daemon as others see it: started in the background, stopped, and whether it runs."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from d0ctl.config import Home
from d0ctl.errors import DatabaseUnavailable
from d0ctl.store import nodes, open_store, outbox
from d0ctl.store.nodes import LEASE

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 30.0


def start(home: Home) -> int:
    """Start a daemon in the background and return its process id once it works."""
    with open_store(home, create=True) as store:
        if holder := nodes.living_holder(store, LEASE):
            return int(holder.split()[1])
        log_file = home.logs / "daemon.log"
        with log_file.open("ab") as errors:
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
            if nodes.living_holder(store, LEASE):
                return process.pid
            if process.poll() is not None:
                break
            time.sleep(0.02)
    raise DatabaseUnavailable(f"the daemon did not start: see `{log_file}`")


def stop(home: Home) -> bool:
    """Stop the daemon and wait for it; packages go on. False when none runs."""
    with open_store(home) as store:
        holder = nodes.living_holder(store, LEASE)
        if holder is None:
            return False
        with suppress(ProcessLookupError):
            os.kill(int(holder.split()[1]), signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while nodes.living_holder(store, LEASE) == holder:
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(f"daemon {holder.split()[1]} does not stop")
            time.sleep(0.02)
    return True


def status(home: Home) -> dict[str, Any]:
    """Whether a daemon runs, since when, and what nobody could be told."""
    with open_store(home, read_only=True) as store:
        holder = nodes.living_holder(store, LEASE)
        since = next((row["taken"] for row in store.rows("leases") if row["name"] == LEASE), None)
        unsent = outbox.unsent(store)
    if holder is None:
        return {"running": False, "pid": None, "since": None, "unsent": unsent}
    return {"running": True, "pid": int(holder.split()[1]), "since": since, "unsent": unsent}
