"""`d0ctl export`: a job for other programs, or as a job file."""

import time
from collections.abc import Callable
from typing import Annotated

import typer

from d0ctl.cli import session
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.errors import BadUsage
from d0ctl.show.export import dagman, graph, prov, ro_crate, wfcommons
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.job_files import definition, job_file_text, provenance

app = single()


def _prov(store: Store, job: definition.JobRows, now: float) -> str:
    runs = provenance.runs_of_job(store, job.row["name"], now=now)
    return prov.text(job, runs)


def _ro_crate(store: Store, job: definition.JobRows, now: float) -> str:
    return ro_crate.text(job, provenance.runs_of_job(store, job.row["name"], now=now), now)


FORMATS: dict[str, Callable[[Store, definition.JobRows, float], str]] = {
    "yaml": lambda store, job, now: job_file_text.text(job),
    "json": lambda store, job, now: job_file_text.as_json(job),
    "dagman": lambda store, job, now: dagman.text(job),
    "dot": lambda store, job, now: graph.dot(job),
    "mermaid": lambda store, job, now: graph.mermaid(job),
    "wfcommons": lambda store, job, now: wfcommons.text(job, now),
    "prov": _prov,
    "ro-crate": _ro_crate,
}
"""The function that makes the text of each format."""


@app.command()
def export(
    job: Annotated[str, typer.Argument(metavar="JOB", help="A job by name.",
                                       autocompletion=completion.selectors)],
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", autocompletion=lambda: list(FORMATS),
                     help="yaml or json (a job file), dagman, dot, mermaid, wfcommons, prov or "
                     "ro-crate."),
    ] = "yaml",
) -> None:  # fmt: skip
    """Print a job as a job file, or in the format of another program.

    Submitting the job file makes an equal job.
    """
    if form not in FORMATS:
        raise BadUsage(f"`{form}` is not one of {', '.join(f'`{name}`' for name in FORMATS)}")
    with session.reader() as store, store.reading():
        found = definition.read(store, job)
        if found is None:
            raise browse.no_such_job(store, job)
        typer.echo(FORMATS[form](store, found, time.time()), nl=False)
