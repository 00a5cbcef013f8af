"""`d0ctl export`: a job for other programs, or as a job file."""

import time
from collections.abc import Callable
from shlex import quote
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import session
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.errors import BadUsage, NotFound
from d0ctl.show.export import dagman, graph, prov, ro_crate, wfcommons
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, file_locations
from d0ctl.store.views.job_files import definition, job_file_text, provenance
from d0ctl.units import listed

app = single()


def _runs(
    store: Store, job: definition.JobRows, file: str | None, now: float
) -> list[provenance.Run]:
    """Return the runs of a job, or those that led to a file. Raises NotFound if none made it."""
    runs = provenance.runs_of_job(store, job.row["name"], now=now)
    if file is None:
        return runs
    one = file_locations.in_job(store, job.row["name"], file)
    found = provenance.leading_to(runs, one.id)
    if not found:
        raise NotFound(f"no run of job `{job.row['name']}` has made `{one.name}`",
                       hint=f"d0ctl why {quote(one.path)}")  # fmt: skip
    return found


def _prov(store: Store, job: definition.JobRows, file: str | None, now: float) -> str:
    return prov.text(job, _runs(store, job, file, now))


def _ro_crate(store: Store, job: definition.JobRows, file: str | None, now: float) -> str:
    return ro_crate.text(job, _runs(store, job, file, now), now)


FORMATS: dict[str, Callable[[Store, definition.JobRows, str | None, float], str]] = {
    "yaml": lambda store, job, file, now: job_file_text.text(job),
    "json": lambda store, job, file, now: job_file_text.as_json(job),
    "dagman": lambda store, job, file, now: dagman.text(job),
    "dot": lambda store, job, file, now: graph.dot(job),
    "mermaid": lambda store, job, file, now: graph.mermaid(job),
    "wfcommons": lambda store, job, file, now: wfcommons.text(job, now),
    "prov": _prov,
    "ro-crate": _ro_crate,
}
"""The function that makes the text of each format, of a job or a file of it."""

OF_FILES = ("prov", "ro-crate")
"""The formats that a single file has, too."""


@app.command()
def export(
    job: Annotated[str, typer.Argument(metavar="JOB[:FILE]",
                                       help="A job by name; for prov and ro-crate also a file.",
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
    name, file = select.file_of_job(job) or (job, None)
    if file is not None and form not in OF_FILES:
        raise BadUsage(f"`{job}` is a file, exported only as {listed(OF_FILES, 'or')}",
                       hint=f"d0ctl export {quote(job)} --format prov")  # fmt: skip
    with session.reader() as store, store.reading():
        found = definition.read(store, name)
        if found is None:
            raise browse.no_such_job(store, name)
        typer.echo(FORMATS[form](store, found, file, time.time()), nl=False)
