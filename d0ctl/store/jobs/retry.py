"""Packages that a person retries, and their requests then."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from d0ctl.model import Phase
from d0ctl.store import stage_order
from d0ctl.store.attempts import alike_failures, black_holes, failures
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.files import edited_files, mixed_inputs
from d0ctl.store.files.copies import remake
from d0ctl.store.files.edited_files import OutdatedCopy
from d0ctl.store.files.remakes import Remakes, check_inputs, remakes_for
from d0ctl.store.jobs.submission.insertion import REQUIREMENT
from d0ctl.store.rows import make
from d0ctl.store.views import dependencies

REQUIRED = tuple(name for name in REQUIREMENT if name != "stage")


def keep_phases(selected: Selection, phases: Iterable[str]) -> None:
    """Keep only packages in these phases in the selection."""
    selected.change("choose_retry", phases=json.dumps(list(phases)))


def leave_out(selected: Selection, packages: Iterable[int]) -> None:
    """Remove packages from the selection."""
    selected.change_many("leave_out_package", ((package,) for package in packages))


def in_phases(selected: Selection, phases: Iterable[str]) -> set[int]:
    """Return the selected packages that are in these phases."""
    keep_phases(selected, phases)
    return {row[0] for row in selected.rows("selected_ids")}


def leave_out_of_dropped_lines(selected: Selection) -> int:
    """Remove the successful packages of dropped lines from the selection; return how many."""
    return selected.change("leave_out_done_of_dropped")


def unmakable(selected: Selection) -> Row | None:
    """Return a selected package, and a file, if it would run again without files that it has read,
    as the job file has neither it nor their makers any more.
    """
    return selected.row("unmakable")


class SharedRequirement(Struct, frozen=True):
    """A requirement of some packages, with its values as a submission writes them."""

    id: int
    job_id: int
    stage_id: int
    values: Mapping[str, Any]


def requirements(selected: Selection) -> list[SharedRequirement]:
    """Return the requests of the selected packages."""
    return [make(SharedRequirement, row, values={name: row[name] for name in REQUIRED})
            for row in selected.rows("selected_requirements")]  # fmt: skip


def of_requirement(selected: Selection, requirement: int) -> list[int]:
    """Return the selected packages with a requirement."""
    return [row[0] for row in selected.rows("choose_of_requirement", requirement=requirement)]


def changed(requirement: SharedRequirement, requests: Mapping[str, Any]) -> dict[str, Any]:
    """Return a requirement with changed requests."""
    space = {"space": requests["disk"]} if "disk" in requests else {}
    return {name: {**space, **requests}.get(name, requirement.values[name]) for name in REQUIRED}


def change_requirements(selected: Selection, requests: Mapping[str, Any]) -> None:
    """Change the requests of the selected packages; equal requests share a row."""
    for requirement in requirements(selected):
        asked = changed(requirement, requests)
        if asked == requirement.values:
            continue
        stage = {"job": requirement.job_id, "stage": requirement.stage_id}
        new = selected.value("same_requirement", **stage, **asked)
        if new is None:
            new = selected.value("make_requirement", **stage, **asked)
        selected.change("change_requirement", old=requirement.id, new=new)


def at_a_limit(
    selected: Selection, memory: int | None, wall_time: float | None, jobs: Iterable[int]
) -> dict[int, str]:
    """Return the selected packages that ended at a limit that would not change, by reason.

    Those that an update has changed since, or that read a file of these jobs that has changed, may
    need less now.
    """
    limits = {"memory": memory, "wall_time": wall_time}
    if not selected.row("hopeless_reasons", **limits, edited="[]"):
        return {}
    edited = [file for job in jobs for file in edited_files.edited_sources(selected.store, job)]
    rows = selected.rows("hopeless_reasons", **limits, edited=json.dumps(edited))
    return {row["id"]: row["reason"] for row in rows}


def without_inputs(selected: Selection) -> dict[int, str]:
    """Return the selected packages that need a file of a dropped line, with its name."""
    return {row["id"]: row["name"] for row in selected.rows("hopeless_inputs")}


def change_wall_time(selected: Selection, wall_time: float | None) -> None:
    """Change the wall time of the selected packages."""
    selected.change("change_wall_time", wall_time=wall_time)


def wall_times(selected: Selection) -> set[float | None]:
    """Return the wall time of the selected packages; of several, two."""
    return {row["wall_time"] for row in selected.rows("wall_times_of_selected")}


def add_environment(selected: Selection, variables: Mapping[str, str]) -> None:
    """Add variables to those of the selected packages, or give them other values."""
    selected.change("change_environment", variables=json.dumps(dict(variables)))


def partial_outputs(selected: Selection) -> int:
    """Count the files that the selected packages made before they were killed, and that exist."""
    return int(selected.value("count_partial_outputs"))


def ended_before(selected: Selection, limit: int) -> list[tuple[str, str]]:
    """Return other packages that failed or were canceled and that selected ones wait for.

    Only a selection of at most `limit` packages is examined.
    """
    if selected.count() > limit:
        return []
    packages = [row[0] for row in selected.rows("selected_ids")]
    return dependencies.ended_before(selected.store, packages)


class Listed(Struct, frozen=True):
    """A number of packages, and the paths of the first ones."""

    number: int
    first: tuple[str, ...]
    needs: frozenset[tuple[str, str]] = frozenset()
    """Which jobs of these read files of which others of them."""
    part: str = ""
    """Of a single package, the smallest part that `update --again` can run again with it."""

    def waves(self, jobs: Sequence[str]) -> list[list[str]]:
        """Sort jobs by when they can run again: those that read files of others after these."""
        left, waves = list(jobs), list[list[str]]()
        while left:
            first = [job for job in left if all((job, maker) not in self.needs for maker in left)]
            waves.append(first or left)
            left = [job for job in left if job not in waves[-1]]
        return waves


NONE = Listed(0, ())


class Makers(Struct, frozen=True):
    """Packages that run again to make removed files, besides those that are to read them."""

    own: Listed = NONE
    """Those of the same jobs."""
    outdated: int = 0
    """How many of these run again with another recipe than their job has now."""
    accepted: int = 0
    """Of how many the results were accepted as they ran, which run as the job says now."""
    elsewhere: Remakes | None = None
    """Those of other jobs."""


def makers_of_removed(selected: Selection, back: Collection[int] = ()) -> Makers:
    """Return what made removed inputs of the selected ones, recursively. Raises Refused."""
    check_inputs(selected, back)
    rows = selected.rows("makers_of_removed")
    outdated, accepted = (rows[0]["outdated"], rows[0]["accepted"]) if rows else (0, 0)
    return Makers(listed(rows), outdated, accepted, remakes_for(selected))


def count_accepted(selected: Selection) -> int:
    """Count the packages whose results were accepted as they ran, with another recipe."""
    return int(selected.value("count_accepted"))


def readers_done(selected: Selection) -> Listed:
    """Return other packages that have succeeded with files of the selected ones, recursively."""
    return with_needs(selected.store, listed(selected.rows("readers_done")))


def lines_needing_elsewhere(selected: Selection, *, behind: bool = False) -> Listed:
    """Return the lines of other jobs with packages that have succeeded with files of the selected
    ones, and need them; or may need them, as they may read others by an update.
    """
    return _listed_lines(selected.rows("lines_needing_elsewhere", behind=int(behind)))


def readers_failed(selected: Selection) -> Listed:
    """Return other packages that have failed and read files of the selected ones."""
    return listed(selected.rows("readers_failed"))


def dropped_readers(selected: Selection) -> tuple[Listed, list[int]]:
    """Return the dropped lines that read files of the selected packages, and ids of the first."""
    rows = selected.rows("dropped_readers")
    return _listed_lines(rows), [row["line_id"] for row in rows]


def _listed_lines(rows: Sequence[Row]) -> Listed:
    paths = tuple(f"{row['job']}/{row['stage']}/{row['line']}" for row in rows)
    return Listed(rows[0]["number"], paths) if rows else NONE


def listed(rows: Sequence[Row]) -> Listed:
    """Return the number and the paths of packages of which these are the first rows."""
    return Listed(rows[0]["number"], tuple(row["path"] for row in rows)) if rows else NONE


def with_needs(store: Store, found: Listed) -> Listed:
    """Add which of the jobs of the first packages read files of others of them, and the part."""
    jobs = {path.partition("/")[0] for path in found.first}
    needs = frozenset(map(tuple, store.rows("needs_among", jobs=json.dumps([*jobs]))))
    part = mixed_inputs.part_to_rerun(store, *found.first) if found.number == 1 else ""
    return Listed(found.number, found.first, needs, part)


def retry(
    selected: Selection,
    outdated: Sequence[OutdatedCopy] | None = None,
    *,
    actor: str,
    note: str | None,
    now: float,
) -> int:
    """failed, canceled, cooloff -> ready or waiting; return how many.

    Tries count from zero, also in the records of nodes; a job that d0ctl held for similar failures
    continues. Inputs that were removed meanwhile are made again, and files from outside that were
    changed meanwhile are copied again: those of the copies in `outdated`, if a plan has found them.
    """
    selected.change("leave_out_dropped")
    stage_order.close_final(selected, (Phase.FAILED, Phase.CANCELED, Phase.COOLOFF))
    outdated = edited_files.outdated_copies(selected) if outdated is None else outdated
    edited_files.copy_anew(selected.store, outdated, now=now)
    black_holes.forget_jobs(selected, actor=actor, note=note, now=now)
    alike_failures.forget_jobs(selected, now=now)
    # First, so that packages that would read what killed ones kept wait for the whole files.
    _lose_outputs(selected, partial=True)
    retried = selected.change("retry_packages", actor=actor, note=note, now=now)
    _make_lost(selected, now=now)
    stage_order.begin_final(selected, now=now)
    selected.change("reopen_jobs")
    selected.change("reopen_finished")
    return retried


def start_over(selected: Selection) -> None:
    """Let the selected packages begin anew, without files of previous attempts, on any node."""
    rows = selected.rows("kept_of_selected")
    selected.change("purge_kept_of_selected")
    selected.change("forget_kept_of_selected")
    bound = {row["package_id"]: row for row in rows if row["stay"] is not None}
    requirements = failures.free_to_move(selected.store, list(bound.values()))
    selected.change_many("ask_otherwise", zip(requirements, bound, strict=True))


def make_again(selected: Selection, *, actor: str, note: str | None, now: float) -> None:
    """done -> ready or waiting, by hand: their outputs are forgotten."""
    edited_files.renew_copies(selected, now=now)
    stage_order.close_final(selected, [Phase.DONE])
    selected.change("set_unscheduled", actor=actor, note=note, now=now)
    _lose_outputs(selected, partial=False)
    _make_lost(selected, now=now)
    selected.change("reopen_jobs")
    selected.change("reopen_finished")


def _lose_outputs(selected: Selection, *, partial: bool) -> None:
    selected.empty("lost_copy")
    selected.change("purge_selected_outputs", partial=int(partial))
    selected.change("lose_selected_outputs", partial=int(partial))
    selected.change("forget_copies")
    selected.change("lose_files")


def _make_lost(selected: Selection, *, now: float) -> None:
    selected.change("lose_absent_inputs")
    selected.change("wait_for_lost_outputs", now=now)
    remake(selected.store, now=now)
