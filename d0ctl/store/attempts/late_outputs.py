"""Late outputs: a pattern in the job file, files once their package has made them.

A pattern is a row of `file` that is never copied. It counts as present once its files are
known; so its readers are held until then, and wait for the files themselves as for any
others. A remake with other names replaces them. The names are its contents: a package that has run
with others has read earlier contents of it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct

from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.file_names import output_name, takes
from d0ctl.jobfile.yaml.faults import escape
from d0ctl.store.attempts.endings import End
from d0ctl.store.connection import Row, Store
from d0ctl.store.lifecycle import DROPS
from d0ctl_wrapper.attempt.chain.late_outputs import MOST

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending

FORGET = (
    "keep_forgotten_inputs",
    "leave_lists",
    "forget_streamed_late_inputs",
    "forget_late_inputs",
    "forget_late_transfers",
    "forget_late_locations",
    "forget_late_file",
)
"""Queries that remove a file of a job, except its copies on nodes."""


REGROUPED = "is in groups, but stands for other files than before"
"""What is said of a late output whose package has made other files than when it was grouped."""


class _Pattern(Struct, frozen=True):
    """A late output, and its file names in an end message."""

    id: int
    name: str
    job: int
    names: frozenset[str]


def populate(store: Store, ends: Sequence[End], *, now: float) -> list[End]:
    """Make files of the reported names of late outputs; an end with an impossible name becomes
    the end of a failed attempt.
    """
    patterns: dict[int, list[Row]] = {}
    for row in store.rows("late_patterns"):
        patterns.setdefault(row["package_id"], []).append(row)
    if not patterns:
        return list(ends)
    return [
        _populate(store, end, patterns[end[1]["package_id"]], now)
        if end[1]["package_id"] in patterns and _counts(*end)
        else end
        for end in ends
    ]


def _counts(message: "Ending", context: Row) -> bool:
    """Return whether the outputs of an attempt are accepted."""
    if context["current"] != message["attempt"]:
        return False
    if message["outcome"] == "successful":
        return True
    is_killed = context["phase"] == "killing" and context["request"] not in DROPS
    return is_killed and bool(message.get("partial"))


def _populate(store: Store, end: End, rows: Iterable[Row], now: float) -> End:
    message, context = end
    reported: dict[str, str] = {
        output["name"]: output["late"] for output in message["outputs"] if output.get("late")
    }
    known = [
        _Pattern(row["id"], row["name"], row["job_id"],
                 frozenset(name for name, pattern in reported.items() if pattern == row["name"]))
        for row in rows
    ]  # fmt: skip
    fault = _fault(store, known, reported) or _regrouping(store, known)
    if fault is not None:
        failed: Ending = {**message, "outcome": "failed", "reason": "verification",
                          "detail": fault, "outputs": []}  # fmt: skip
        return failed, context
    for pattern in known:
        _replace(store, pattern, now)
    store.change_many("find_late", ((pattern.id,) for pattern in known))
    return end


def _fault(store: Store, known: Sequence[_Pattern], reported: Mapping[str, str]) -> str | None:
    """Return why these can't be names of outputs; None if they can."""
    if len(reported) > MOST:
        return f"more than {MOST} files match the late outputs"
    by_name = {pattern.name: pattern for pattern in known}
    for name, asked in reported.items():
        pattern = by_name.get(asked)
        if pattern is None:
            return f"late output `{escape(name)}` matches no pattern of its package"
        try:
            if output_name(name) != name:
                return f"late output `{escape(name)}` is not a plain path"
        except BadValueError as error:
            return f"late {error}"
        row = store.row("file_of_name", job=pattern.job, name=name)
        if row is not None and row["pattern_id"] != pattern.id:
            return f"late output `{escape(name)}` has the same name as a file of {_owner(row)}"
    return None


def _regrouping(store: Store, known: Sequence[_Pattern]) -> str | None:
    """Return a message if groups were made of other files than these; else None."""
    for pattern in known:
        rows = store.rows("files_of_pattern", pattern=pattern.id)
        before = {row["name"] for row in rows}
        if before and before != pattern.names and store.value("is_in_groups", pattern=pattern.id):
            name = min(before ^ pattern.names)
            return f"late output `{escape(pattern.name)}` {REGROUPED}, such as `{escape(name)}`"
    return None


def _owner(row: Row) -> str:
    return f"`{row['path']}`" if row["path"] else "its job"


def _replace(store: Store, pattern: _Pattern, now: float) -> None:
    """Let a late output stand for these files, instead of its previous ones."""
    before = {row["name"]: row["id"] for row in store.rows("files_of_pattern", pattern=pattern.id)}
    for name in before.keys() - pattern.names:
        store.change("unassign_readers", file=before[name], now=now)
        for query in FORGET:
            store.change(query, file=before[name])
    names = json.dumps(sorted(pattern.names)).encode()
    checksum = f"sha256:{sha256(names).hexdigest()}"
    store.change("keep_late_names", pattern=pattern.id, checksum=checksum, now=now)
    new = sorted(pattern.names - before.keys())
    if not new:
        return
    newest = store.value("newest_file")
    store.change("make_late_files", pattern=pattern.id, names=json.dumps(new))
    for (match,) in [(None,), *store.rows("matches_of_pattern", pattern=pattern.id)]:
        taken = new if match is None else [name for name in new if takes(match, name)]
        store.change("take_late_files", pattern=pattern.id, job=pattern.job, match=match,
                     names=json.dumps(taken))  # fmt: skip
    store.change("miss_late_files", pattern=pattern.id, before=newest)
    store.change("await_late_files", pattern=pattern.id, before=newest)
    store.change("unassign_late_readers", pattern=pattern.id, before=newest, now=now)
