"""What people did, told to whoever comes second."""

import json
from collections.abc import Sequence

from msgspec import Struct

from d0ctl.store.connection import Row, Store


class Deed(Struct, frozen=True):
    """Who did what to what, when and why, and the command that undoes it."""

    at: float
    actor: str
    verb: str
    target: str
    note: str | None
    undo: str | None = None


def latest(store: Store) -> int:
    """The number of the last thing that anybody did; what is done later has a higher one."""
    return int(store.value("last_action"))


def since(store: Store, seen: int) -> Deed | None:
    """The last thing done to any of the chosen packages since that number."""
    return _deed(store.row("deed_since", seen=seen))


def on_job_since(store: Store, job: str, verbs: Sequence[str], seen: int) -> Deed | None:
    """The last thing of these kinds done to a whole job since that number."""
    return _deed(store.row("deed_on_job_since", job=job, verbs=json.dumps(list(verbs)), seen=seen))


def last(store: Store) -> Deed | None:
    """The last thing done to one of the chosen packages, or to its line."""
    return _deed(store.row("last_deed"))


def _deed(row: Row | None) -> Deed | None:
    if row is None:
        return None
    return Deed(row["at"], row["actor"], row["verb"], row["target"], row["note"], row["undo"])
