"""The runs of a job, or those that led to a file, as text to read."""

from collections.abc import Iterator, Sequence

from d0ctl.store.views.job_files.provenance import FileFacts, Run
from d0ctl.units import clean, duration, iso, listed, size


def text(runs: Sequence[Run]) -> str:
    """Return a paragraph for each run, and which other jobs have made files that they read."""
    paragraphs = [[*_lines(run, _job_of(run))] for run in runs]
    read = dict.fromkeys(file.job for run in runs for file in run.read)
    listed_jobs = {_job_of(run) for run in runs}
    if absent := [f"`{job}`" for job in read if job not in listed_jobs]:
        paragraphs.append([f"the runs of {listed(absent)} that led to these are not known here"])
    return "\n".join(
        "".join(f"{clean(line, lines=True)}\n" for line in lines) for lines in paragraphs
    )


def _job_of(run: Run) -> str:
    return run.path.partition("/")[0]


def _lines(run: Run, job: str) -> Iterator[str]:
    """Yield what a run was, where and when, what it executed, and what it read and made."""
    yield f"{run.path}/{run.seq} {run.name}"
    yield f"    attempt     {run.attempt} on {run.node}, {run.platform or 'unknown platform'}"
    if run.started is not None and run.ended is not None:
        took = duration(run.ended - run.started)
        yield f"    time        {iso(run.started)} to {iso(run.ended)}, {took}"
    if run.taken:
        yield f"    reused      {run.taken}"
    if run.accepted is not None:
        yield f"    accepted    {iso(run.accepted)}, although the job file has another recipe"
    if run.software:
        yield f"    software    {_with_facts(run.software, run.software_checksum)}"
    if run.image:
        yield f"    image       {run.image}"
    if run.parameters:
        yield f"    parameters  {listed(f'{key}={value}' for key, value in run.parameters.items())}"
    if run.command:
        first, *more = run.command.strip().splitlines()
        yield f"    command     {first}"
        yield from (f"                {line}" for line in more)
    for verb, files in (("read", run.read), ("made", run.made)):
        yield from (f"    {verb:12}{_file(file, job)}" for file in files)


def _file(file: FileFacts, job: str) -> str:
    name = file.title if file.job == job else file.title.replace(file.name, file.path, 1)
    return _with_facts(name, None if file.size is None else size(file.size), file.checksum)


def _with_facts(name: str, *facts: str | None) -> str:
    return ", ".join([name, *[fact for fact in facts if fact]])
