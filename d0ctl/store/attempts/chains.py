"""Record the files that an attempt leaves for the next one, and pass them on."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from d0ctl.jobfile.language.file_names import local_name
from d0ctl.policy.rules import RESTARTED
from d0ctl.store.connection import Row, Store, as_json
from d0ctl.store.nodes.site import default, setting

if TYPE_CHECKING:
    from d0ctl_wrapper.protocol.message_types import Ending

_PASSED_ON = ("check_timeout",)
"""Columns of a binary that are copied into a launch."""


def keep(store: Store, ends: Iterable["Ending"]) -> None:
    """Record from end messages where chains began, which binaries are done and which files are
    kept.
    """
    store.change_many("keep_chain", (row for end in ends if (row := _row(end)) is not None))


def _row(end: "Ending") -> tuple[Any, ...] | None:
    began, retained, events = end.get("began", 1), end.get("retained"), end.get("events")
    why = end.get("began_why") or None
    if why is None and not retained and not events:
        return None
    return as_json(retained), _left_size(retained), began, why, as_json(events), end["attempt"]


def _left_size(retained: Mapping[str, Any] | None) -> int | None:
    """Return how many bytes are kept only for a time: unverified, or waiting for their delivery."""
    if not retained or not (retained["left"] or retained["whole"]):
        return None
    files = [*retained["left"], *(retained["files"] if retained["whole"] else ())]
    return sum(int(file["size"]) for file in files)


def is_whole(end: "Ending") -> bool:
    """Return whether all binaries of a failed attempt are done, so that only a transfer is left."""
    return bool((end.get("retained") or {}).get("whole"))


def settle(store: Store, ends: Iterable[tuple["Ending", Row]]) -> None:
    """Apply the effects of ended attempts on earlier ones, and on outputs that a person accepts."""
    for end, context in ends:
        attempt = end["attempt"]
        if is_whole(end):
            store.change("purge_superseded", attempt=attempt)
            store.change("forget_superseded", attempt=attempt)
        if context["delivers"] and end["binaries"]:
            store.change("run_after_all", attempt=attempt)
        if context["accept"] is not None and (is_whole(end) or end["reason"] not in RESTARTED):
            accepted = attempt if is_whole(end) else None
            store.change("accept_now", accepted=accepted, attempt=attempt)


def previous_attempts(store: Store) -> Mapping[int, list[dict[str, Any]]]:
    """Return the previous attempts of assigned packages whose files their nodes may still have.

    A lost attempt could not report its files, so the wrapper looks for its record.
    """
    attempts_by_package: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in store.rows("launch_previous"):
        retained = row["retained"]
        previous = {
            "attempt": row["id"],
            "number": row["number"],
            "retained": None if retained is None else json.loads(retained),
        }
        attempts_by_package[row["package_id"]].append(previous)
    return attempts_by_package


def twins(store: Store) -> Mapping[int, list[dict[str, Any]]]:
    """Return for each assigned package a package of another job whose intermediate files it can
    use.

    That package ran the same binaries on the same node (InGrid, case I). The latest is returned;
    the wrapper compares the inputs.
    """
    attempts_by_package: dict[int, list[dict[str, Any]]] = {}
    for row in store.rows("launch_twins") if default(store, "reuse-files") else ():
        known = attempts_by_package.setdefault(row["package_id"], [_twin(store, row)])
        if known[0]["attempt"] == row["attempt_id"]:
            known[0]["twin"]["files"].append({
                **{name: row[name] for name in ("name", "path", "size", "checksum", "binary")},
            })  # fmt: skip
    return attempts_by_package


def _twin(store: Store, row: Row) -> dict[str, Any]:
    """Describe the attempt of a package of another job, still without its files."""
    inputs = [
        {"binary": entry["binary"], "name": local_name(entry["name"], entry["local"]),
         "size": entry["size"], "checksum": entry["checksum"]}
        for entry in store.rows("inputs_of_twin", package=row["twin_id"])
    ]  # fmt: skip
    twin = {"path": row["twin"], "files": [], "inputs": inputs}
    return {"attempt": row["attempt_id"], "number": row["number"], "twin": twin}


def outputs(made: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the fields of a launch for the outputs of a binary."""
    return [_output(row) for row in made]


def _output(row: Row) -> dict[str, Any]:
    output = {"name": row["name"], "min_size": row["min_size"]}
    if row["checksum_asked"] is not None:
        output["checksum"] = row["checksum_asked"]
    if row["late"]:
        output.update(late=True, min_count=row["min_count"])
    return output


def verification(binary: Row) -> dict[str, Any]:
    """Return the fields of a launch for the verification of a binary, if any."""
    fields = {name: binary[name] for name in _PASSED_ON if binary[name] is not None}
    for name in ("log_rules", "events"):
        if binary[name] is not None:
            fields[name] = json.loads(binary[name])
    return fields


def site_rules(store: Store) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the hooks and the log rules of the site file, for all binaries."""
    hooks = setting(store, "hooks")
    return [{"name": "the site", **hooks}] if hooks else [], setting(store, "log-rules") or []


def with_site_rules(
    launch: dict[str, Any], hooks: Sequence[Any], rules: Sequence[Any]
) -> dict[str, Any]:
    """Return a launch with the site's hooks and log rules, which come before those of a binary."""
    if hooks:
        launch["hooks"] = list(hooks)
    for binary in launch["binaries"] if rules else ():
        binary["log_rules"] = [*rules, *binary.get("log_rules", ())]
    return launch
