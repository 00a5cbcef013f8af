"""`d0ctl file`: the files of jobs, where their copies are, and what happens to them."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit_json, say, table
from d0ctl.units import count, size

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site
    from d0ctl.store.files.selected_files import FileRow

MOST = 1000
"""How many files are listed by default."""

app = group("List files of jobs, purge copies, or set dispositions.", Actions)


@app.command("list")
def list_files(
    selector: options.ListedFiles,
    node: options.OnNode = None,
    disposition: options.OfDisposition = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of files listed; 0 lists all.")
    ] = MOST,
    json: options.Json = False,
) -> None:
    """List files with maker, size, disposition and copies."""
    from d0ctl.actions import file_choice
    from d0ctl.show.cards.file import cells, line_of
    from d0ctl.store.files.selected_files import is_present, pages

    with session.reader() as store:
        selected, weight = file_choice.choose_listed(
            store, selector, node=node, disposition=disposition, now=time.time()
        )
        rows = list(pages(selected, limit))
    gone = [row for row in rows if row.present and not is_present(store.home, row)]
    weight = weight._replace(
        present=weight.present - len(gone),
        bytes=weight.bytes - sum(row.size or 0 for row in gone),
    )
    if json:
        files = [_document(row, is_present(store.home, row)) for row in rows]
        emit_json({"files": files, "total": weight.files, "bytes": weight.bytes})
        return
    table([cells(line_of(store.home, row)) for row in rows], right=[2])
    more = f", {count(len(rows))} of them listed" if len(rows) < weight.files else ""
    outside = f"{count(weight.outside)} from outside, " if weight.outside else ""
    say(f"{count(weight.files, 'file')}{more}; {count(weight.present)} present, "
        f"{outside}{size(weight.bytes)}")  # fmt: skip


def _document(row: "FileRow", present: bool) -> "site.File":
    """Return all about a file; `given` is the disposition that a person set."""
    from d0ctl.cli.schemas import site
    from d0ctl.cli.schemas.fill import fill

    return fill(
        site.File,
        row,
        file=f"{row.job}:{row.name}",
        present=present,
        disposition=row.disposition or row.dispositions,
        given=row.disposition,
    )
