"""Scale: verbs and a restart on a home where a tenth of the packages is done and many are live."""

import os
import subprocess
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from d0ctl.config import Home
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.submission.submit import submit
from d0ctl.store.nodes import registry
from tests.bench.measure import Figure, Options, process, timed
from tests.bench.site import d0ctl, daemon, job, passing_home

LIVE = 1000

STEPS = (
    "insert into attempt (package_id, number, node_id, node_name, launched, started)"
    " select id, 1, 1, 'localhost', 1.0, 1.0 from package where id between ? and ?",
    "update package set phase = 'assigned', node_id = 1 where id between ? and ?",
    "update package set phase = 'starting', attempts = 1,"
    " attempt_id = (select id from attempt where package_id = package.id)"
    " where id between ? and ?",
    "update package set phase = 'running' where id between ? and ?",
)
"""What makes a range of packages live."""

ENDS = (
    "update attempt set ended = 2.0, outcome = 'successful' where package_id between ? and ?",
    "update file set present = 1, size = 7, checksum = 'sha256:" + "7" * 64 + "'"
    " where package_id between ? and ?",
    "insert into location (file_id, cluster_id, path, node_id, made)"
    " select id, 1, '/cache/' || id, 1, 2.0 from file where package_id between ? and ?",
    "update package set phase = 'done' where id between ? and ?",
)
"""What makes it done."""

DONE, FINDINGS = (0,), (5,)
"""Exit codes that are expected: doctor finds that the copies of this home are on no disk."""

CHUNK = 10_000
"""So many packages change in a transaction."""


def fill(store: Store, count: int) -> None:
    """Submit a job, let a tenth of it be done, and some be live."""
    registry.add_localhost(store)
    submit(store, job(count, files=True), now=time.time(), actor="bench", name="bench")
    done = count // 10
    for first in range(1, done + 1, CHUNK):
        _run(store, (*STEPS, *ENDS), first, min(first + CHUNK - 1, done))
    _run(store, STEPS, done + 1, done + LIVE)


def _fill_elsewhere(home: Home, count: int) -> None:
    """Fill a home in another process: what is started later counts the memory of this one."""
    child = os.fork()
    if not child:
        try:
            with open_store(home) as store:
                fill(store, count)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0, "the home could not be filled"


def _run(store: Store, statements: tuple[str, ...], first: int, last: int) -> None:
    with store.writing():
        for statement in statements:
            store.connection.execute(statement, (first, last))


def measure(options: Options) -> Iterator[Figure]:
    """Seconds and memory of each verb as a whole process, and of a restart."""
    count = 1_000_000 if options.full else 100_000
    with passing_home() as home:
        with timed() as clock:
            _fill_elsewhere(home, count)
        note = f"{count:,} packages, {count // 10:,} done, {LIVE:,} live; {clock.wall:.0f} s"
        yield _figure("bytes a package in the database", _size(home) / count, "B", note)
        done, waiting = count // 10, count // 2
        for words, expected in (
            (("status",), DONE),
            (("status", "bench"), DONE),
            (("status", "bench/1/1-100:successful"), DONE),
            (("status", f"bench/1/{done}/1"), DONE),
            (("why", f"bench/1/{done + 1}/1"), DONE),
            (("why", f"bench/1/{waiting}/1"), DONE),
            (("history", f"bench/1/{done}/1"), DONE),
            (("kill", f"bench/1/{waiting}-{waiting + 999}/1", "--yes"), DONE),
            (("retry", f"bench/1/{waiting}-{waiting + 999}/1:canceled", "--yes"), DONE),
            (("hold", "bench", "--yes"), DONE),
            (("release", "bench", "--yes"), DONE),
            (("doctor",), FINDINGS),
            (("backup", str(home.root.parent / "copy.db")), DONE),
        ):
            yield verb(home, words, expected)
        yield Figure("P9", "restart, to the first new attempt", _restart(home), "s", "3 s")


def verb(home: Home, words: Sequence[str], expected: Collection[int]) -> Figure:
    """Seconds of a verb as a whole process; none of one that ends with another exit code."""
    what = f"d0ctl {' '.join(word for word in words[:2] if not word.startswith('/'))}"
    try:
        ended = process(d0ctl(home, *words), expected=expected)
    except subprocess.CalledProcessError as error:
        return Figure("scale", what, None, "s", note=f"failed: exit code {error.returncode}")
    return _figure(what, ended.wall, "s", f"{ended.cpu:.2f} s of CPU, {ended.peak / 1e6:.0f} MB")


def _restart(home: Home) -> float:
    """Seconds from the start of a daemon to the first attempt that it makes."""
    with open_store(home, read_only=True) as store:
        query = "select max(id) from attempt"
        last = store.connection.execute(query).fetchone()[0]
        began = time.monotonic()
        with daemon(home, 0):
            while store.connection.execute(query).fetchone()[0] == last:
                time.sleep(0.01)
            return time.monotonic() - began


def _size(home: Home) -> int:
    files = (Path(f"{home.database}{end}") for end in ("", "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _figure(what: str, value: float, unit: str, note: str) -> Figure:
    return Figure("scale", what, value, unit, note=note)
