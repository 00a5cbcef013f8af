"""Outputs of failed attempts that a person accepts, and the attempt that takes them over."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from d0ctl.store.attempts import failures
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.rows import make


class Incomplete(Struct, frozen=True):
    """A package that lacks an output, and what its last attempt that left some has left."""

    package_id: int
    attempt: int | None
    node: int | None
    retained: str | None
    lacking: str


def lacking(selected: Selection) -> list[Incomplete]:
    """Return the selected packages that lack an output, with what an attempt left of them."""
    return [make(Incomplete, row) for row in selected.rows("outputs_to_accept")]


def missing_output(row: Incomplete) -> str | None:
    """Return the first output of a package that is nowhere; None if an attempt left all that it
    lacks.
    """
    retained: dict[str, Any] = json.loads(row.retained or "{}") if row.node is not None else {}
    files = [*retained.get("files", ()), *retained.get("left", ())]
    names = {file["name"] for file in files}
    late = [file.get("late") for file in files]
    for file in json.loads(row.lacking):
        name: str = file["name"]
        if late.count(name) < file["least"] if file["late"] else name not in names:
            return name
    return None if row.attempt is not None else json.loads(row.lacking)[0]["name"]


def _accept(store: Store, rows: Sequence[Row], *, actor: str, note: str | None, now: float) -> None:
    """failed, canceled -> ready or waiting: an attempt takes over the outputs of a previous one.

    It runs no binary, compares each file with its record, and ends like any other.
    """
    for row, requirement in zip(rows, failures.bound_to_last_node(store, rows), strict=True):
        store.change(
            "accept_outputs", package=row["package_id"], attempt=row["attempt"],
            requirement=requirement, actor=actor, note=note, now=now,
        )  # fmt: skip


def set_successful(selected: Selection, *, actor: str, note: str | None, now: float) -> None:
    """failed, canceled -> done, by hand; first an attempt takes over outputs left on a node."""
    _accept(selected.store, selected.rows("outputs_to_accept"), actor=actor, note=note, now=now)
    selected.change("set_successful", actor=actor, note=note, now=now)
    selected.change("release_packages", now=now)
    selected.change("reopen_jobs")
    selected.change("reopen_finished")


def set_failed(selected: Selection, *, actor: str, note: str | None, now: float) -> None:
    """unreachable -> failed, by hand."""
    selected.change("set_failed", actor=actor, note=note, now=now)
    selected.change("end_given_up", message=note, now=now)


def is_acceptable(store: Store, package: int) -> bool:
    """Return whether a failed package left all of its outputs, so that a person can accept them.

    Empty ones can be accepted, but `why` does not suggest it.
    """
    rows = lacking(store.select([package]))
    return bool(rows) and all(missing_output(row) is None and not _has_empty(row) for row in rows)


def _has_empty(row: Incomplete) -> bool:
    retained: dict[str, Any] = json.loads(row.retained or "{}")
    return any(
        file["size"] == 0 for file in [*retained.get("files", ()), *retained.get("left", ())]
    )
