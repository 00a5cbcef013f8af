"""What happens to packages of other jobs that read files of jobs which go."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from d0ctl.actions.wording import MOST_NAMED
from d0ctl.store.jobs.removal import OtherReaders
from d0ctl.units import count, listed


def describe(canceled: Mapping[str, int], others: OtherReaders) -> Iterator[str]:
    """Say which packages would be canceled, and which jobs read files of the jobs that go."""
    if canceled:
        yield f"would cancel {_packages(canceled)}, because nothing makes {_own(canceled)} then"
    if others.without:
        yield (f"packages of {_named(others.without)} read files that would be gone: they could "
               "not run again")  # fmt: skip
    if others.by_path:
        yield (f"packages of {_named(others.by_path)} read files in results/ that would not be "
               "there any more: they could not run again")  # fmt: skip
    if others.all:
        yield f"the job {_read(others)} could not be updated or cloned before that was changed"


def report(canceled: Mapping[str, int], others: OtherReaders) -> Iterator[str]:
    """Say which packages were canceled, and which jobs read files of the jobs that are gone."""
    if canceled:
        yield f"canceled {_packages(canceled)}, because nothing makes {_own(canceled)} any more"
    if others.without:
        yield (f"packages of {_named(others.without)} read files that are gone: they can't run "
               "again without these")  # fmt: skip
    if others.by_path:
        yield (f"packages of {_named(others.by_path)} read files that are not in results/ any "
               "more: they can't run again without these")  # fmt: skip
    if others.all:
        yield f"the job {_read(others)} can't be updated or cloned before that is changed"


def of_moved(readers: Sequence[str], job: str, aside: Path, *, is_done: bool) -> Iterator[str]:
    """Say which jobs read results of an earlier job by their paths, as a new one takes its name."""
    if not readers:
        return
    text = f"{_named(readers)} {'reads' if len(readers) == 1 else 'read'} files of results/{job}"
    if is_done:
        yield (f"{text}, which are in results/{aside.name} now: packages that run from now on read "
               "those of the new job")  # fmt: skip
    else:
        yield (f"{text}: packages that run after that would read those of the new job; "
               "`--as NAME` leaves these where they are")  # fmt: skip


def _read(others: OtherReaders) -> str:
    if len(others.all) == 1:
        return f"file of {_named(others.all)} reads its files: it"
    return f"files of {_named(others.all)} read its files: they"


def _named(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more jobs"] if len(names) > MOST_NAMED else []
    return listed([*(f"`{name}`" for name in names[:MOST_NAMED]), *more])


def _packages(readers: Mapping[str, int]) -> str:
    return listed([f"{count(number, 'package')} of `{job}`" for job, number in readers.items()])


def _own(readers: Mapping[str, int]) -> str:
    return "its inputs" if sum(readers.values()) == 1 else "their inputs"
