"""The submission of jobs as `run`, `submit` and `validate` share it on the terminal."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from d0ctl.actions.jobs import submit as action
from d0ctl.actions.jobs.submit import MANY, Submission, Submitted
from d0ctl.actions.option import pairs
from d0ctl.cli import changing, session
from d0ctl.cli.terminal.output import emit, emit_json, is_terminal, say
from d0ctl.errors import BadUsage
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.units import clean, count

MOST_WARNINGS = 5
"""How many warnings `submit` and `run` print."""


def read(file: str, parameters: Iterable[str] | None) -> JobSpec:
    """Read and check a job file; `-` is stdin. Raises BadUsage, and BadJobFile with every fault."""
    values = _values(parameters)
    with _store() as store:
        return action.read(store, file, sys.stdin.read() if file == "-" else None, values)


def job_named(file: str) -> str | None:
    """Return the job of that name if there is no such file."""
    if file == "-" or Path(file).exists():
        return None
    with _store() as store:
        return file if store is not None and file in browse.job_names(store) else None


def _values(parameters: Iterable[str] | None) -> Mapping[str, str]:
    try:
        return pairs(parameters or ())
    except ValueError as error:
        raise BadUsage(f"--set: {error}") from error


@contextmanager
def _store() -> Iterator[Store | None]:
    """The store, if there is a home."""
    if not session.home().exists():
        yield None
        return
    with session.reader() as store:
        yield store


def warnings(spec: JobSpec, file: str) -> list[str]:
    """Return the warnings of a job file."""
    with _store() as store:
        return action.warnings(store, spec, file, time.time())


def warn(spec: JobSpec, file: str) -> None:
    """Print the first warnings of a job file that is going to be submitted."""
    for warning in spec.warnings[:MOST_WARNINGS]:
        say(warning)
    if (more := len(spec.warnings) - MOST_WARNINGS) > 0:
        say(f"and {count(more, 'more warning')}: d0ctl validate {quote(file)}")


def rehearse(submission: Submission, json: bool) -> None:
    """Print what would be submitted."""
    with _store() as store:
        lines = action.preview(store, submission, time.time())
    if json:
        spec = submission.spec
        name = submission.name or spec.name
        emit_json({"job": name, "packages": spec.packages, "dry_run": True})
        return
    for line in lines:
        emit(line)


def submit(store: Store, submission: Submission) -> Submitted:
    """Submit a job; a large one shows its progress on a terminal."""
    packages, shown = submission.spec.packages, 0

    def progress(number: int) -> None:
        nonlocal shown
        if packages >= MANY and is_terminal(sys.stderr):
            shown = number
            line = f"submitting: {count(number)} of {count(packages)}"
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)

    try:
        author = session.author(changing.reason())
        return action.submit(store, submission, author, progress=progress, moved=_say_moved)
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _say_moved(folder: Path) -> None:
    say(f"older files under the name of this job are now in {clean(str(folder))}")
