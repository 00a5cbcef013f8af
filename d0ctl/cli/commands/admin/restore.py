"""`d0ctl restore`: replace the database by a backup."""

import time
from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli import changing, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit, say
from d0ctl.show import administration

app = single()


@app.command(cls=Changing)
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `d0ctl backup` wrote.")],
    other_site: Annotated[
        bool, typer.Option("--other-site", help="Accept the backup of another site.")
    ] = False,
) -> None:
    """Go back to a backup; the current database is kept beside it.

    At their next contact with the daemon of this home the nodes end all packages that are newer
    than the backup, and delete the logs and files of these and of ended ones. Restoring the newer
    database does not bring these back. To only look at a backup, restore it with `--home` into an
    empty folder, and start no daemon there: the homes of a site share the folders on the nodes.
    """
    from d0ctl.access import absolute
    from d0ctl.store.backup import (
        check_backup,
        refuse_other_site,
        refuse_while_driven,
    )  # fmt: skip
    from d0ctl.store.backup import restore as put_back
    from d0ctl.store.checks.repeated_jobs import repeated
    from d0ctl.store.checks.restore_consequences import consequences
    from d0ctl.store.clusters.other_homes import stop_command
    from d0ctl.store.files.moved_home import reading
    from d0ctl.store.lifecycle import keep_action

    check_backup(file)
    home = session.home()
    if not other_site:
        refuse_other_site(home, file)
    last, newer, driver, lost, first, stranded = consequences(home, file)
    root, stop = (driver.root, stop_command(driver)) if driver else (None, "")
    original = first.root if first else None
    with reading(file) as backup:
        archived = list(repeated(backup, home, with_later=False))
    warnings = [
        *administration.reach(last, lost, time.time()),
        *administration.archived_too(archived),
        *administration.warnings(newer, root, stop, original),
        *administration.stranded(stranded),
    ]
    if changing.is_rehearsal():
        for line in (*administration.would_restore(file, home.database), *warnings):
            emit(line)
        home.check_place()
        refuse_while_driven(home)
        return
    refuse_while_driven(home)
    for line in warnings:
        say(line)
    if home.database.exists():
        changing.confirm(administration.question(home.database))
    is_new = not home.key.exists()
    previous = put_back(home, file, now=time.time(), from_other_site=other_site)
    with session.writer() as store, store.writing():
        keep_action(store, verb="restore", target=str(absolute(file)), actor=session.actor(),
                    note=changing.reason(), packages=0, now=time.time())  # fmt: skip
    needs_key = not home.key.exists()
    for line in administration.restored(file, previous, home.root, root or original,
                                        is_new=is_new, needs_key=needs_key):  # fmt: skip
        emit(line)
