"""Archives: ended jobs in a file of their own, with everything that commands show of them.

An archive is a database like that of the home, so every reader of one can read the other.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from msgspec import Struct

from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.migrate import create
from d0ctl.store.opening import ARCHIVE_MARK, open_store, remove_database
from d0ctl.store.views import browse
from d0ctl_wrapper.disk import sync

_OF_JOB = "job_id in (select id from archived)"
_OF_STAGE = "stage_id in (select id from main.stage)"
_OF_PACKAGE = "package_id in (select id from main.package)"
_OF_TASK = "task_id in (select id from main.task)"
_OF_CONTENT = "content_id in (select id from main.content)"
_OF_ATTEMPT = "attempt_id in (select id from main.attempt)"

COPIED = {
    "job": "id in (select id from archived)", "job_text": _OF_JOB, "stage": _OF_JOB,
    "stage_order": _OF_JOB, "stage_count": _OF_STAGE, "alike": _OF_STAGE, "line": _OF_STAGE,
    "line_order": "line_id in (select id from main.line)", "requirement": _OF_JOB,
    "node_choice": "requirement_id in (select id from main.requirement)", "package": _OF_JOB,
    "binary": _OF_PACKAGE, "input": _OF_PACKAGE,
    "file": f"{_OF_JOB} or id in (select file_id from main.input)",
    "former_content": "file_id in (select id from main.file)", "forgotten_input": _OF_PACKAGE,
    "attempt": _OF_PACKAGE, "binary_attempt": _OF_ATTEMPT, "progress": _OF_PACKAGE,
    "note": _OF_ATTEMPT, "event": _OF_PACKAGE, "acknowledgement": _OF_PACKAGE,
    "past_acknowledgement": _OF_PACKAGE, "past_stop": _OF_JOB, "job_end": _OF_JOB,
    "node_record": _OF_JOB, "job_node_record": _OF_JOB,
    "run_time_history": _OF_STAGE, "task": _OF_JOB, "task_log": _OF_TASK, "dataset": _OF_TASK,
    "dataset_count": "dataset_id in (select id from main.dataset)",
    "content": "dataset_id in (select id from main.dataset)",
    "content_attempt": _OF_CONTENT, "event_range": _OF_CONTENT,
    "event_range_count": "dataset_id in (select id from main.dataset)",
    "action": "exists (select 1 from archived where"
              " instr(' ' || target || ' ', ' ' || archived.name || ' ') > 0"
              " or instr(' ' || target, ' ' || archived.name || '/') > 0"
              " or instr(' ' || target, ' ' || archived.name || ':') > 0)",
    "site": "true", "cluster": "true", "node": "true", "setting": "true", "software": "true",
    "outdated_copy": "file_id in (select id from main.file)",
    "removed_copy": "file_id in (select id from main.file)",
}  # fmt: skip
"""The tables of an archive, in the order in which they are filled, and the rows of each."""

LEFT_OUT = frozenset([
    "archive_copy", "bad_node", "broker_answer", "cache_finding", "cache_overflow",
    "cleanup_candidate", "content_status", "content_transition", "dataset_status",
    "dataset_transition", "delivery", "estimate", "event_range_status",
    "event_range_transition", "lacked_input", "launch_tally", "lease", "link_rate", "location",
    "need", "node_login", "node_outage", "node_sample", "notice", "notified", "notified_of",
    "outdated_package",
    "package_sample", "phase", "pilot", "problem", "purge", "replica", "resumed_job",
    "share_usage", "software_order", "streamed_input", "taken_event", "task_cursor",
    "task_status", "task_transition", "token", "transfer", "transition",
])  # fmt: skip
"""The other tables: work in progress, files on nodes, and the content of every database."""


_REMOVED = """
    update file set present = 0, removed = ?, removed_by = 'archive'
     where present = 1 and package_id is not null and result = 0 and late = 0 and stored is null
"""
"""The files whose copies are removed with their job: all but results and stored ones."""


_OF_OTHERS = "job_id not in (select id from archived)"

_LEFT_TO_READERS = (
    f"""
    update input set local = coalesce(local, (select name from file where id = file_id))
     where file_id in (select id from file where {_OF_OTHERS})
    """,
    f"""
    update or ignore file
       set name = ?1 || (select name from live.job where id = job_id) || '/' || name,
           job_id = (select package.job_id
                       from input join package on package.id = input.package_id
                      where input.file_id = file.id)
     where {_OF_OTHERS} and job_id in (select id from live.job)
    """,
)
"""Files of jobs that are not archived, which archived ones have read, become files from outside:
their names are paths in results/, as after these jobs were removed.
"""


class Archive(Struct, frozen=True):
    """An archive by its name, with its jobs and its size in bytes."""

    name: str
    jobs: tuple[str, ...]
    packages: int
    size: int


def free_name(home: Home, name: str) -> str:
    """Return the name, or if it is in use the first free `NAME.N`."""
    number, free = 1, name
    while home.archive_file(free).exists():
        free, number = f"{name}.{number}", number + 1
    return free


def names_since(home: Home, since: float) -> list[str]:
    """Return the names of the archives that were written since then: others have older attempts."""
    return [path.stem for path in sorted(home.archives.glob("*.db"))
            if path.stat().st_mtime >= since]  # fmt: skip


def archives(home: Home) -> Iterator[Archive]:
    """Yield the archives of a home, by name."""
    for path in sorted(home.archives.glob("*.db")):
        with open_store(Home(home.root, archive=path.stem), read_only=True) as store:
            jobs = browse.jobs(store, "*")
        packages = sum(job.packages for job in jobs)
        yield Archive(path.stem, tuple(job.name for job in jobs), packages, path.stat().st_size)


def write(store: Store, jobs: Sequence[int], name: str, *, now: float) -> int:
    """Write jobs into a new archive and return the number of the last change in it.

    Raises Refused if there is an archive of that name, or if it can't be written.
    """
    home = store.home
    target, aside = home.archive_file(name), home.archives / f".{name}.{os.getpid()}"
    try:
        home.archives.mkdir(mode=0o700, exist_ok=True)
        create(aside)
        with closing(sqlite3.connect(aside, isolation_level=None)) as connection:
            last = _copy(connection, home, jobs, now)
            connection.execute("update job set ended = ? where ended is null", (now,))
            connection.execute(f"pragma application_id = {ARCHIVE_MARK}")
            connection.execute("pragma journal_mode = delete")
        sync(os.fsencode(aside))
        os.link(aside, target)
        sync(os.fsencode(home.archives))
    except FileExistsError:
        raise Refused(f"archive `{name}` already exists", hint="--as NAME") from None
    except OSError as error:
        raise Refused(f"can't write `{target}`: {error.strerror}") from error
    finally:
        with suppress(FileNotFoundError):
            remove_database(aside)
    return last


def remove(home: Home, name: str) -> None:
    """Remove an archive."""
    remove_database(home.archive_file(name))


def is_changed(store: Store, jobs: Sequence[int], last: int) -> bool:
    """Return whether anything has happened to packages of these jobs after a change."""
    return any(store.value("is_changed_since", job=job, event=last) for job in jobs)


def _copy(connection: sqlite3.Connection, home: Home, jobs: Sequence[int], now: float) -> int:
    """Fill an empty database from that of the home, seen at one moment."""
    connection.execute("pragma foreign_keys = off")
    connection.execute("attach database ? as live", (f"{home.database.as_uri()}?mode=ro",))
    connection.execute("create temporary table archived (id integer primary key, name text)")
    connection.execute("begin")
    connection.executemany(
        "insert into archived select id, name from live.job where id = ?", ((job,) for job in jobs)
    )
    (last,) = connection.execute("select coalesce(max(id), 0) from live.event").fetchone()
    with _without_triggers(connection):
        for table, condition in COPIED.items():
            columns = ", ".join(_columns(connection, table))
            connection.execute(
                f"insert or replace into main.{table} ({columns})"
                f" select {columns} from live.{table} where {condition}"
            )
        connection.execute(
            "update file set package_id = null"
            " where package_id not in (select id from main.package)"
        )
        local, name = _LEFT_TO_READERS
        connection.execute(local)
        connection.execute(name, (f"{home.results}/",))
        connection.execute(_REMOVED, (now,))
    connection.execute("commit")
    connection.execute("detach database live")
    connection.execute("analyze")
    return int(last)


@contextmanager
def _without_triggers(connection: sqlite3.Connection) -> Iterator[None]:
    """Remove the triggers: the rows that they write are copied, too."""
    triggers = connection.execute(
        "select name, sql from main.sqlite_master where type = 'trigger'"
    ).fetchall()
    for name, _ in triggers:
        connection.execute(f'drop trigger "{name}"')
    yield
    for _, statement in triggers:
        connection.execute(statement)


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of a table that are not computed, each in quotes."""
    return [f'"{row[0]}"' for row in connection.execute("select name from pragma_table_info(?)",
                                                        (table,))]  # fmt: skip
