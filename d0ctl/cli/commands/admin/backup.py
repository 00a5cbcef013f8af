"""`d0ctl backup`: the whole database in one file, while everything continues."""

from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli import session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit
from d0ctl.show import administration

app = single()


@app.command()
def backup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist yet.")
    ],
) -> None:
    """Write a copy of the database to a file, at any time.

    The file has no secrets, and is not the whole home: save its `site.key`, `site.key.previous`,
    `known_hosts`, `event.key`, `site.yaml`, `templates`, `results`, `archive` and `nodes`, too.
    """
    from d0ctl.store.backup import back_up

    session.refuse_archive("backup")
    with session.reader() as store:
        bytes_written = back_up(store, file)
    emit(administration.written(file, bytes_written))
