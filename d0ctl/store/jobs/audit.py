"""The record of actions by people, for later readers."""

import json
from collections.abc import Sequence

from msgspec import Struct

from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.rows import make


class AuditEntry(Struct, frozen=True):
    """Who did what to what, when and why, and the command that undoes it."""

    at: float
    actor: str
    verb: str
    target: str
    note: str | None
    undo: str | None = None


def latest(store: Store) -> int:
    """Return the number of the last action by anybody; later ones have higher numbers."""
    return int(store.value("last_action"))


def latest_of(store: Store, actor: str) -> list[AuditEntry]:
    """Return the last action of a person; several if they were carried out together."""
    return [make(AuditEntry, row) for row in store.rows("last_actions_of", actor=actor)]


def latest_on(store: Store, job: str) -> int:
    """Return the number of the last action that changed a job, or may have."""
    return int(store.value("last_action_on", job=job))


def removed_since(store: Store, at: float) -> list[str]:
    """Return the selectors of jobs that were there then, and were removed or archived later."""
    rows = store.rows("removals_since", at=at)
    return [name for row in rows for name in row["target"].split()]


def has_archived(store: Store) -> bool:
    """Return whether jobs were ever archived, wherever their archives are now."""
    return bool(store.value("has_archived"))


def since(selected: Selection, seen: int) -> AuditEntry | None:
    """Return the last action on any of the selected packages since that number."""
    return _entry(selected.row("audit_entry_since", seen=seen))


def on_job_since(store: Store, job: str, verbs: Sequence[str], seen: int) -> AuditEntry | None:
    """Return the last action of these kinds on a whole job since that number."""
    return _entry(
        store.row("audit_entry_on_job_since", job=job, verbs=json.dumps(list(verbs)), seen=seen)
    )


def last(selected: Selection) -> AuditEntry | None:
    """Return the last action on one of the selected packages, or on its line."""
    return _entry(selected.row("latest_audit_entry"))


def _entry(row: Row | None) -> AuditEntry | None:
    return None if row is None else make(AuditEntry, row)
