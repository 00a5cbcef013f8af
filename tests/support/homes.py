"""Homes as a first use makes them, and what shall be true of their databases at all times."""

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from d0ctl.config import Home
from d0ctl.nodes import ship
from d0ctl.store import Store, open_store
from d0ctl.store.checks import check
from d0ctl.store.nodes.registry import add_localhost
from d0ctl.store.nodes.site import site_name
from tests.support import CACHE
from tests.support.rows import checkpoint


@cache
def template() -> bytes:
    """The database of a fresh home."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder, "home"))
        with open_store(home, create=True) as store:
            add_localhost(store)
            checkpoint(store)
        return home.database.read_bytes()


def make_home(root: Path) -> Home:
    """A home whose database is a copy of a fresh one; its name on nodes is its own."""
    home = Home(root)
    home.create()
    home.database.write_bytes(template())
    home.database.chmod(0o600)
    return home


def equip_nodes(home: Home, name: str = "localhost", folder: Path | None = None) -> None:
    """Put the wrapper where a node has it once d0ctl has connected to it.

    Each daemon would compile it for each new home, which costs more than the rest of its start.
    """
    with open_store(home, read_only=True) as store:
        target = (folder or home.nodes) / site_name(store) / name / "bin" / ship.file_name()
    target.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    target.write_bytes(wrapper().read_bytes())


@cache
def wrapper() -> Path:
    """The wrapper as one file, compiled once and kept for later runs of the tests."""
    kept = CACHE / "wrapper" / ship.file_name()
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        aside = kept.with_suffix(f".{os.getpid()}")
        aside.write_bytes(ship.archive())
        for old in kept.parent.glob("*.pyz"):
            if not old.name.startswith(kept.stem):
                old.unlink(missing_ok=True)  # another test process may be quicker
        aside.rename(kept)
    return kept


def forget_home(home: Home) -> None:
    """Remove a home that no process uses."""
    shutil.rmtree(home.root)


def faults(store: Store) -> dict[str, list[tuple[str, str]]]:
    """What the rules find wrong with the rows, now and for good, by their names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in [*check.rule_faults(store), *check.lasting(store)]:
        found.setdefault(one.check, []).append((one.subject, one.detail))
    return found
