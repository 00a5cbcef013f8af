"""`d0ctl archives`: the files that ended jobs were moved to."""

from typing import TYPE_CHECKING

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit, emit_json, table
from d0ctl.show.archive import NO_ARCHIVES, cells

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
    if json:
        emit_json({"archives": [_document(archive) for archive in found]})
    elif found:
        table([cells(archive) for archive in found], right={1, 2})
    else:
        emit(NO_ARCHIVES)


def _document(archive: "Archive") -> "jobs.Archive":
    return {
        "name": archive.name,
        "jobs": list(archive.jobs),
        "packages": archive.packages,
        "size": archive.size,
    }
