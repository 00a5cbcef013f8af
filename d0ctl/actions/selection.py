"""The packages a verb is for: chosen, counted, listed, or why it is for none of them."""

import time
from collections.abc import Mapping

from d0ctl.actions.conflict import last_on_chosen
from d0ctl.actions.plan import MOST_SHOWN, Change, Plan, Request
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import STATUS_OF, Phase, Status, by_status
from d0ctl.select import Selector
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary

BY_POLICY = "policy"
"""Who holds a package that the policy held."""

LIVE = frozenset(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)

HOLDABLE = frozenset({Phase.WAITING, Phase.READY, Phase.COOLOFF, Phase.ASSIGNED})
KILLABLE = HOLDABLE | {Phase.HELD} | LIVE - {Phase.KILLING}


def is_whole_job(target: Selector) -> bool:
    """Whether whole jobs are meant, so that their flag does it."""
    if any(part.depth == 1 and not part.is_filtered for part in target.parts) > target.names_jobs:
        raise BadUsage(f"`{target.brief}` names whole jobs and parts of jobs",
                       hint="use one command for the jobs and another for the parts")  # fmt: skip
    return target.names_jobs


def jobs_of(store: Store, target: Selector) -> list[JobSummary]:
    found: dict[int, JobSummary] = {}
    for part in target.parts:
        jobs = browse.jobs(store, part.job)
        if not jobs:
            raise browse.no_such_job(store, part.job)
        found |= {job.id: job for job in jobs}
    return list(found.values())


def has_ended(job: JobSummary) -> bool:
    """Whether nothing of a job is left that could be kept back."""
    totals = by_status(job.counts)
    return not (totals["unscheduled"] or totals["scheduled"] or totals["launched"])


def of_packages(
    store: Store, request: Request, able: frozenset[Phase], past: str, *, hastens: bool = False
) -> Plan:
    """The packages of a choice that are in a phase the verb is for. Raises Refused if none is.

    A verb that `hastens` is also for packages being killed that could end sooner.
    """
    browse.choose(store, request.target, now=time.time())
    plan = of_chosen(store, request, able, hastens=hastens)
    if not plan.packages:
        raise nothing_for(store, request.target, plan.kept or {}, past)
    return plan


def of_chosen(
    store: Store, request: Request, able: frozenset[Phase], *, hastens: bool = False
) -> Plan:
    """Which of the chosen packages are in a phase the verb is for, and which stay as they are."""
    phases = lifecycle.phases(store)
    changed = {phase: n for phase, n in phases.items() if phase in able}
    kept = {phase: n for phase, n in phases.items() if phase not in able}
    if hastens and (sooner := lifecycle.hastenable(store)):
        able = able | {Phase.KILLING}
        changed[Phase.KILLING] = sooner
        kept[Phase.KILLING] -= sooner
        kept = {phase: n for phase, n in kept.items() if n}
    changes = [row for row in rows(store) if row.phase in able]
    return Plan(request, phases=changed, packages=sum(changed.values()), kept=kept,
                changes=tuple(changes[:MOST_SHOWN]))  # fmt: skip


def rows(store: Store, limit: int = 20 * MOST_SHOWN) -> list[Change]:
    """The first of the chosen packages."""
    return [Change(row["path"], row["phase"]) for row in store.rows("chosen_paths", limit=limit)]


def nothing_for(store: Store, target: Selector, kept: Mapping[str, int], past: str) -> Refused:
    """The refusal of a verb that is for none of the chosen packages, with who came before."""
    deed = last_on_chosen(store)
    hint = f"d0ctl why {target.parts[0]}"
    if target.is_one and target.level == "package" and len(kept) == 1:
        (phase,) = kept
        if phase == Phase.HELD and browse.package(store, target).actor == BY_POLICY:
            return Refused(f"package `{target}` is held by the policy, so it can't be {past}",
                           hint=f"d0ctl release {target}")  # fmt: skip
        return Refused(f"package `{target}` is {_state_of(phase)}, so it can't be {past}{deed}",
                       hint=hint)  # fmt: skip
    states = ", ".join(f"{n} {_state_of(phase)}" for phase, n in kept.items())
    return Refused(f"nothing of `{target.brief}` can be {past}: {states}{deed}",
                   hint=f"d0ctl status {target.parts[0]}")  # fmt: skip


def _state_of(phase: str) -> str:
    """The word that says best why a verb does not apply."""
    if phase == Phase.KILLING:
        return "being ended already"
    if phase in (Phase.DONE, Phase.CANCELED, Phase.FAILED):
        return STATUS_OF[Phase(phase)]
    return phase
