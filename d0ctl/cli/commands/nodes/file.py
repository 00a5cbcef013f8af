"""`d0ctl file`: the files of jobs, where their copies are, and what becomes of them."""

from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import changing, options, session
from d0ctl.cli.changing import Changing
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.output import emit, emit_json, say, table
from d0ctl.units import clean, count, size

if TYPE_CHECKING:
    from collections.abc import Callable

    from d0ctl.actions.files import FilePlan
    from d0ctl.store.connection import Store

MOST = 1000
"""How many files are listed unless more are asked for."""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="The files of jobs: list, set-disposition, purge.",
)

Files = Annotated[
    str,
    typer.Argument(
        metavar="SELECTOR",
        autocompletion=completion.job_names,
        help="JOB:NAME, both with wildcards: 'reco001:*.root'; JOB: all its files.",
    ),
]

OnNode = Annotated[
    str | None,
    typer.Option("--node", metavar="NODE", autocompletion=completion.node_names,
                 help="Only files with a copy in the cache of this node."),
]  # fmt: skip

Only = Annotated[
    str | None,
    typer.Option("--disposition", metavar="WORD",
                 help="Only files to retain-indef, retain-temp or delete (deletable)."),
]  # fmt: skip


@app.command("list", epilog="Example: d0ctl file list 'reco001:*.root' --json")
def list_files(
    selector: Files,
    node: OnNode = None,
    disposition: Only = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of files listed; 0 lists all.")
    ] = MOST,
    json: options.Json = False,
) -> None:
    """List files: maker, size, disposition and where copies are."""
    from d0ctl.actions import files
    from d0ctl.cli import documents
    from d0ctl.show.file import cells, line_of
    from d0ctl.store.files.selection import pages

    choice = files.parse(selector, node=node, disposition=disposition)
    with session.reader() as store:
        weight = files.choose(store, choice)
        rows = list(pages(store, limit))
    if json:
        emit_json({"files": [documents.file(row) for row in rows], "total": weight.files,
                   "bytes": weight.bytes})  # fmt: skip
        return
    table([cells(line_of(row)) for row in rows], right=[2])
    more = f", {count(len(rows))} of them listed" if len(rows) < weight.files else ""
    say(f"{count(weight.files, 'file')}{more}; {count(weight.present)} present, "
        f"{size(weight.bytes)}")  # fmt: skip


@app.command("set-disposition", cls=Changing,
             epilog="Example: d0ctl file set-disposition 'reco001:*.root' deletable")  # fmt: skip
def set_disposition(
    selector: Files,
    disposition: Annotated[
        str,
        typer.Argument(
            metavar="DISPOSITION",
            help="retain-indef, retain-temp or deletable; as-written: what the job file says.",
        ),
    ],
    node: OnNode = None,
) -> None:
    """Say what becomes of files once no package needs them."""
    from d0ctl.actions import files

    choice = files.parse(selector, node=node)
    with session.writer() as store:
        if not _goes_on(store, lambda: files.plan_disposition(store, choice, disposition)):
            return
        plan = files.set_disposition(store, choice, disposition, session.author(changing.reason()))
    emit(f"set {count(plan.files, 'file')} of `{clean(str(choice))}` to {disposition}")
    if plan.undo:
        say(clean(f"to undo: {plan.undo}"))


@app.command(cls=Changing, epilog="Example: d0ctl file purge 'reco001:*.root' --dry-run")
def purge(selector: Files, node: OnNode = None, disposition: Only = None) -> None:
    """Remove all cached copies of files; results and stored files stay."""
    from d0ctl.actions import files

    choice = files.parse(selector, node=node, disposition=disposition)
    with session.writer() as store:
        if not _goes_on(store, lambda: files.plan_purge(store, choice)):
            return
        plan = files.purge(store, choice, session.author(changing.reason()))
    emit(f"purged {count(plan.files, 'file')} of `{clean(str(choice))}`, {size(plan.bytes)}")
    if plan.kept:
        emit(f"kept {count(plan.kept, 'file')}: packages that have not ended need them")


def _goes_on(store: "Store", preview: "Callable[[], FilePlan]") -> bool:
    """Show the plan if it is asked for, or confirm it; whether it is to be carried out."""
    if not changing.is_rehearsal() and changing.is_confirmed():
        return True
    with store.reading():
        lines = [clean(line) for line in _describe(preview())]
    if not changing.is_rehearsal():
        changing.confirm("do that?", lines)
        return True
    for line in lines:
        emit(line)
    return False


def _describe(plan: "FilePlan") -> list[str]:
    from d0ctl.actions import wording

    files = f"{count(plan.files, 'file')} of `{plan.choice}`, {size(plan.bytes)}"
    told = (
        f"would set {files} to {plan.disposition}" if plan.disposition else f"would purge {files}"
    )
    lines = [told, *wording.files(plan.largest, plan.files)]
    if plan.kept:
        lines.append(
            f"would keep {count(plan.kept, 'file')}: packages that have not ended need them"
        )
    return lines
