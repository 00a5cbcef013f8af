"""Files that people list, re-flag and give up: each verb as a plan, and as one transaction."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from d0ctl.actions.action import Author
from d0ctl.errors import BadUsage, NotFound, Refused
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.files import selection
from d0ctl.store.files.selection import Weight
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.views import browse
from d0ctl.store.views.choice import check_node

SHOWN = 50
"""How many files a plan names; it counts the rest."""

MOST_LOST = 100_000
"""How many files of a job are weighed that its removal would lose: nobody waits long for that."""

DISPOSITIONS = ("retain-indef", "retain-temp", "deletable")

AS_WRITTEN = "as-written"
"""Takes back what a person said: the job file counts again."""

_WRITTEN = re.compile(r"([A-Za-z*?\[][^:/]*):(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileChoice:
    """Files by `JOB:NAME`, both with wildcards, and filters."""

    job: str
    name: str
    node: str | None = None
    disposition: str | None = None

    def __str__(self) -> str:
        return f"{self.job}:{self.name}"


def parse(text: str, *, node: str | None = None, disposition: str | None = None) -> FileChoice:
    """Read `JOB:NAME`; a job alone means all its files. Raises BadUsage."""
    if disposition is not None:
        _check(disposition, DISPOSITIONS)
    if ":" not in text:
        return FileChoice(text, "*", node, disposition)
    found = _WRITTEN.fullmatch(text)
    if not found:
        raise BadUsage(f"`{text}` names no file", hint="JOB:NAME, as in 'reco001:*.root'")
    return FileChoice(found[1], found[2], node, disposition)


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a verb would do to how many files and bytes; it names the largest."""

    verb: str
    choice: FileChoice
    files: int
    bytes: int
    largest: tuple[tuple[str, int | None], ...]
    kept: int = 0
    """How many files stay as they are, because a package needs them."""
    disposition: str | None = None
    undo: str | None = None


class Lost(NamedTuple):
    """Files that are only in caches of nodes: how many, how many bytes, the largest."""

    files: int
    bytes: int
    largest: tuple[tuple[str, int | None], ...]


def only_copies(store: Store, jobs: Sequence[str]) -> Lost:
    """Return the files that go with jobs: no results, and stored nowhere."""
    weight = selection.select_of_jobs(store, jobs, MOST_LOST)
    return Lost(weight.files, weight.bytes, selection.largest(store, SHOWN))


def choose(store: Store, choice: FileChoice) -> Weight:
    """Select files; how many and how large they are. Raises NotFound if there is none."""
    if choice.node is not None:
        check_node(store, choice.node)
    weight = selection.select(store, choice.job, choice.name, node=choice.node,
                              disposition=choice.disposition)  # fmt: skip
    if not weight.files:
        if not set("*?[") & set(choice.job):
            browse.job(store, choice.job)
        raise NotFound(f"no file matches `{choice}`", hint=f"d0ctl file list '{choice.job}'")
    return weight


def plan_disposition(store: Store, choice: FileChoice, given: str) -> FilePlan:
    """Which files would get a disposition. Raises BadUsage and NotFound."""
    _check(given, (*DISPOSITIONS, AS_WRITTEN))
    weight = choose(store, choice)
    previous = selection.dispositions(store)
    undo = None
    if len(previous) == 1:
        undo = f"d0ctl file set-disposition '{choice}' {previous[0] or AS_WRITTEN}"
    return FilePlan("file set-disposition", choice, weight.files, weight.bytes,
                    selection.largest(store, SHOWN), disposition=given, undo=undo)  # fmt: skip


def plan_purge(store: Store, choice: FileChoice) -> FilePlan:
    """Which files would lose all copies that d0ctl keeps. Raises NotFound and Refused."""
    choose(store, choice)
    kept = selection.keep_removable(store)
    weight = selection.weight(store)
    if not weight.files:
        why = f"{kept} needed by packages that have not ended" if kept else "no copy is kept"
        raise Refused(f"no file of `{choice}` can be purged: {why}",
                      hint=f"d0ctl file list '{choice}'")  # fmt: skip
    return FilePlan("file purge", choice, weight.files, weight.bytes,
                    selection.largest(store, SHOWN), kept=kept)  # fmt: skip


def set_disposition(store: Store, choice: FileChoice, given: str, by: Author) -> FilePlan:
    """Keep what a person says of files; those that nobody needs go as it says."""
    with store.writing():
        plan = plan_disposition(store, choice, given)
        selection.set_disposition(store, None if given == AS_WRITTEN else given)
        _keep(store, plan, f"{choice} {given}", by)
    return plan


def purge(store: Store, choice: FileChoice, by: Author) -> FilePlan:
    """Remove all copies of files that d0ctl keeps; results and stored files stay."""
    with store.writing():
        plan = plan_purge(store, choice)
        gone = unneeded_files.purge_chosen(store, now=by.now)
        _keep(store, plan, str(choice), by)
    store.home.forget_copies(gone)
    return plan


def _keep(store: Store, plan: FilePlan, target: str, by: Author) -> None:
    lifecycle.keep_action(store, verb=plan.verb, target=target, actor=by.actor, note=by.note,
                          packages=0, now=by.now, undo=plan.undo)  # fmt: skip


def _check(given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise BadUsage(f"`{given}` is no disposition", hint=f"one of {', '.join(known)}")
