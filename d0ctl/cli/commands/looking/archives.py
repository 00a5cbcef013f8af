"""`d0ctl archives`: the files that ended jobs were moved to."""

from contextlib import suppress
from typing import TYPE_CHECKING

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import print_list
from d0ctl.config import Home
from d0ctl.show.administration import NO_ARCHIVES, archive_cells, missing_archives

if TYPE_CHECKING:
    from d0ctl.cli.schemas import jobs
    from d0ctl.store.jobs.archive import Archive

app = single()


@app.command()
def archives(json: options.Json = False) -> None:
    """List the archives of ended jobs.

    `--archive NAME` makes any other command read that archive in place of the database.
    """
    from d0ctl.store.jobs.archive import archives as read

    found = list(read(session.home())) if session.has_home() else []
    nothing = NO_ARCHIVES if found else _nothing()
    print_list("archives", found, _document, archive_cells, nothing, json=json, right={1, 2})


def _nothing() -> str:
    """Say that there are no archives, or that those of the history are in another home."""
    from d0ctl.store.files.moved_home import previous_home
    from d0ctl.store.jobs.audit import has_archived

    if not session.has_home():
        return NO_ARCHIVES
    with session.reader() as store:
        if not has_archived(store):
            return NO_ARCHIVES
        old = previous_home(store)
    has_them = False
    with suppress(OSError):  # the user may not enter it
        has_them = old is not None and any(Home(old).archives.glob("*.db"))
    return "\n".join(missing_archives(session.home().root, old if has_them else None))


def _document(archive: "Archive") -> "jobs.Archive":
    from d0ctl.cli.schemas import jobs
    from d0ctl.cli.schemas.fill import fill

    return fill(jobs.Archive, archive)
