"""P3: submission of large jobs, as a whole process, and against the bare insertion of its rows."""

import sqlite3
import time
from collections.abc import Iterator

from d0ctl.config import Home
from d0ctl.store import open_store
from d0ctl.store.jobs.submission.submit import submit
from tests.bench.measure import Ended, Figure, Options, process, timed
from tests.bench.site import d0ctl, job, passing_home

BUDGETS = {
    100_000: ("4 s", "600 MB"),
    1_000_000: ("40 s", "600 MB"),
}
TABLES = ("line", "package", "binary", "file", "input")
SCHEMA = (
    "select sql from sqlite_master where tbl_name = ? and type <> 'trigger' and sql is not null"
)

JOB = """job: bench
stages:
  - name: a
    lines:
      - for: {{i: {{range: [1, {count}]}}}}
        run: "process /etc/hostname {{i}} > out{{i}}.dat"
        inputs: [{{file: /etc/hostname, acquire: none}}]
        outputs: ["out{{i}}.dat"]
"""


def measure(options: Options) -> Iterator[Figure]:
    """Seconds and memory of `d0ctl submit`; the ratio at 10^5 only, its rows lie in memory."""
    for count, (seconds, memory) in BUDGETS.items():
        if count > 100_000 and not options.full:
            continue
        ended = submitted(count)
        yield Figure("P3", f"d0ctl submit, {count:,} packages", ended.wall, "s", seconds)
        yield Figure("P3", "  CPU", ended.cpu, "s")
        yield Figure("P3", "  peak memory", ended.peak / 1e6, "MB", memory)
    yield Figure("P3", "in the store over bare insertion, CPU", over_bare(100_000), "x", "3")


def submitted(count: int) -> Ended:
    """The whole process, from the job file to the visible job."""
    with passing_home() as home:
        path = home.root.parent / "bench.yaml"
        path.write_text(JOB.format(count=count))
        return process(d0ctl(home, "submit", path))


def over_bare(count: int) -> float:
    """CPU time of the store's submission over that of inserting the same rows and no more."""
    with passing_home() as home:
        with open_store(home) as store, timed() as ours:
            submit(store, job(count, files=True), now=time.time(), actor="bench")
        return ours.cpu / bare_insertion(home)


def bare_insertion(home: Home) -> float:
    """CPU seconds to insert the rows of a home from memory, in one transaction.

    The tables have their keys and indexes, but no triggers and no foreign keys are looked at;
    columns that are null in all rows are left out.
    """
    source = sqlite3.connect(home.database)
    target = sqlite3.connect(home.root.parent / "bare.db", isolation_level=None)
    target.execute("pragma journal_mode = wal")
    target.execute("pragma synchronous = full")
    for table in TABLES:
        for row in source.execute(SCHEMA, [table]):
            target.execute(row[0])
    rows = [_rows(source, table) for table in TABLES]
    with timed() as clock:
        target.execute("begin")
        for insertion, values in rows:
            target.executemany(insertion, values)
        target.execute("commit")
    source.close()
    target.close()
    return clock.cpu


def _rows(source: sqlite3.Connection, table: str) -> tuple[str, list[tuple[object, ...]]]:
    """The statement that inserts the rows of a table, and the rows."""
    names = [row[1] for row in source.execute(f"pragma table_info({table})")]
    used = [n for n in names if source.execute(f'select count("{n}") from {table}').fetchone()[0]]
    columns = ", ".join(f'"{name}"' for name in used)
    insertion = f"insert into {table} ({columns}) values ({', '.join('?' * len(used))})"
    return insertion, source.execute(f"select {columns} from {table}").fetchall()
