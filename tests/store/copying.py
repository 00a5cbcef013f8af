"""What tests of copies look at."""

from typing import Any

from d0ctl.jobfile.spec import Disposition, OutputSpec
from d0ctl.store import Store
from d0ctl.store.jobs import unneeded_files
from tests.support.jobs import NOW
from tests.support.site import Site


def made(name: str, *dispositions: Disposition, **more: Any) -> OutputSpec:
    """An output of these dispositions."""
    return OutputSpec(name, dispositions=frozenset(dispositions), **more)


def work(store: Store, site: Site) -> list[str]:
    """Let all come to rest, and tidy up; the paths that go on the control host."""
    site.settle()
    with store.writing():
        return unneeded_files.clean_up(store, now=NOW)


def purged(store: Store) -> list[str]:
    """The paths that nodes are to remove."""
    rows = store.connection.execute("select path from purge where path is not null")
    return sorted(row[0] for row in rows)


def copies(store: Store, name: str) -> list[str]:
    """Where a file lies."""
    query = "select path from location join file on file.id = file_id where name = ?"
    return [row[0] for row in store.connection.execute(query, [name])]
