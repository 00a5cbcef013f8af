"""Files that people list, re-flag and give up: each verb as a plan, and as one transaction."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from d0ctl.actions.action import Author
from d0ctl.errors import BadUsage, NotFound, Refused
from d0ctl.store import lifecycle
from d0ctl.store.connection import Row, Store
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.views import browse

SHOWN = 50
"""How many files a plan names; it counts the rest."""

MOST_LOST = 100_000
"""How many files of a job are weighed that its removal would lose: nobody waits long for that."""

PAGE = 1000
"""How many files are read at a time."""

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
    """Files that nothing but caches of nodes has: how many, how many bytes, the largest."""

    files: int
    bytes: int
    largest: tuple[tuple[str, int | None], ...]


def only_copies(store: Store, jobs: Sequence[str]) -> Lost:
    """The files that go with jobs: no results, and stored nowhere."""
    _begin(store)
    for job in jobs:
        store.change("choose_job_files", job=job, limit=MOST_LOST)
    weight = store.row("weigh_chosen_files")
    assert weight is not None
    return Lost(weight["files"], int(weight["bytes"]), largest(store))


def _begin(store: Store) -> None:
    """Begin a new choice, also in a connection that only reads."""
    store.run_script("temporary_choice")
    store.change("clear_chosen_files")


def choose(store: Store, choice: FileChoice) -> Row:
    """Choose files; how many and how large they are. Raises NotFound where there is none."""
    if choice.node is not None and store.row("node_by_name", name=choice.node) is None:
        raise NotFound(f"there is no node `{choice.node}`", hint="d0ctl node list")
    _begin(store)
    store.change("choose_files", job=choice.job, name=choice.name, node=choice.node,
                 disposition=choice.disposition)  # fmt: skip
    weight = store.row("weigh_chosen_files")
    assert weight is not None
    if not weight["files"]:
        if not set("*?[") & set(choice.job):
            browse.job(store, choice.job)
        raise NotFound(f"no file matches `{choice}`", hint=f"d0ctl file list '{choice.job}'")
    return weight


def pages(store: Store, limit: int) -> Iterator[Row]:
    """The chosen files by their age; at most so many, all of them with 0."""
    after, left = 0, limit or None
    while left is None or left > 0:
        rows = store.rows("files_page", after=after, limit=min(PAGE, left or PAGE))
        if not rows:
            return
        yield from rows
        after = rows[-1]["id"]
        left = None if left is None else left - len(rows)


def document(row: Row) -> dict[str, Any]:
    """All about a file, for programs."""
    return {
        "file": f"{row['job']}:{row['name']}", "job": row["job"], "name": row["name"],
        "maker": row["maker"], "present": bool(row["present"]), "partial": bool(row["partial"]),
        "dropped": bool(row["dropped"]), "size": row["size"], "checksum": row["checksum"],
        "disposition": disposition(row), "given": row["disposition"],
        "result": bool(row["result"]), "stored": json.loads(row["stored"] or "[]"),
        "copies": json.loads(row["copies"]),
    }  # fmt: skip


def disposition(row: Row) -> str:
    """What becomes of a file: as a person said, else as its maker's job file has it."""
    return str(row["disposition"] or row["dispositions"])


def plan_disposition(store: Store, choice: FileChoice, given: str) -> FilePlan:
    """Which files would get a disposition. Raises BadUsage and NotFound."""
    _check(given, (*DISPOSITIONS, AS_WRITTEN))
    weight = choose(store, choice)
    former = [row[0] for row in store.rows("former_dispositions")]
    undo = None
    if len(former) == 1:
        undo = f"d0ctl file set-disposition '{choice}' {former[0] or AS_WRITTEN}"
    return FilePlan("file set-disposition", choice, weight["files"], int(weight["bytes"]),
                    largest(store), disposition=given, undo=undo)  # fmt: skip


def plan_purge(store: Store, choice: FileChoice) -> FilePlan:
    """Which files would lose all copies that d0ctl keeps. Raises NotFound and Refused."""
    choose(store, choice)
    store.change("spare_absent_files", cache=f"{store.home.cache}/")
    kept = int(store.value("count_needed_files"))
    store.change("spare_needed_files")
    weight = store.row("weigh_chosen_files")
    assert weight is not None
    if not weight["files"]:
        why = f"{kept} needed by packages that have not ended" if kept else "no copy is kept"
        raise Refused(f"no file of `{choice}` can be purged: {why}",
                      hint=f"d0ctl file list '{choice}'")  # fmt: skip
    return FilePlan("file purge", choice, weight["files"], int(weight["bytes"]), largest(store),
                    kept=kept)  # fmt: skip


def largest(store: Store) -> tuple[tuple[str, int | None], ...]:
    """The chosen files that take most space, with their sizes."""
    rows = store.rows("largest_chosen_files", limit=SHOWN)
    return tuple((f"{row['job']}:{row['name']}", row["size"]) for row in rows)


def set_disposition(store: Store, choice: FileChoice, given: str, by: Author) -> FilePlan:
    """Keep what a person says of files; those that nobody needs go as it says."""
    with store.writing():
        plan = plan_disposition(store, choice, given)
        store.change("give_disposition", disposition=None if given == AS_WRITTEN else given)
        store.change("spare_no_more")
        store.change("look_again")
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
