"""P2: from message files in the drop-box to committed rows, by a daemon of its own process."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from d0ctl.config import Home
from d0ctl.dropbox import DropBox
from d0ctl.nodes.transports.transport import Address
from d0ctl.schedule.choice import Decision
from d0ctl.site_key import Signer
from d0ctl.store import Store, open_store
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs.submission.submit import submit
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.nodes.leases import LEASE
from d0ctl.store.nodes.placement import assign
from d0ctl_wrapper.protocol import message
from tests.bench.measure import Figure, Options
from tests.bench.site import counts, daemon, job, passing_home
from tests.support.waiting import wait_until

ATTEMPTS = 5_000
PER_FRAME = 50
"""Messages in a file of the drop-box that a courier wrote."""

PACE = 1_000
"""Message files a second, for the latency."""

PACED_S = 5.0
LOOK_S = 0.002

BOOT = "00000000-0000-0000-0000-000000000000"

NEW_EVENTS = """
select event.id, attempt.id, event.new from event
  join attempt on attempt.id = event.attempt_id
 where event.id > ? and event.new in ('running', 'done')
"""


def measure(options: Options) -> Iterator[Figure]:
    """Rates as a courier and as local wrappers deliver, and the latency of the latter."""
    rate = 2 * ATTEMPTS / by_courier()
    yield Figure("P2", f"messages in files of {PER_FRAME} to rows", rate, "/s", "10,000/s")
    rate = 2 * ATTEMPTS / by_wrappers()
    yield Figure("P2", "messages in files of their own to rows", rate, "/s", "7,000/s")
    waits = sorted(latencies(int(PACE * PACED_S / 2)))
    for share, budget in ((0.5, "15 ms"), (0.99, "60 ms")):
        wait = waits[int(len(waits) * share)] * 1000
        yield Figure("P2", f"file to commit at {PACE}/s, p{share * 100:g}", wait, "ms", budget)


def by_courier() -> float:
    """Seconds for all messages in files of many."""
    with launched(ATTEMPTS) as (home, texts):
        box = DropBox(home.dropbox, Signer(home).tokens)
        for first in range(0, len(texts), PER_FRAME):
            box.deliver("far", [text for _, text in texts[first : first + PER_FRAME]])
        return _time_until_done(home)


def by_wrappers() -> float:
    """Seconds for all messages in files of their own."""
    with launched(ATTEMPTS) as (home, texts):
        for name, text in texts:
            _drop(home.dropbox, name, text)
        return _time_until_done(home)


def _time_until_done(home: Home) -> float:
    """From the daemon's hold of its lease, with all files there, to the last commit."""
    with driven(home) as store:
        began = time.monotonic()
        pause = threading.Event()
        while counts(store).get("done", 0) < ATTEMPTS:
            pause.wait(LOOK_S)
        return time.monotonic() - began


def latencies(count: int) -> list[float]:
    """Seconds from each file to the first look at the database that shows its commit."""
    with launched(count) as (home, texts):
        written: dict[str, float] = {}
        with driven(home) as store:
            writer = threading.Thread(target=_write_paced, args=(home.dropbox, texts, written))
            writer.start()
            seen = _see_all(store, 2 * count)
            writer.join()
    return [at - written[name] for name, at in seen.items()]


@contextmanager
def driven(home: Home) -> Iterator[Store]:
    """The store of a home whose daemon has begun."""
    with open_store(home, read_only=True) as store, daemon(home, 0):
        wait_until(lambda: leases.living_holder(store, LEASE), 30, "the daemon begins")
        yield store


def _write_paced(box: Path, texts: Sequence[tuple[str, str]], written: dict[str, float]) -> None:
    began = time.monotonic()
    pause = threading.Event()
    for number, (name, text) in enumerate(texts):
        pause.wait(max(0.0, began + number / PACE - time.monotonic()))
        written[name] = time.monotonic()
        _drop(box, name, text)


def _see_all(store: Store, count: int) -> dict[str, float]:
    """When each message's change of phase was first seen."""
    seen: dict[str, float] = {}
    last = 0
    pause = threading.Event()
    until = time.monotonic() + 60
    while len(seen) < count and time.monotonic() < until:
        for event, attempt, phase in store.connection.execute(NEW_EVENTS, [last]).fetchall():
            last = max(last, event)
            seen[f"{attempt}.{1 if phase == 'running' else 2}"] = time.monotonic()
        pause.wait(LOOK_S)
    return seen


def _drop(box: Path, name: str, text: str) -> None:
    """Put a file in, as a wrapper on this machine does."""
    aside = box / "tmp" / name
    aside.write_text(text)
    aside.rename(box / "new" / name)


@contextmanager
def launched(count: int) -> Iterator[tuple[Home, list[tuple[str, str]]]]:
    """A home with this number of launched attempts that have successors, and their messages."""
    with passing_home() as home, open_store(home) as store:
        node = registry.add(store, Address("far", "ssh", "nobody@127.0.0.1:1"), cpus=2 * count)
        submit(store, job(count, successors=True), now=time.time(), actor="bench")
        with store.writing():
            leases.take_lease(store, f"node {node}", now=time.time())
            facts = {"cpus": 2 * count, "base": "/nowhere", "boot_id": BOOT}
            contact.up(store, node, facts, now=time.time())
            assign(store, [Decision(i, node, 0) for i in range(1, count + 1)], now=time.time())
            new = launches.launch(store, [node], limit=count, now=time.time())[node]
        texts = [one for launch in new for one in _texts(launch["attempt"], launch["token"])]
        yield home, texts


def _texts(attempt: int, token: str) -> list[tuple[str, str]]:
    """The two files of an attempt: its start; its end."""
    now = time.time()
    common = {"attempt": attempt, "token": token, "time": now}
    binary = {"binary": 1, "started": now, "ended": now, "exit_code": 0, "signal": None}
    binary |= {"cpu": 0.001, "rss": 1_000_000}
    start = {"kind": "start", "pid": 1, "boot_id": BOOT, "utc_offset": 0}
    checksum = f"sha256:{attempt:064x}"
    output = {"name": f"out{attempt}", "path": f"/nowhere/{attempt}", "size": 1}
    end = {
        "kind": "end",
        "outcome": "successful",
        "started": now,
        "ended": now,
        "utc_offset": 0,
        "binary": 1,
        "reason": None,
        "detail": "",
        "exit_code": 0,
        "signal": None,
        "cpu": 0.001,
        "rss": 1_000_000,
        "stderr": "",
        "binaries": [binary],
        "outputs": [{**output, "checksum": checksum}],
        "missing": [],
    }
    return [
        (f"{attempt}.1", message.text([{**common, "seq": 1, **start}])),
        (f"{attempt}.2", message.text([{**common, "seq": 2, **end}])),
    ]
