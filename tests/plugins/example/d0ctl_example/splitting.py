"""A splitter: files of the same run go into one group."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol


class Member(Protocol):
    """A value of a loop: the name of a file or another word; size and events if they are known."""

    name: str
    size: int | None
    events: int | None


def by_run(members: Sequence[Member], argument: str) -> Iterator[list[Member]]:
    """Yield the files of each run, such as `run7-1.raw`; `argument` is the most of a group."""
    most = int(argument or len(members) or 1)
    for _, found in groupby(members, key=lambda member: member.name.partition("-")[0]):
        files = list(found)
        for at in range(0, len(files), most):
            yield files[at : at + most]
