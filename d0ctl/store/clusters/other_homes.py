"""Other homes of a site on this machine, such as a restored backup: only one may drive nodes."""

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import is_dead, process_id


def refuse_second_driver(home: Home, site: str) -> None:
    """Raise Refused if a process drives the nodes of the site from another home."""
    if other := driven_elsewhere(home, site):
        process = process_id(living_holders(other)[0])
        raise Refused(
            f"process {process} drives the nodes of this site from another home: `{other.root}`",
            hint=stop_command(other),
        )


def stop_command(home: Home) -> str:
    """Return what to type so that another home drives nothing any more."""
    return f"d0ctl --home {shlex.quote(str(home.root))} daemon stop"


def driven_elsewhere(home: Home, site: str) -> Home | None:
    """Return another home of the site, by which a process of this machine drives nodes."""
    for root in sorted(_roots_in_use()):
        other = Home(root)
        with suppress(OSError, sqlite3.Error):
            is_same = home.root.exists() and root.samefile(home.root)
            if not is_same and _site(other) == site and living_holders(other):
                return other
    return None


def living_holders(home: Home) -> list[str]:
    """Return the living processes that hold leases in the database of a home."""
    with closing(_connect(home)) as connection:
        holders = {str(row["holder"]) for row in Store(home, connection).rows("leases")}
    return sorted(holder for holder in holders if not is_dead(holder))


def _roots_in_use() -> set[Path]:
    """Return the homes whose databases are open in processes that this user may inspect.

    A look at a database that was just closed would make a file beside it, in the way of who
    removes the folder: the memory that its connections share is there only while one is open.
    """
    return {path.parent for path in _open_files()
            if path.name == "d0ctl.db" and path.with_name("d0ctl.db-shm").exists()}  # fmt: skip


def _open_files() -> Iterator[Path]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or belongs to another user
            for descriptor in (process / "fd").iterdir():
                with suppress(OSError):
                    yield descriptor.readlink()


def _site(home: Home) -> str:
    with closing(_connect(home)) as connection:
        return str(Store(home, connection).value("site"))


def _connect(home: Home) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{home.database.absolute().as_uri()}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    return connection
