"""What is said about a job file that is submitted, or made from another workflow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from d0ctl.units import clean, count

MOST_WARNINGS = 5
"""How many warnings `submit` and `run` print."""

MOST_LEFT_OUT = 200
"""How many omitted things are named."""


def warnings(warnings: Sequence[str], file: str) -> Iterator[str]:
    """Yield the first warnings of a job file that is going to be submitted."""
    yield from warnings[:MOST_WARNINGS]
    if (more := len(warnings) - MOST_WARNINGS) > 0:
        yield f"and {count(more, 'more warning')}: d0ctl validate {quote(file)}"


def to_be_moved(folder: Path) -> str:
    """Say where a job file finds its files."""
    return f"files are looked for beside the job file: move it to `{folder}`"


def left_out(things: Sequence[str]) -> Iterator[str]:
    """Yield what a workflow has that a job file can't have."""
    for thing in things[:MOST_LEFT_OUT]:
        yield f"left out: {clean(thing)}"
    if (more := len(things) - MOST_LEFT_OUT) > 0:
        yield f"and {count(more, 'more thing')} left out"
