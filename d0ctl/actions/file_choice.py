"""Files that people select by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import NamedTuple, TypeAlias

from d0ctl.actions.action import AnyRequest, Plan
from d0ctl.actions.option import OptionsType
from d0ctl.errors import BadUsage, NotFound
from d0ctl.select import parse as parse_selector
from d0ctl.store.connection import FileSelection, Store
from d0ctl.store.files import selected_files
from d0ctl.store.files.selected_files import FileTotals
from d0ctl.store.views import browse
from d0ctl.store.views.selection import check_node
from d0ctl.store.views.selection import choose as choose_packages
from d0ctl.units import count

SHOWN = 50
"""How many files a plan names; it counts the rest."""

MOST_LOST = 100_000
"""How many files lost with a job are added up; the limit keeps the wait short."""

DISPOSITIONS = ("retain-indef", "retain-temp", "deletable")

_WRITTEN = re.compile(r"([A-Za-z*?\[][^:/]*):(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileChoice:
    """Files by `JOB:NAME`, both with wildcards, and filters."""

    job: str
    name: str
    node: str | None = None
    disposition: str | None = None

    @property
    def brief(self) -> str:
        """The files in a few words, for use in a sentence."""
        return str(self)

    @property
    def arguments(self) -> list[str]:
        """The words that name it on the command line."""
        arguments = [str(self), *(["--node", self.node] if self.node else [])]
        return [*arguments, "--disposition", self.disposition] if self.disposition else arguments

    @property
    def filters(self) -> str:
        """The filters in words that continue a sentence; empty without any."""
        disposition = f" with disposition `{self.disposition}`" if self.disposition else ""
        return f"{disposition} on node `{self.node}`" if self.node else disposition

    def __str__(self) -> str:
        return f"{self.job}:{self.name}"


def parse(text: str, *, node: str | None = None, disposition: str | None = None) -> FileChoice:
    """Read `JOB:NAME`; a job alone means all its files. Raises BadUsage."""
    if disposition is not None:
        check_disposition(disposition)
    if ":" not in text:
        if "/" in text or "." in text:
            meant = f"{text.partition('/')[0]}:*" if "/" in text else f"reco001:{text}"
            raise BadUsage(f"`{text}` does not name a file", hint=f"JOB:NAME, as in {quote(meant)}")
        return FileChoice(text, "*", node, disposition)
    found = _WRITTEN.fullmatch(text)
    if not found:
        job = text.partition(":")[0]
        whole = f", or `{job}` for all its files" if text == f"{job}:" and job else ""
        hint = f"JOB:NAME, as in 'reco001:*.root'{whole}"
        raise BadUsage(f"`{text}` does not name a file", hint=hint)
    return FileChoice(found[1], found[2], node, disposition)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan(Plan):
    """What an action would do, with the numbers of files and bytes; it names the largest."""

    file_selection: FileSelection = field(repr=False, compare=False)
    files: int
    bytes: int
    largest: tuple[tuple[str, int | None], ...]
    needed: int = 0
    """How many files stay as they are because a package needs them."""

    @property
    def what(self) -> str:
        """Its files in a few words."""
        return f"{count(self.files, 'file')} of `{self.request.target.brief}`"


FileRequest: TypeAlias = AnyRequest["FileChoice", OptionsType]


class Lost(NamedTuple):
    """Files that are only in caches of nodes: how many, how many bytes, the largest."""

    files: int
    bytes: int
    largest: tuple[tuple[str, int | None], ...]


def only_copies(store: Store, jobs: Sequence[str]) -> Lost:
    """Return the files that are lost with jobs: neither results nor stored elsewhere."""
    selected = selected_files.select_of_jobs(store, jobs, MOST_LOST)
    weight = selected_files.weight(selected)
    return Lost(weight.files, weight.bytes, selected_files.largest(selected, SHOWN))


def choose(store: Store, choice: FileChoice) -> tuple[FileSelection, FileTotals]:
    """Select files; return also their number and size. Raises NotFound if there are none."""
    if choice.node is not None:
        check_node(store, choice.node)
    selected = selected_files.select(store, choice.job, choice.name, node=choice.node,
                                     disposition=choice.disposition)  # fmt: skip
    weight = selected_files.weight(selected)
    if not weight.files:
        if not set("*?[") & set(choice.job):
            browse.job(store, choice.job)
        is_narrowed = choice.filters or choice.name != "*"
        has_others = is_narrowed and selected_files.has_files(store, choice.job)
        hint = f"d0ctl file list {quote(choice.job)}" if has_others else None
        raise NotFound(f"no file matches `{choice}`{choice.filters}", hint=hint)
    return selected, weight


def choose_listed(
    store: Store, text: str, *, node: str | None, disposition: str | None, now: float
) -> tuple[FileSelection, FileTotals]:
    """Select files by `JOB:NAME`, or those that the packages of a part of a job make.

    Raises BadUsage, and NotFound if there are none.
    """
    if "/" not in text.partition(":")[0]:
        return choose(store, parse(text, node=node, disposition=disposition))
    if disposition is not None:
        check_disposition(disposition)
    if node is not None:
        check_node(store, node)
    packages = choose_packages(store, parse_selector(text), now=now)
    selected = selected_files.select_of_packages(packages, node=node, disposition=disposition)
    weight = selected_files.weight(selected)
    if not weight.files:
        filters = FileChoice(text, "*", node, disposition).filters
        raise NotFound(f"the packages of `{text}` make no file{filters}")
    return selected, weight


def check_disposition(disposition: str, known: tuple[str, ...] = DISPOSITIONS) -> str:
    """Return a disposition. Raises BadUsage for any other word."""
    if disposition not in known:
        raise BadUsage(f"`{disposition}` is not a disposition", hint=f"one of {', '.join(known)}")
    return disposition
