"""What TAB offers: names and numbers from the database; nothing if there is none."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from d0ctl.cli import session
from d0ctl.errors import D0Error
from d0ctl.store.connection import Store
from d0ctl.store.views import names

MOST = 100
"""How many names are offered."""

LINE = 2
"""How many numbers name a line of a job."""

T = TypeVar("T")

Offer = Callable[[str], list[str]]
"""Completes the beginning of a word."""


def selectors(incomplete: str) -> list[str]:
    """Job names; after a `/` the numbers of stages, lines and packages; after a `:` states."""
    path, colon, state = incomplete.rpartition(":")
    if colon:
        return [f"{path}:{state_name}" for state_name in states(state)]
    *before, last = incomplete.split("/")
    if not before:
        return _open_ended(job_names(incomplete))
    if not all(map(str.isdecimal, before[1:])):
        return []
    job, numbers = before[0], [int(number) for number in before[1:]]
    if not numbers:
        stages = (f"{job}/{name}" for name in _read(stages_of(job)))
        return _open_ended(_beginning(incomplete, stages))
    if len(numbers) == 1:
        most = _count(lambda store: names.lines(store, job, numbers[0]))
    elif len(numbers) == LINE:
        most = _count(lambda store: names.packages(store, job, *numbers))
    else:
        return []
    found = [f"{'/'.join(before)}/{number}" for number in _numbers(last, most)]
    return found if len(numbers) == LINE else _open_ended(found)


def _open_ended(paths: list[str]) -> list[str]:
    """Offer a single path also with `/`: no shell adds a space then, as a part may follow."""
    return [*paths, f"{paths[0]}/"] if len(paths) == 1 else paths


def job_text(job: str) -> str:
    """Return the job file of a job; empty if there is none."""
    from d0ctl.store.jobs.submission.submit import text_of  # late: few words need it
    from d0ctl.store.views import browse

    def read(store: Store) -> list[str]:
        known = text_of(store, browse.job(store, job).id)
        return [known.text] if known else []

    return "".join(_read(read))


def stages_of(job: str) -> "Callable[[Store], list[int]]":
    """Return what reads the numbers of the stages of a job."""
    return lambda store: names.stages(store, job)


def subjects(incomplete: str) -> list[str]:
    """What `why` explains: parts of jobs, nodes, and files after `JOB:`."""
    if ":" in incomplete:
        return [*selectors(incomplete), *files(incomplete)][:MOST]
    return parts_or_nodes(incomplete)


def parts_or_nodes(incomplete: str) -> list[str]:
    """What `history` takes: parts of jobs, and nodes."""
    return [*selectors(incomplete), *node_names(incomplete)][:MOST]


def files(incomplete: str) -> list[str]:
    """Job names, and after a `:` the files of that job."""
    return _in_job(incomplete, names.files)


def results(incomplete: str) -> list[str]:
    """Job names, and after a `:` the final outputs of that job."""
    return _in_job(incomplete, names.results)


def _in_job(incomplete: str, named: Callable[[Store, str, str, int], list[str]]) -> list[str]:
    """Return job names, and after a `:` names in that job."""
    job, colon, beginning = incomplete.partition(":")
    if not colon:
        return job_names(incomplete)
    return [f"{job}:{name}" for name in _read(lambda store: named(store, job, beginning, MOST))]


def targets_or_statuses(incomplete: str) -> list[str]:
    """What `set-status` takes: parts of jobs, and at the end one of its statuses."""
    from d0ctl.actions.packages.set_status import FROM

    return [*selectors(incomplete), *_beginning(incomplete, FROM)]


def templates(incomplete: str) -> list[str]:
    """Names of templates, built-in ones and those of the site."""
    from d0ctl.jobfile import job_templates  # imports yaml, which other words do not need

    return _beginning(incomplete, job_templates.found(session.home().templates))


def software(incomplete: str) -> list[str]:
    """Software of the catalogue."""
    return _beginning(incomplete, _read(names.software))


def _numbers(beginning: str, most: int) -> list[int]:
    """Return the numbers from 1 to `most` that begin with these digits, in order, at most MOST."""
    if not beginning:
        return list(range(1, min(most, MOST) + 1))
    if not beginning.isdecimal() or beginning[0] == "0":
        return []
    numbers: list[int] = []
    first = last = int(beginning)
    while first <= most and len(numbers) < MOST:
        numbers += range(first, min(last, most, first + MOST) + 1)
        first, last = first * 10, last * 10 + 9
    return numbers[:MOST]


def _count(read: Callable[[Store], int]) -> int:
    """Read a number from the store; 0 if it can't be read."""
    return next(iter(_read(lambda store: [read(store)])), 0)


def job_names(incomplete: str) -> list[str]:
    """Return names of jobs."""
    return _beginning(incomplete, _read(names.jobs))


def node_names(incomplete: str) -> list[str]:
    """Return names of nodes."""
    return _beginning(incomplete, _read(names.nodes))


def states(incomplete: str) -> list[str]:
    """Return names of statuses and phases."""
    from d0ctl.model import Phase, Status

    return _beginning(incomplete, dict.fromkeys([*map(str, Status), *map(str, Phase)]))


def reasons(incomplete: str) -> list[str]:
    """Reasons of failure."""
    from d0ctl.model import Reason

    return _beginning(incomplete, map(str, Reason))


def ends(incomplete: str) -> list[str]:
    """What `wait --until` waits for."""
    return _beginning(incomplete, ("done", "failed", "any"))


def _beginning(incomplete: str, candidates: Iterable[object]) -> list[str]:
    return [word for word in map(str, candidates) if word.startswith(incomplete)][:MOST]


def _read(read: Callable[[Store], Sequence[T]]) -> Sequence[T]:
    """Read from the store; return nothing if it can't be read: a shell must not see errors."""
    try:
        with session.reader() as store:
            return read(store)
    except D0Error:
        return []


OFFERS: Mapping[str, Offer] = {
    offer.__name__: offer
    for offer in (
        selectors,
        job_names,
        node_names,
        states,
        reasons,
        ends,
        subjects,
        parts_or_nodes,
        files,
        results,
        software,
        targets_or_statuses,
        templates,
    )
}
