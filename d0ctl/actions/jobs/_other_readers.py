"""What happens to packages of other jobs that read files of jobs which go."""

from collections.abc import Iterator, Mapping, Sequence

from d0ctl.actions.wording import MOST_NAMED
from d0ctl.units import count, listed


def describe(canceled: Mapping[str, int], past: Sequence[str]) -> Iterator[str]:
    """Say which packages would be canceled, and which jobs have read files that would go."""
    if canceled:
        yield f"would cancel {_packages(canceled)}, because nothing makes their inputs then"
    if past:
        yield f"{_jobs(past)} read files that would be gone: they could not run again"


def report(canceled: Mapping[str, int], past: Sequence[str]) -> Iterator[str]:
    """Say which packages were canceled, and which jobs have read files that are gone."""
    if canceled:
        yield f"canceled {_packages(canceled)}, because nothing makes their inputs any more"
    if past:
        yield f"{_jobs(past)} read files that are gone: they can't run again without these"


def _jobs(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more jobs"] if len(names) > MOST_NAMED else []
    return f"packages of {listed([*(f'`{name}`' for name in names[:MOST_NAMED]), *more])}"


def _packages(readers: Mapping[str, int]) -> str:
    return listed([f"{count(number, 'package')} of `{job}`" for job, number in readers.items()])
