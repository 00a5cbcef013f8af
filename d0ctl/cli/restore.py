"""`d0ctl restore`: a backup in the place of the database."""

import time
from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli import options, session
from d0ctl.cli.output import can_ask, confirmed, emit, say
from d0ctl.errors import ExitCode
from d0ctl.format import clean

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `d0ctl backup` wrote.")],
    yes: options.Yes = False,
) -> None:
    """Go back to a backup; the present is kept beside it.

    Of what the backup does not know the nodes end what runs, and remove logs and files, when
    they are next reached: going forward again brings back the database, but not those.
    """
    from d0ctl.store.backup import check_backup
    from d0ctl.store.backup import restore as put_back

    check_backup(file)
    home = session.home()
    if home.exists() and not yes and can_ask() and not confirmed(f"replace `{home.database}`?"):
        say("nothing was done")
        raise typer.Exit(ExitCode.FAILED)
    former = put_back(home, file, now=time.time())
    emit(f"the database is that of `{clean(str(file))}`")
    if former is not None:
        emit(f"the former one is `{clean(str(former))}`")
    emit("d0ctl daemon start")
