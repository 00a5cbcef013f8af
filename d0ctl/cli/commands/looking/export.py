"""`d0ctl export`: a job for other programs, or as a job file."""

from typing import Annotated

import typer

from d0ctl.cli import session
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import say
from d0ctl.show.export.job_formats import FORMATS, exported

app = single()


@app.command()
def export(
    job: Annotated[str, typer.Argument(metavar="JOB[:FILE]",
                                       help="A job; for prov, ro-crate and text also a file.",
                                       autocompletion=completion.selectors)],
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", autocompletion=lambda: list(FORMATS),
                     help="yaml or json (a job file), dagman, dot, mermaid, wfcommons, prov, "
                     "ro-crate, or text (the runs, to read)."),
    ] = "yaml",
) -> None:  # fmt: skip
    """Print a job as a job file, or in the format of another program.

    Submitting the job file makes an equal job.
    """
    with session.reader() as store:
        text, notes = exported(store, job, form)
        typer.echo(text, nl=False)
        for note in notes:
            say(note)
