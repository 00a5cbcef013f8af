"""Packages that a person retries, and their requests then."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from d0ctl.store.attempts import alike_failures, black_holes, failures
from d0ctl.store.connection import Row, Store
from d0ctl.store.files.copies import remake
from d0ctl.store.jobs.submission.insertion import REQUIREMENT

REQUIRED = tuple(name for name in REQUIREMENT if name != "stage")


def keep_phases(store: Store, phases: Iterable[str]) -> None:
    """Keep only packages in these phases in the selection."""
    store.change("choose_retry", phases=json.dumps(list(phases)))


def leave_out(store: Store, packages: Iterable[int]) -> None:
    """Remove packages from the selection."""
    store.change_many("leave_out_package", ((package,) for package in packages))


def requirements(store: Store) -> list[Row]:
    """Return the requests of the chosen packages."""
    return store.rows("chosen_requirements")


def of_requirement(store: Store, requirement: int) -> list[int]:
    """Return the chosen packages with a requirement."""
    return [row[0] for row in store.rows("choose_of_requirement", requirement=requirement)]


def changed(requirement: Row, requests: Mapping[str, Any]) -> dict[str, Any]:
    """Return a requirement with changed requests."""
    space = {"space": requests["disk"]} if "disk" in requests else {}
    return {name: {**requests, **space}.get(name, requirement[name]) for name in REQUIRED}


def change_requirements(store: Store, requests: Mapping[str, Any]) -> None:
    """Change the requests of the chosen packages; equal requests share a row."""
    for requirement in requirements(store):
        asked = changed(requirement, requests)
        if all(asked[name] == requirement[name] for name in REQUIRED):
            continue
        place = {"job": requirement["job_id"], "stage": requirement["stage_id"]}
        new = store.value("same_requirement", **place, **asked)
        if new is None:
            new = store.value("make_requirement", **place, **asked)
        store.change("change_requirement", old=requirement["id"], new=new)


def at_a_limit(store: Store, memory: int | None, wall_time: float | None) -> dict[int, str]:
    """Return the selected packages that ended at a limit that would not change, by reason."""
    rows = store.rows("hopeless_reasons", memory=memory, wall_time=wall_time)
    return {row["id"]: row["reason"] for row in rows}


def without_inputs(store: Store) -> dict[int, str]:
    """Return the selected packages that need a file of a dropped line, with its name."""
    return {row["id"]: row["name"] for row in store.rows("hopeless_inputs")}


def change_wall_time(store: Store, wall_time: float) -> None:
    """Change the wall time of the selected packages."""
    store.change("change_wall_time", wall_time=wall_time)


def add_environment(store: Store, variables: Mapping[str, str]) -> None:
    """Add variables to those of the chosen packages, or give them other values."""
    store.change("change_environment", variables=json.dumps(dict(variables)))


def change_scripts(store: Store, scripts: Iterable[tuple[str | int | None, ...]]) -> None:
    """Change what binaries run: script, arguments, parameters, package, number."""
    store.change_many("change_script", scripts)


def retry(store: Store, *, actor: str, note: str | None, now: float) -> int:
    """failed, canceled, cooloff -> ready or waiting; return how many.

    Tries count from zero, also in the records of nodes; a job that d0ctl held for similar failures
    continues. Inputs that were removed meanwhile are made again.
    """
    store.change("leave_out_dropped")
    black_holes.forget_jobs(store, actor=actor, note=note, now=now)
    alike_failures.forget_jobs(store)
    retried = store.change("retry_packages", actor=actor, note=note, now=now)
    store.change("clear_lost")
    store.change("lose_absent_inputs")
    remake(store, now=now)
    store.change("reopen_jobs")
    store.change("reopen_finished")
    return retried


def start_over(store: Store) -> None:
    """Let the chosen packages begin anew, without files of previous attempts, on any node."""
    rows = store.rows("kept_of_chosen")
    store.change("purge_kept_of_chosen")
    store.change("forget_kept_of_chosen")
    bound = {row["package_id"]: row for row in rows if row["stay"] is not None}
    requirements = failures.free_to_move(store, list(bound.values()))
    store.change_many("ask_otherwise", zip(requirements, bound, strict=True))


def make_again(store: Store, *, actor: str, note: str | None, now: float) -> None:
    """done -> ready or waiting, by hand: their outputs are forgotten."""
    store.change("set_unscheduled", actor=actor, note=note, now=now)
    store.change("clear_lost")
    store.change("purge_chosen_outputs")
    store.change("lose_chosen_outputs")
    store.change("lose_absent_inputs")
    store.change("forget_copies")
    store.change("lose_files")
    store.change("wait_for_lost_outputs", now=now)
    remake(store, now=now)
    store.change("reopen_jobs")
    store.change("reopen_finished")
