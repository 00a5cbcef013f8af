"""The site: its settings in force, their defaults, and what is wrong with its parts."""

import json
import shlex
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl.sitefile.defaults import STANDARD
from d0ctl.store.connection import Row, Store, as_json
from d0ctl.store.rows import make_all
from d0ctl.units import parse_rate

if TYPE_CHECKING:
    from pathlib import Path

    from d0ctl.schedule.quota import Throttle


SUCCESSOR = "d0ctl.successor"
"""The file in a home with the path of a copy of it that has driven the nodes since."""

IN_VAIN = ("broken", "exhausted", "failed")
"""Statuses of tasks that have ended without what they were for."""


class TaskInVain(Struct, frozen=True):
    """A task that has ended in vain, which nobody has acknowledged, and why."""

    job_id: int
    name: str
    status: str
    note: str | None


class FailingTransfers(Struct, frozen=True):
    """Files of a job that three tries or more could not transfer, and what one of them met."""

    job_id: int
    name: str
    files: int
    last_error: str
    status: None = None
    """No word for the row of the job: it goes on."""


class Fault(Struct, frozen=True):
    """Why a batch system starts no pilots; none is submitted before `retry`.

    `kind` is `submit` if it refused one, `queue` if it does not answer, and `pilot` if pilots end
    at once.
    """

    kind: str
    text: str
    since: float
    retry: float | None


class Overflow(NamedTuple):
    """A cache that is about to exceed its capacity: when, how many bytes at most, and now."""

    cluster: str
    at: float
    space: int
    peak: int
    peak_at: float
    used: int


class CopiedHome(NamedTuple):
    """The home of which another one is a copy, and the time of the last entry in the copy.

    If it is not there any more, it was moved or lost, or this user may not enter it. If it is
    newer, it is itself a copy of that other one, and has driven the nodes since.
    """

    root: "Path"
    last: float | None
    is_there: bool = True
    is_newer: bool = False


def copied_home(store: Store) -> CopiedHome | None:
    """Return the home of which this is a copy that nobody has driven, as after `restore` into an
    empty folder; None if it is no copy.
    """
    if store.home.archive:  # its rows end earlier than the copy, or later
        from d0ctl.store.files.moved_home import reading  # late: archives are seldom read

        with suppress(sqlite3.Error), reading(Home(store.home.root).database) as database:
            return copied_home(database)
        return None
    if store.value("last_home") in (None, str(store.home.root)):
        return None
    from d0ctl.store.files.moved_home import previous_home  # late: few homes were copied or moved

    root = previous_home(store)
    homes = [] if root is None else [root, *successors(root)]
    if not homes or store.home.root in homes:  # then this one has taken over
        return None
    root = next((home for home in reversed(homes) if has_database(home)), homes[0])
    is_there = has_database(root)
    if not is_there and (store.home.driver.exists() or not store.value("is_restored")):
        return None  # the home itself was moved
    last = store.value("newest_restored_entry") or store.value("newest_entry")
    return CopiedHome(root, last, is_there)


def has_database(root: "Path") -> bool:
    """Return whether a home is there with a database, as far as this user may see."""
    try:
        return Home(root).database.exists()
    except PermissionError:
        return False


def successors(root: "Path") -> list["Path"]:
    """Return the home that has taken over from one, that which has taken over from it, and so on;
    the last may have been moved.
    """
    found: list[Path] = []
    newer = _successor(root)
    while newer is not None and newer not in (root, *found):
        found.append(newer)
        newer = _successor(newer)
    return found


def successor(home: Home) -> "Path | None":
    """Return the copy of a home that has driven the nodes since; it may have been moved."""
    return _successor(home.root)


def _successor(root: "Path") -> "Path | None":
    try:
        return root / (root / SUCCESSOR).read_text()
    except OSError:
        return None


def refuse_superseded(home: Home) -> None:
    """Raise Refused if a copy of the home has taken over from it."""
    newer = successor(home)
    if newer is None:
        return
    is_there = has_database(newer)
    go_on = shlex.join(["d0ctl", "--home", str(newer), "status"])
    raise Refused(
        f"home `{newer}` has taken over from this one"
        f"{'' if is_there else ', and was moved or removed'}: it has driven the nodes of this site "
        "since, where a daemon of this home would delete what is newer",
        hint=f"{go_on if is_there else 'use that home where it is now'}; to use this home all the "
        f"same, remove `{home.root / SUCCESSOR}` first",
    )


def other_home(store: Store) -> CopiedHome | None:
    """Return the home that has taken over from this one, or of which this is a copy."""
    newer = successor(store.home)
    if newer is None:
        return copied_home(store)
    is_there = has_database(newer)
    return CopiedHome(newer, store.value("newest_entry"), is_there, is_newer=True)


def site_name(store: Store) -> str:
    """Return the name of this site on its nodes."""
    return str(store.value("site"))


def last_restore(store: Store) -> float:
    """Return when the home was last restored from a backup; 0 if never."""
    return float(store.value("last_restore") or 0.0)


def setting(store: Store, name: str) -> Any:
    """Return one section of the site file as its reader returned it; None if it has none.

    It is read once per transaction that writes, and must not be changed.
    """
    known = store.remembered
    if name not in known:
        value = store.value("setting", name=name)
        known[name] = None if value is None else json.loads(value)
    return known[name]


def default(store: Store, name: str) -> Any:
    """Return the value if a job sets none: that of the site file, else of `STANDARD`."""
    own = setting(store, "defaults") or {}
    return own[name] if name in own else STANDARD[name]


def fault_of(row: Row) -> Fault | None:
    """Return the fault in the row of a cluster, if it has one."""
    if row["fault"] is None:
        return None
    return Fault(row["fault_of"], row["fault"], row["fault_since"], row["retry"])


def faults(store: Store) -> dict[str, Fault]:
    """Return the batch systems with a fault."""
    found = ((row["name"], fault_of(row)) for row in store.rows("batch_faults"))
    return {name: fault for name, fault in found if fault is not None}


def fails(
    store: Store, cluster: int, kind: str, text: str, *, retry: float | None, now: float
) -> None:
    """Record why a batch system starts no pilots, and when the next ones are submitted."""
    store.change("batch_system_fails", cluster=cluster, kind=kind, text=text, retry=retry, now=now)


def works(store: Store, cluster: int) -> None:
    """Record that the fault of a batch system is over."""
    store.change("batch_system_works", cluster=cluster)


def overflows(store: Store, now: float, cluster: int | None = None) -> list[Overflow]:
    """Return the caches, or that of a cluster, that are too full, or will be by the forecast."""
    return [Overflow._make(row) for row in store.rows("overflows", cluster=cluster, now=now)]


def wrong_tokens(store: Store, now: float) -> int:
    """Return how many messages were rejected lately because another key has signed them."""
    if next((store.home.dropbox / "rejected").glob("*.reason"), None) is None:
        return 0
    from d0ctl import rejected  # late: there are hardly ever any

    return rejected.wrong_tokens(store.home, now)


def throttle_rules(store: Store) -> list["Throttle"]:
    """Return the throttles of this site."""
    return throttle_rules_of(setting(store, "throttles") or {})


def throttle_rules_of(said: Mapping[str, Mapping[str, Any]]) -> list["Throttle"]:
    """Return the throttles of a section `throttles` of a site file."""
    return [_rule(name, keys) for name, keys in said.items()]


def _rule(name: str, keys: Mapping[str, Any]) -> "Throttle":
    from d0ctl.schedule.quota import Throttle  # late: most sites have no throttles

    kind, _, pattern = name.partition(" ")
    rate = keys.get("max-launches")
    number, seconds = (None, 0.0) if rate is None else parse_rate(rate)
    return Throttle(kind, pattern, keys.get("max-running"), number, seconds)


def needing_a_person(store: Store) -> list[TaskInVain | FailingTransfers]:
    """Return tasks that have ended in vain, and jobs with files that can't be transferred."""
    return [*tasks_in_vain(store), *failing_transfers(store)]


def failing_transfers(store: Store) -> list[FailingTransfers]:
    """Return the jobs with files that several tries could not transfer."""
    return make_all(FailingTransfers, store.rows("failing_transfers"))


def ended_tasks(store: Store, jobs: Iterable[int]) -> dict[int, str]:
    """Return the statuses of ended and broken tasks, by the ids of their jobs."""
    rows = store.rows("statuses_of_ended_tasks", jobs=as_json(list(jobs)))
    return {row["job_id"]: row["status"] for row in rows}


def tasks_in_vain(store: Store) -> list[TaskInVain]:
    """Return the tasks that have ended in vain, without acknowledged ones."""
    return make_all(TaskInVain, store.rows("tasks_needing_a_person", statuses=as_json(IN_VAIN)))


def failures_by_job(store: Store) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many failed packages jobs have: not acknowledged, and acknowledged."""
    rows = list(store.rows("jobs_with_failures"))
    failed = {row["name"]: row["failed"] for row in rows if row["failed"]}
    return failed, {row["name"]: row["acknowledged"] for row in rows if row["acknowledged"]}


def reads_other_jobs(store: Store, job: int) -> bool:
    """Return whether a job reads files that other jobs make."""
    return store.row("some_needs", job=job) is not None


def blocked_by_others(store: Store) -> list[str]:
    """Return the jobs that can't go on only because other jobs do not make files for them."""
    return [row["name"] for row in store.rows("blocked_by_others")]


def suspected(store: Store, jobs: Collection[int]) -> set[str]:
    """Return the nodes that d0ctl drained for packages of these jobs, of which some wait or run
    elsewhere now.
    """
    return {row["name"] for row in store.rows("suspected_nodes") if row["job_id"] in jobs}
