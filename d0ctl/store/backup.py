"""The whole database, written to a file and restored from one."""

import itertools
import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from shlex import quote

from d0ctl.config import Home
from d0ctl.errors import BadUsage, DatabaseUnavailable, NotFound, Refused
from d0ctl.store.clusters.other_homes import (
    another_is_in_use,
    home_in_use,
    is_used,
    living_holders,
)
from d0ctl.store.connection import Store
from d0ctl.store.damaged_pages import damage
from d0ctl.store.files import moved_home
from d0ctl.store.locks import daemon_lock, writer_lock
from d0ctl.store.mail import mail_queue, new_events
from d0ctl.store.migrate import migrate
from d0ctl.store.nodes.holder import process_id
from d0ctl.store.nodes.site import (
    SUCCESSOR,
    site_name,
)
from d0ctl.store.opening import ARCHIVE_MARK, refuse_newer, remove_database, schema_version
from d0ctl_wrapper.disk import sync

PAGES = 2_000
"""How many pages are copied between two pauses for other writers."""

GENERATION_BITS = 40
"""Ids of a generation begin at its number shifted by this many bits, so none is used twice."""

RESTORED = "the database was restored from a backup, after which it was probably sent"
"""Why a message that was in transit at the time of a backup is not sent any more."""


def _free(taken: Path) -> Path:
    """Return an unused name in the same folder."""
    names = (taken.with_name(f"{taken.stem}-{n}{taken.suffix}") for n in itertools.count(2))
    return next(name for name in names if not name.exists())


def back_up(store: Store, target: Path) -> int:
    """Write the database to a new file, while others read and write; return its size in bytes.

    Raises Refused if something of that name exists, and DatabaseUnavailable if the
    finished copy is damaged: then nothing is left.
    """
    if target.is_dir():
        raise Refused(
            f"`{target}` is a folder", hint=f"d0ctl backup {quote(str(target / 'd0ctl-backup.db'))}"
        )
    if target.exists() and not target.is_file():
        raise Refused(f"`{target}` is not a regular file, so no backup can be written to it",
                      hint="d0ctl backup FILE, of a name that does not exist yet")  # fmt: skip
    if target.exists():
        raise Refused(
            f"`{target}` already exists", hint=f"d0ctl backup {quote(str(_free(target)))}"
        )
    if not target.absolute().parent.is_dir():
        raise NotFound(f"there is no folder `{target.absolute().parent}`")
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with closing(sqlite3.connect(aside)) as copy:
            aside.chmod(0o600)
            store.connection.backup(copy, pages=PAGES)
            copy.execute("pragma journal_mode = delete")
            fault = damage(copy)
        if fault:
            raise DatabaseUnavailable(
                f"the database `{store.home.database}` is damaged, so there is no backup: {fault}",
                hint="d0ctl doctor; then d0ctl restore FILE, of the last good backup",
            )
        sync(os.fsencode(aside))
        os.link(aside, target)
        sync(os.fsencode(target.parent))
    except OSError as error:
        raise Refused(f"can't write `{target}`: {error.strerror}") from error
    except sqlite3.Error as error:
        raise DatabaseUnavailable(f"can't copy the database to `{target}`: {error}") from error
    finally:
        remove_database(aside)
    return target.stat().st_size


def restore(home: Home, source: Path, *, now: float, from_other_site: bool = False) -> Path | None:
    """Replace the database by a backup; return the path of the former one, if there was any.

    The site enters a new generation: nodes end the attempts that the backup does not know, and
    ids continue where no former attempt or file can have been. Raises NotFound, BadUsage for a file
    that is no backup, and Refused while a process drives packages, or if the backup is of
    another site and that is not asked for.
    """
    check_backup(source)
    if not from_other_site:
        refuse_other_site(home, source)
    home.create(with_key=newest_attempt(source) == 0)
    aside = home.root / f".restore.{os.getpid()}"
    try:
        _copy(source, aside)
        migrate(aside)
        is_in_use = is_used(home, site_of(source))
        _begin_generation(home, aside, now, is_in_use=is_in_use)
        sync(os.fsencode(aside))
        previous = _put_in_place(home, aside, now)
        if not is_in_use:  # it is a copy, until it has driven the nodes
            home.driver.unlink(missing_ok=True)
        return previous
    except sqlite3.Error as error:
        raise DatabaseUnavailable(f"can't restore `{source}`: {error}") from error
    finally:
        remove_database(aside)


def check_backup(source: Path) -> None:
    """Raise unless the file is a whole database of d0ctl that this release can read."""
    if not source.exists():
        raise NotFound(f"there is no file `{source}`")
    if not source.is_file():
        raise BadUsage(f"`{source}` is not a regular file, so it is not a backup")
    try:
        with closing(sqlite3.connect(_uri(source), uri=True)) as backup:
            version = schema_version(backup)
            row = backup.execute("select name from site where generation > 0").fetchone()
            backup.execute("select phase from package limit 1").fetchone()
            (mark,) = backup.execute("pragma application_id").fetchone()
            fault = damage(backup)
    except sqlite3.Error as error:
        raise BadUsage(f"`{source}` is not a backup of d0ctl: {error}") from error
    if fault:
        raise BadUsage(f"`{source}` is damaged: {fault}")
    if row is None:
        raise BadUsage(f"`{source}` is not a backup of d0ctl: it holds another program's tables")
    if mark == ARCHIVE_MARK:
        raise BadUsage(f"`{source}` is an archive and not a backup: it has only archived jobs",
                       hint=f"d0ctl status --archive {quote(source.stem)}")  # fmt: skip
    refuse_newer(source, version)


def newest_attempt(source: Path) -> int:
    """Return the id of the newest attempt of a backup; 0 if it has none."""
    with moved_home.reading(source) as store:
        return int(store.value("newest_attempt") or 0)


def site_of(source: Path) -> str:
    """Return the id of the site of a backup."""
    with closing(sqlite3.connect(_uri(source), uri=True)) as backup:
        return str(backup.execute("select name from site").fetchone()[0])


def refuse_other_site(home: Home, source: Path) -> None:
    """Raise Refused if a backup is of another site than the home."""
    site = site_of(source)
    site_now = _present_site(home)
    if site_now not in (None, site):
        raise Refused(
            f"`{source}` is a backup of site {site}, and this home is of site {site_now}",
            hint=f"d0ctl restore {quote(str(source))} --other-site, "
            f"with the `site.key` of that site in `{home.root}`",
        )


def _present_site(home: Home) -> str | None:
    """Return the site of the home, from its database or else from its own node."""
    try:
        with closing(sqlite3.connect(_uri(home.database), uri=True)) as database:
            return str(database.execute("select name from site").fetchone()[0])
    except (sqlite3.Error, TypeError):  # missing, empty or broken
        nodes = [path.name for path in home.nodes.glob("*") if path.is_dir()]
        return nodes[0] if len(nodes) == 1 else None


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(_uri(source), uri=True)) as backup:
        with closing(sqlite3.connect(target)) as copy:
            target.chmod(0o600)
            backup.backup(copy)


def _begin_generation(home: Home, database: Path, now: float, *, is_in_use: bool) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        store = Store(home, connection)
        store.change("raise_generation", known=_known_generation(home))
        generation = int(store.value("generation"))
        for table in ("attempt", "file", "job", "pilot"):
            store.change("raise_ids", table=table, least=generation << GENERATION_BITS)
        store.change("drop_leases")
        store.change("forget_contacts", now=now)
        store.change("drop_task_locks")
        if is_in_use and not another_is_in_use(store):
            moved_home.record(store)
        newer = home_in_use(home, site_name(store))
        if newer is not None and moved_home.previous_home(store) is None:
            store.change("record_home", home=str(newer))  # or nothing would name it any more
        _pass_mail(store, now)
        connection.execute("pragma journal_mode = delete")


def _known_generation(home: Home) -> int:
    """Return the last generation that the home has had, by its present and former databases."""
    known = 0
    for path in (home.database, *home.root.glob(f"{home.database.name}.before-*")):
        with suppress(sqlite3.Error), closing(sqlite3.connect(_uri(path), uri=True)) as database:
            rows = database.execute("select generation from site").fetchall()
            known = max([known, *(row[0] for row in rows)])
    return known


def _uri(database: Path) -> str:
    return f"{database.absolute().as_uri()}?mode=ro"


def _pass_mail(store: Store, now: float) -> None:
    """Send nothing about the time before the backup: the home has done that since."""
    if new_events.is_begun(store):
        new_events.begin(store)
    mail_queue.pass_waiting(store, RESTORED, now=now)


def _put_in_place(home: Home, aside: Path, now: float) -> Path | None:
    """Replace the database while nobody writes; it is never incomplete."""
    with daemon_lock(home) as is_taken, writer_lock(home):
        _refuse_unless(is_taken())
        previous = None
        if home.database.exists():
            with suppress(sqlite3.DatabaseError):  # nobody drives a broken one
                _refuse_if_driven(home)
                _checkpoint(home)
            previous = _free_name(home, now)
            os.link(home.database, previous)
        aside.replace(home.database)
        for ending in ("-wal", "-shm"):
            Path(f"{home.database}{ending}").unlink(missing_ok=True)
        (home.root / SUCCESSOR).unlink(missing_ok=True)
        sync(os.fsencode(home.root))
        return previous


def _free_name(home: Home, now: float) -> Path:
    """Return the path for a database that is replaced now; earlier ones are kept."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.localtime(now))
    path, number = home.root / f"d0ctl.db.before-{stamp}", 1
    while path.exists():
        number += 1
        path = path.with_name(f"d0ctl.db.before-{stamp}.{number}")
    return path


def refuse_while_driven(home: Home) -> None:
    """Raise Refused while a daemon or another process drives packages by the home's database."""
    if home.database.exists():
        with daemon_lock(home) as is_taken:
            _refuse_unless(is_taken())
        with suppress(sqlite3.DatabaseError):
            _refuse_if_driven(home)


def _refuse_unless(is_taken: bool) -> None:
    if not is_taken:
        raise Refused("a daemon is running in this home", hint="d0ctl daemon stop")


def _refuse_if_driven(home: Home) -> None:
    for holder in living_holders(home):
        raise Refused(
            f"process {process_id(holder)} drives packages by this database",
            hint="d0ctl daemon stop",
        )


def _checkpoint(home: Home) -> None:
    """Move the write-ahead log into the database file; readers may delay this for a while."""
    with closing(sqlite3.connect(home.database, timeout=10)) as connection:
        busy = connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
    if busy:
        raise Refused(
            "another process reads the database",
            hint="close the program that has it open, and try again",
        )
