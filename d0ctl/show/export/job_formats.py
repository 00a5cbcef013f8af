"""A job as text: a job file, or in the format of another program."""

import time
from collections.abc import Callable, Iterator, Sequence
from shlex import quote
from typing import NamedTuple

from d0ctl import select
from d0ctl.config import Home
from d0ctl.errors import BadUsage, NotFound
from d0ctl.show.drawing.signs import phase_name
from d0ctl.show.export import dagman, graph, prov, ro_crate, runs_text, wfcommons
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, file_locations, left_out
from d0ctl.store.views.job_files import definition, job_file_text, provenance
from d0ctl.units import count, listed


def _runs(
    store: Store, job: definition.JobRows, file: str | None, now: float
) -> list[provenance.Run]:
    """Return the runs of a job, or those that led to a file. Raises NotFound if none made it."""
    runs = provenance.runs_of_job(store, job.row["name"], now=now)
    if file is None:
        return runs
    location = file_locations.in_job(store, job.row["name"], file)
    ancestors = provenance.leading_to(runs, location.id)
    if not ancestors:
        text = f"no run of job `{job.row['name']}` has made `{location.name}`"
        if location.maker is not None:
            is_blocked = browse.job(store, job.row["name"]).blocked
            phase = phase_name(location.maker_phase or "", blocked=is_blocked)
            once = ("once its maker has succeeded" if location.size is None else
                    "and also a former one once its maker has succeeded again")  # fmt: skip
            text = (f"`{location.maker}`, which makes `{location.name}`, is {phase}: "
                    f"a file has an origin {once}")  # fmt: skip
        raise NotFound(text, hint=f"d0ctl why {quote(location.path)}")
    return ancestors


def _prov(store: Store, job: definition.JobRows, file: str | None, now: float) -> str:
    return prov.text(job, _runs(store, job, file, now))


def _ro_crate(store: Store, job: definition.JobRows, file: str | None, now: float) -> str:
    return ro_crate.text(job, _runs(store, job, file, now), now)


def _text(store: Store, job: definition.JobRows, file: str | None, now: float) -> str:
    runs = _runs(store, job, file, now)
    others = provenance.of_other_jobs(store, runs, job.row["name"], now=now)
    return runs_text.text([*others, *runs])


FORMATS: dict[str, Callable[[Store, definition.JobRows, str | None, float], str]] = {
    "yaml": lambda store, job, file, now: job_file_text.text(job),
    "json": lambda store, job, file, now: job_file_text.as_json(job),
    "dagman": lambda store, job, file, now: dagman.text(job),
    "dot": lambda store, job, file, now: graph.dot(job),
    "mermaid": lambda store, job, file, now: graph.mermaid(job),
    "wfcommons": lambda store, job, file, now: wfcommons.text(job, now),
    "prov": _prov,
    "ro-crate": _ro_crate,
    "text": _text,
}
"""The function that makes the text of each format, of a job or a file of it."""

SUBMITTED = ("yaml", "json", "dagman")
"""The formats that can be submitted."""

MOST_NAMED = 5
"""How many absent inputs are named."""

OF_FILES = ("prov", "ro-crate", "text")
"""The formats that a single file has, too."""


class Exported(NamedTuple):
    """A job as text, and what to know before it is submitted."""

    text: str
    notes: Sequence[str] = ()


def exported(store: Store, job: str, form: str) -> Exported:
    """Return a job, or `JOB:FILE`, in a format. Raises BadUsage and NotFound."""
    if form not in FORMATS:
        raise BadUsage(f"`{form}` is not one of {', '.join(f'`{name}`' for name in FORMATS)}")
    name, file = select.file_of_job(job) or (job, None)
    if file is not None and form not in OF_FILES:
        raise BadUsage(f"`{job}` is a file, exported only as {listed(OF_FILES, 'or')}",
                       hint=f"d0ctl export {quote(job)} --format text")  # fmt: skip
    with store.reading():
        rows = definition.read(store, name)
        if rows is None:
            raise browse.no_such_job(store, name)
        if form not in SUBMITTED:
            return Exported(FORMATS[form](store, rows, file, time.time()))
        rows = definition.with_results(rows, store.home) if store.home.archive else rows
        notes = [*_outdated(store, name), *_absent(rows, store.home)]
        return Exported(FORMATS[form](store, rows, file, time.time()), notes)


def _absent(job: definition.JobRows, home: Home) -> Iterator[str]:
    """Name the inputs of jobs that have left which are not in results/."""
    if not (absent := definition.absent_inputs(job, home)):
        return
    names = [f"`{row['job']}:{row['name']}`" if row["job"] else f"`{row['name']}`"
             for row in absent]  # fmt: skip
    named = listed([*names[:MOST_NAMED], *[f"{count(len(names) - MOST_NAMED)} more"]
                    * (len(names) > MOST_NAMED)])  # fmt: skip
    yield (f"results/ does not have {count(len(names), 'input')} of `{job.row['name']}`: {named}; "
           "write other files in the job file before you submit it")  # fmt: skip
    for maker in dict.fromkeys(row["job"] for row in absent if row["job"]):
        export = f"d0ctl --archive {quote(home.archive)} export {quote(maker)}"
        yield (f"or first make the files of `{maker}` again, then repeat this export: "
               f"{export} | d0ctl submit -")  # fmt: skip


def _outdated(store: Store, job: str) -> list[str]:
    """Say that packages of a job are exported as they ran, if the job has other ones now."""
    outdated = left_out.outdated_packages(store, browse.job(store, job).id).by_recipe
    if not outdated:
        return []
    packages, have = count(outdated, "package"), "its" if outdated == 1 else "their"
    are = "is" if outdated == 1 else "are"
    return [f"{packages} of `{job}` {are} out of date, and exported with {have} former recipe and "
            f"inputs, not those that the job has now; first: `d0ctl update {quote(job)} --again`"
            ]  # fmt: skip
