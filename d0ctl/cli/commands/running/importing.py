"""`d0ctl import`: a workflow of another program as a job file."""

from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import say
from d0ctl.errors import BadJobFile, ExitCode, Refused
from d0ctl.importers.formats import FORMATS, read
from d0ctl.jobfile.reader import read_text
from d0ctl.show.cards import job_files

app = single()


@app.command(name="import")
def import_file(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of DAGMan, WfCommons or Snakemake.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Job file to write (default: stdout)."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="dagman, wfcommons, snakemake or a "
                     "plug-in (default: guessed).",
                     autocompletion=lambda: list(FORMATS)),
    ] = None,
) -> None:  # fmt: skip
    """Print the workflow of another program as a job file.

    Everything that can't be converted is listed on stderr, and the exit code is 1. For a script of
    Slurm, it prints the command that submits it, on stderr, and the exit code is 2.
    """
    workflow = read(file, form)
    target = output or file.with_suffix(".yaml")
    try:
        read_text(workflow.text, str(target), file.parent)
    except BadJobFile as error:
        raise BadJobFile(
            [f"{file.name}: the job file made from it has faults", *error.faults]
        ) from error
    if output is None:
        typer.echo(workflow.text, nl=False)
    elif output.exists():
        raise Refused(f"the file `{output}` already exists")
    else:
        output.write_text(workflow.text)
        if output.parent.resolve() != file.parent.resolve():
            say(job_files.to_be_moved(file.parent))
    for line in job_files.left_out(workflow.left_out):
        say(line)
    if workflow.left_out:
        raise typer.Exit(ExitCode.FAILED)
