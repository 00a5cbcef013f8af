"""Other homes of a site on this machine, such as a restored backup: only one may drive nodes."""

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from d0ctl import access
from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.files.moved_home import follow, previous_home
from d0ctl.store.nodes.holder import is_dead
from d0ctl.store.nodes.site import SUCCESSOR, refuse_superseded, site_name, successors


@contextmanager
def marked_as_driver(home: Home, site: str) -> Iterator[None]:
    """Keep the driver's file of a home open during the block, so that other homes can see it.

    Raises Refused if a process drives the nodes of the site from another home.
    """
    try:
        descriptor = os.open(home.driver, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise access.unusable(home.root, error) from error
    try:
        _write(home, descriptor, site)
        refuse_second_driver(home, site)  # after the mark: of two that start now, one sees it
        yield
    finally:
        os.close(descriptor)


def _write(home: Home, descriptor: int, site: str) -> None:
    try:
        os.pwrite(descriptor, site.encode(), 0)
    except OSError as error:
        raise access.unusable(home.root, error) from error


def take_over(store: Store) -> None:
    """Record that this home drives the nodes now, also in the home of which it is a copy, and in
    those that have taken over from that one.
    """
    before = previous_home(store)
    follow(store)
    if before is None:
        return
    for root in {before, *successors(before)} - {store.home.root}:
        with suppress(OSError):  # it was moved or lost, or belongs to another user
            if Home(root).driver.read_text() == site_name(store):
                (root / SUCCESSOR).write_text(str(store.home.root.absolute()))


def refuse_second_driver(home: Home, site: str) -> None:
    """Raise Refused if a process drives the nodes of the site from another home, or has since."""
    refuse_superseded(home)
    for other, process in _drivers(home, site):
        raise Refused(
            f"process {process} drives the nodes of this site from another home: `{other.root}`",
            hint=f"to change over to this home, and not before: {stop_command(other)}",
        )


def stop_command(home: Home) -> str:
    """Return what to type so that another home drives nothing any more."""
    return f"d0ctl --home {shlex.quote(str(home.root))} daemon stop"


def driven_elsewhere(home: Home, site: str) -> Home | None:
    """Return another home of the site, by which a process of this machine drives nodes."""
    return next((other for other, _ in _drivers(home, site)), None)


def living_holders(home: Home) -> list[str]:
    """Return the living processes that hold leases in the database of a home."""
    uri = f"{home.database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        holders = {str(row["holder"]) for row in Store(home, connection).rows("leases")}
    return sorted(holder for holder in holders if not is_dead(holder))


def _drivers(home: Home, site: str) -> Iterator[tuple[Home, int]]:
    """Yield the other homes of the site that are driven on this machine, and by which process.

    No database of another home is opened: SQLite would make files beside it, while its folder
    may be about to be removed. Processes of other users are not seen.
    """
    for process, path in _open_files():
        if path.name == home.driver.name:
            with suppress(OSError):  # it was removed, or this home has no folder yet
                is_same = home.root.exists() and path.parent.samefile(home.root)
                if not is_same and path.read_text() == site:
                    yield Home(path.parent), process


def _open_files() -> Iterator[tuple[int, Path]]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or belongs to another user
            for descriptor in (process / "fd").iterdir():
                with suppress(OSError):
                    yield int(process.name), descriptor.readlink()
