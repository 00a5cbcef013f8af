"""Other homes of a site on this machine, such as a restored backup: only one may drive nodes."""

import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from d0ctl import access
from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.files.moved_home import follow, previous_home, reading
from d0ctl.store.nodes.holder import is_dead
from d0ctl.store.nodes.site import (
    SUCCESSOR,
    copied_home,
    has_database,
    refuse_superseded,
    site_name,
    successors,
)


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
            if has_driven(Home(root), site_name(store)):
                (root / SUCCESSOR).write_text(str(store.home.root.absolute()))


def has_driven(home: Home, site: str) -> bool:
    """Return whether a process of this home has driven the nodes of a site."""
    try:
        return home.driver.read_text() == site
    except OSError:
        return False


def home_in_use(home: Home, site: str) -> Path | None:
    """Return the other home that is in use of a site, as far as this one knows: the last that has
    taken over, or of which this one is a copy. If that was moved, it is one before it.
    """
    if newer := successors(home.root):
        known = (root for root in reversed(newer) if has_database(root))
        return next(known, newer[0]) if has_driven(home, site) else None
    with suppress(sqlite3.Error), reading(home.database) as store:  # it may be missing or broken
        copied = copied_home(store)
        return copied.root if copied and site_name(store) == site else None
    return None


def is_used(home: Home, site: str) -> bool:
    """Return whether this home was the last to drive the nodes of a site, as far as it knows."""
    return has_driven(home, site) and home_in_use(home, site) is None


def another_is_in_use(store: Store) -> bool:
    """Return whether the home that a backup is of may be in use, or one that took over from it."""
    root = previous_home(store)
    homes = [] if root is None else [root, *successors(root)]
    return bool(homes) and homes[-1] != store.home.root and has_database(homes[-1])


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
    with reading(home.database) as store:
        holders = {str(row["holder"]) for row in store.rows("leases")}
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
