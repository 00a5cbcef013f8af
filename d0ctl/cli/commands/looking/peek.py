"""`d0ctl peek`: the files in the folder of an attempt, and its progress."""

from typing import Annotated

import typer

from d0ctl.cli import options, session
from d0ctl.cli.commands.looking.pages.visits import visit_each
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import refuse_both
from d0ctl.errors import BadUsage
from d0ctl.select import Selector
from d0ctl.store.views import browse, one_package
from d0ctl.units import parse_size

app = single()


@app.command()
def peek(
    package: options.Target,
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH", help="A file or folder of the attempt (default: its own folder)."
        ),
    ] = None,
    attempt: Annotated[
        int | None,
        typer.Option(
            "--attempt", metavar="N", min=1, help="Number of the attempt (default: the last)."
        ),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Print the whole file.")] = False,
    head: Annotated[bool, typer.Option("--head", help="Print its beginning, not its end.")] = False,
    bytes: Annotated[
        str | None,
        typer.Option("--bytes", metavar="SIZE", help="Number of bytes to print (default: 64 KiB)."),
    ] = None,
    json: options.Json = False,
) -> None:
    """List the files in the folder of an attempt, or print one of them.

    When an attempt has ended, its logs stay, but its working directory is removed: only outputs are
    kept, of a failed attempt for `keep-failed` of the site file.
    """
    from d0ctl.cli.commands.looking.pages import peek_file, peek_folder
    from d0ctl.show.visits import visiting

    refuse_both(all, head, "--all and --head")
    refuse_both(all, bytes is not None, "--all and --bytes")
    part = peek_file.Part(all, head, peek_file.LENGTH if bytes is None else _size(bytes))
    with session.reader() as store:
        visited = visiting.packages(store, package, "peek", alone="--json" if json else "")
        visiting.refuse_archive(store, visited[0])

        def show(wanted: Selector) -> None:
            package = browse.package(store, wanted)
            tried = visiting.attempt_of(store, package, attempt)
            where = visiting.where(store, tried)
            seen = peek_folder.Seen(package, tried, where, one_package.progress(store, package.id))
            if path is None:
                peek_folder.show(seen, json)
            else:
                peek_file.show(seen, path, part, json)

        visit_each(visited, show)


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise BadUsage(f"`--bytes`: {error}") from error
