"""`d0ctl archives`: the files that ended jobs were moved to."""

from typing import TYPE_CHECKING

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import print_list
from d0ctl.show.administration import NO_ARCHIVES, archive_cells

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
    print_list("archives", found, _document, archive_cells, NO_ARCHIVES, json=json, right={1, 2})


def _document(archive: "Archive") -> "jobs.Archive":
    from d0ctl.cli.schemas import jobs
    from d0ctl.cli.schemas.fill import fill

    return fill(jobs.Archive, archive)
