"""The packages that an action changes, or why there are none."""

from collections.abc import Container, Iterable, Mapping
from shlex import quote
from typing import NamedTuple

from msgspec.structs import replace

from d0ctl.actions.action import MOST_SHOWN, Change, Conflict
from d0ctl.errors import BadUsage
from d0ctl.model import LIVE, Phase, by_status, phase_word
from d0ctl.select import Selector, quoted
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import audit, pause
from d0ctl.store.views import browse, dependencies, selection
from d0ctl.store.views.shapes import JobSummary

BY_POLICY = "policy"
"""The actor of a package that a policy held."""

HOLDABLE = frozenset({Phase.WAITING, Phase.READY, Phase.COOLOFF, Phase.ASSIGNED})
ENDED = frozenset({Phase.DONE, Phase.FAILED})
KILLABLE = HOLDABLE | {Phase.HELD} | set(LIVE) - {Phase.KILLING}


def is_whole_job(target: Selector) -> bool:
    """Return whether a selection names whole jobs. Raises BadUsage for a mixture."""
    if any(part.depth == 1 and not part.is_filtered for part in target.parts) > target.names_jobs:
        raise BadUsage(f"`{target.brief}` names whole jobs and parts of jobs",
                       hint="use one command for the jobs and another for the parts")  # fmt: skip
    return target.names_jobs


def jobs_of(store: Store, target: Selector) -> list[JobSummary]:
    """Return the jobs of a selection. Raises NotFound."""
    found: dict[int, JobSummary] = {}
    for part in target.parts:
        jobs = browse.jobs(store, part.job)
        if not jobs:
            raise browse.no_such_job(store, part.job)
        found |= {job.id: job for job in jobs}
    return list(found.values())


def one_by_one(store: Store, target: Selector) -> list[Selector]:
    """Return the parts of a selection, each of one job; a part without a job stays as it is."""
    found: list[Selector] = []
    for part in target.parts:
        names = [job.name for job in browse.jobs(store, part.job)]
        found += [replace(part, job=name) for name in names] or [part]
    return list(dict.fromkeys(found))


def has_ended(job: JobSummary) -> bool:
    """Return whether all packages of a job have ended."""
    totals = by_status(job.counts)
    return not (totals["unscheduled"] or totals["scheduled"] or totals["launched"])


def startable(store: Store, jobs: Iterable[JobSummary]) -> int:
    """Return how many packages of jobs are not launched yet, and would start by themselves: none
    that is held or blocked itself, or that waits for files of such packages.
    """
    stuck = dependencies.stuck(store)
    return sum(_startable(job, stuck.get(job.id, 0)) for job in jobs)


def _startable(job: JobSummary, stuck: int) -> int:
    if job.blocked:
        stuck = job.counts.get(Phase.WAITING, 0)
    return sum(job.counts.get(phase, 0) for phase in HOLDABLE) - stuck


def cooling(jobs: Iterable[JobSummary]) -> dict[str, int]:
    """Return how many packages of each job are cooling off, and would start later."""
    return {job.name: number for job in jobs if (number := job.counts.get(Phase.COOLOFF, 0))}


def canceled_before(store: Store, target: Selector, split: "Split") -> int:
    """Count the canceled packages that `:canceled` of the parts to change would name, too.

    Where that can't be seen from the selection, those of the whole jobs are counted; packages that
    a filter has selected are named one by one.
    """
    parts = target.parts
    if target.is_filtered:
        return 0
    if len(parts) > 1:
        parts = tuple(selection.with_phases(split.selected, target, split.phases))
    if parts == target.parts:
        return split.unchanged.get(Phase.CANCELED, 0)
    jobs = {job.name: job.counts for part in parts for job in browse.jobs(store, part.job)}
    return sum(counts.get(Phase.CANCELED, 0) for counts in jobs.values())


class Split(NamedTuple):
    """The packages of a selection: those that an action can change, and those it leaves alone."""

    phases: Mapping[str, int]
    unchanged: Mapping[str, int]
    changes: tuple[Change, ...]
    selected: Selection

    @property
    def packages(self) -> int:
        """How many packages can be changed."""
        return sum(self.phases.values())


def changeable(
    store: Store,
    target: Selector,
    able: frozenset[Phase],
    past: str,
    now: float,
    *,
    hastens: bool = False,
) -> Split:
    """Select packages, and split them by whether they are in a phase that an action can change.

    An action that `hastens` also changes packages being killed that could end sooner. Raises
    NotFound if nothing matches, Refused if nothing can be changed.
    """
    selected = selection.choose(store, target, now=now)
    split = split_selected(selected, able, hastens=hastens)
    if not split.packages:
        raise nothing_for(selected, target, split.unchanged, past)
    return split


def split_selected(selected: Selection, able: frozenset[Phase], *, hastens: bool = False) -> Split:
    """Split the selected packages by whether they are in a phase that an action can change."""
    phases = lifecycle.phases(selected)
    changed = {phase: n for phase, n in phases.items() if phase in able}
    unchanged = {phase: n for phase, n in phases.items() if phase not in able}
    if hastens and (sooner := lifecycle.hastenable(selected)):
        able = able | {Phase.KILLING}
        changed[Phase.KILLING] = sooner
        unchanged[Phase.KILLING] -= sooner
        unchanged = {phase: n for phase, n in unchanged.items() if n}
    return Split(changed, unchanged, first(rows(selected), able), selected)


def first(rows: Iterable[Change], phases: Container[str]) -> tuple[Change, ...]:
    """Return the first packages in these phases."""
    return tuple(row for row in rows if row.phase in phases)[:MOST_SHOWN]


def rows(selected: Selection, limit: int = 20 * MOST_SHOWN) -> list[Change]:
    """Return the first of the selected packages."""
    return [Change(*row) for row in lifecycle.paths(selected, limit)]


def nothing_for(
    selected: Selection, target: Selector, unchanged: Mapping[str, int], past: str, noun: str = ""
) -> Conflict:
    """Return the refusal of an action that can change none of the selected packages, or nothing
    that they have, by its noun.
    """
    entry = audit.last(selected)
    if entry is not None and unchanged.keys() <= ENDED and entry.verb != "set-status":
        entry = None  # they ended by themselves, after that action
    hint = f"d0ctl why {target.parts[0]}"
    if target.is_one and target.level == "package" and len(unchanged) == 1:
        (phase,) = unchanged
        if phase == Phase.HELD and browse.package(selected.store, target).actor == BY_POLICY:
            return Conflict(
                f"package `{target}` is held by the policy, so it can't be {past}",
                hint=f"d0ctl release {target}",
            )
        if phase == Phase.KILLING:
            return Conflict(f"package `{target}` is already being killed", hint=hint, entry=entry)
        what = f"its {noun}" if noun else "it"
        return Conflict(f"package `{target}` is {_state_of(phase)}, so {what} can't be {past}",
                           hint=hint, entry=entry)  # fmt: skip
    states = ", ".join(f"{n:,} {_state_of(phase)}" for phase, n in unchanged.items())
    verb = "status"
    if unchanged.keys() == {Phase.HELD} and past != "held":
        are_paused = all(kind.is_parked for kind in pause.pausable(selected))
        verb = "resume" if are_paused else "release"
    if unchanged.keys() == {Phase.FAILED} and past == "held":
        verb = "acknowledge"  # they start by no schedule, only by a retry
    if unchanged.keys() == {Phase.UNREACHABLE}:
        verb, entry = "why", None  # they wait for their nodes: no action is the cause
    return Conflict(f"no {noun or 'package'}s of {quoted(target.brief)} can be {past}: {states}",
                       hint=f"d0ctl {verb} {quote(str(target.parts[0]))}", entry=entry)  # fmt: skip


def _state_of(phase: str) -> str:
    """Return the word that explains best why an action does not apply."""
    return "being killed" if phase == Phase.KILLING else phase_word(phase)
