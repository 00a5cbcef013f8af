"""The part of submission that `run`, `submit` and `validate` share on the terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from d0ctl import select
from d0ctl.actions.jobs import submit
from d0ctl.actions.jobs.submit import ACTION, SubmitOptions, SubmitRequest
from d0ctl.actions.option import read as read_options
from d0ctl.cli import changing, session
from d0ctl.cli.terminal.output import say
from d0ctl.cli.terminal.person import AtTerminal
from d0ctl.errors import BadJobFile, BadUsage, Refused
from d0ctl.jobfile.spec import JobSpec
from d0ctl.show.cards import job_files
from d0ctl.store.connection import Store
from d0ctl.store.views import names
from d0ctl.units import clean


@contextmanager
def store_if_any() -> Iterator[Store | None]:
    """Open the store if there is a home; nothing is created."""
    if not session.home().exists():
        yield None
        return
    with session.reader() as store:
        yield store


def request_of(file: str, parameters: list[str] | None, **more: Any) -> SubmitRequest:
    """Return the request to submit a job file; `-` is stdin. Raises BadUsage."""
    options = read_options(SubmitOptions, {"parameters": parameters, **more})
    return replace(ACTION.request(changing.job_file(file), options), person=AtTerminal())


def job_named(file: str) -> str | None:
    """Return the job of that name if there is no file of that name."""
    if file == "-" or Path(file).exists():
        return None
    with store_if_any() as store:
        return file if store is not None and file in names.jobs(store) else None


def refuse_part(file: str) -> None:
    """Raise Refused if a part of a job is named where a job file is needed."""
    path = select.split(select.with_slashes(file))[0]
    job, _, levels = path.partition("/")
    if levels and not Path(file).exists() and submit.is_name(job) and job_named(job):
        raise Refused(f"`{file}` is a part of job `{job}`, but only whole jobs can be submitted",
                      hint=f"as a job of its own: d0ctl clone {quote(file)}")  # fmt: skip


def read(request: SubmitRequest) -> tuple[SubmitRequest, JobSpec]:
    """Read and check the job file of a request; nothing is created.

    Raises BadUsage, and BadJobFile with every fault.
    """
    target, options = request.target, request.options
    if target.text is None:
        refuse_part(target.brief)
    try:
        with store_if_any() as store:
            spec = submit.read(store, target, options.parameters, name=options.name)
    except BadJobFile as error:
        if target.text is None:
            _refuse_script(target.brief, error)
        raise
    return replace(request, options=replace(options, spec=spec)), spec


_PROGRAMS = {
    ".sh": "bash", ".bash": "bash", ".py": "python3", ".pl": "perl", ".R": "Rscript",
    ".C": "root -l -b -q",
}  # fmt: skip
"""The programs that run scripts without a first line `#!`, by the ending of the name."""


def _refuse_script(file: str, error: BadJobFile) -> None:
    """Raise BadUsage if a file with faults is a script, which runs after `--`.

    A script of a batch system is answered as by `import`, with its requests.
    """
    from d0ctl.importers import formats  # seldom needed

    path = Path(file)
    if path.suffix in (".yaml", ".yml", ".json") or not path.is_file():
        return
    program, has_line = _PROGRAMS.get(path.suffix), path.read_bytes()[:2] == b"#!"
    if not has_line and program is None:
        return
    with path.open(errors="replace") as script:
        other = formats.other_way(script.read(formats.MOST_READ), path)
    if other is not None:
        raise BadUsage(clean(other)) from error
    by_itself = quote(file if "/" in file else f"./{file}")
    command = by_itself if has_line else f"{program} {quote(file)}"
    raise BadUsage(
        f"`{file}` is a script, not a job file", hint=f"d0ctl run -- {command}"
    ) from error


def warn(spec: JobSpec, file: str) -> None:
    """Print the first warnings of a job file that is going to be submitted."""
    for line in job_files.warnings(spec.warnings, file):
        say(line)
