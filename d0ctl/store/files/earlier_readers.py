"""Packages that have succeeded with earlier contents of files, in words."""

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import NamedTuple

from d0ctl.units import count, listed

MOST_NAMED = 3
"""How many changed files are named together; the rest is counted."""


class EarlierReaders(NamedTuple):
    """How many packages of a job have succeeded with earlier contents of a file, and the path of
    the part of the job that has them: a package, a stage, or the job. If it `is_behind`, an update
    of the job has to come first, as they may read other files after it. Another job may have made
    the file, `now_of` which it is: that took the name of an archived one.
    """

    packages: int
    part: str
    is_behind: bool = False
    now_of: str | None = None


def sentence(
    name: str, readers: EarlierReaders, *, is_said: bool = False, archived: bool = False
) -> str:
    """Say that packages have succeeded with earlier contents of a file.

    If it `is_said` how packages of the job that are out of date run again, that does it for these.
    Those of an archive never do.
    """
    them, its = ("it", "its") if readers.packages == 1 else ("them", "their")
    text = f"`{name}` has changed since {count(readers.packages, 'finished package')} read it"
    text += f", and is one of a later job `{readers.now_of}` now" if readers.now_of else ""
    if archived:
        return text
    text += ": "
    if readers.is_behind:
        return f"{text}{_update_first(readers)} {them} again"
    if is_said:
        job = readers.part.partition("/")[0]
        return f"{text}`d0ctl update {quote(job)} --again` runs {them} again, too"
    update = f"d0ctl update {quote(readers.part)}"
    return f"{text}`{update} --again` runs {them} again, `{update} --accept` keeps {its} results"


def _update_first(readers: EarlierReaders) -> str:
    job = readers.part.partition("/")[0]
    return f"`d0ctl update {quote(job)}` says how to run"


def sentences(
    found: Mapping[str, EarlierReaders], *, is_said: bool = False, archived: bool = False
) -> list[str]:
    """Say in one line that packages have succeeded with earlier contents of these files, likewise.

    The command is for the part of the job that has all of these packages.
    """
    if len(found) < 2:
        return [sentence(*file, is_said=is_said, archived=archived)
                for file in found.items()]  # fmt: skip
    text = f"{_named([*found])} have changed since finished packages read them"
    if later := dict.fromkeys(f"`{of.now_of}`" for of in found.values() if of.now_of):
        jobs = f"{'later jobs' if len(later) > 1 else 'a later job'} {listed([*later])}"
        every = all(of.now_of for of in found.values())
        text += f", and {'they' if every else 'some'} are of {jobs} now"
    if archived:
        return [text]
    parts = {"/".join(readers.part.split("/")[:2]) for readers in found.values()}
    job = next(iter(parts)).partition("/")[0]
    update = f"d0ctl update {quote(job if is_said or len(parts) > 1 else parts.pop())}"
    keeps = f", `{update} --accept` keeps their results" * (not is_said)
    if behind := [of for of in found.values() if of.is_behind]:
        return [f"{text}: {_update_first(behind[0])} these again"]
    return [f"{text}: `{update} --again` runs these again{', too' * is_said}{keeps}"]


def changed(files: Sequence[str], reader: str) -> str:
    """Say that files have changed since a package, the `reader`, read them."""
    verb, them = ("has", "it") if len(files) == 1 else ("have", "them")
    return f"{_named(files)} {verb} changed since {reader} read {them}"


def _named(files: Sequence[str]) -> str:
    names = [f"`{name}`" for name in files[:MOST_NAMED]]
    names += [count(len(files) - MOST_NAMED, "more file")] if len(files) > MOST_NAMED else []
    return listed(names)
