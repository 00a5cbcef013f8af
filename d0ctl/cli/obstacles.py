"""What keeps packages from starting after an action that lets them start, or from ending."""

from collections.abc import Sequence
from itertools import chain

from d0ctl import select
from d0ctl.actions.action import Plan, Target
from d0ctl.actions.jobs.submit import SubmitPlan
from d0ctl.model import LIVE, Group, Phase
from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import any_driver, drives
from d0ctl.store.views import browse

OVER = frozenset({Group.SUCCESSFUL, Group.FAILED, Group.CANCELED})
"""The statuses of a job of which nothing is left to run."""

TELLS_NODES = frozenset({"kill", "kill-line"})
"""The actions that end packages on nodes."""

LIVE_AT_NODES = frozenset(LIVE) - {Phase.UNREACHABLE, Phase.TRANSFERRING}


def sentence(store: Store, plan: Plan) -> str:
    """Say what keeps the packages of an applied plan from starting; empty if nothing does.

    The hold of its jobs comes first: without it a missing daemon matters.
    """
    from d0ctl.show import outcome  # only at the end of few commands

    target = select.parse(plan.job) if isinstance(plan, SubmitPlan) else plan.request.target
    jobs = _jobs(target)
    if not (plan.packages or plan.jobs) or _have_ended(store, plan.jobs or jobs):
        return ""
    held = [job for name in jobs for job in browse.jobs(store, name) if job.hold]
    if held and len(held) == len(jobs):
        if plan.request.name == "retry":  # which says so itself
            return ""
        by_d0ctl = all(job.is_held_by_d0ctl and job.counts.get("failed") for job in held)
        return outcome.held([job.name for job in held], by_d0ctl=by_d0ctl)
    if _are_driven(store, jobs):
        return ""
    from d0ctl.show.cards.daemon import no_daemon

    return no_daemon(store, jobs)


def undelivered(store: Store, plan: Plan) -> str:
    """Say that no daemon tells nodes what an applied plan asks of their packages; else empty."""
    reached = LIVE_AT_NODES & plan.phases.keys() if plan.request.name in TELLS_NODES else ()
    if not reached or _are_driven(store, _jobs(plan.request.target)):
        return ""
    from d0ctl.show.cards.daemon import undelivered as text  # only at the end of few commands

    return text(store)


def _are_driven(store: Store, names: Sequence[str]) -> bool:
    """Return whether processes drive these jobs; without a name, whether one drives any."""
    jobs = chain(*(browse.jobs(store, name) for name in names))
    return all(drives(store, job.id) for job in jobs) if names else any_driver(store)


def _have_ended(store: Store, names: Sequence[str]) -> bool:
    """Return whether these jobs have ended, also after an action."""
    jobs = [browse.jobs(store, name) for name in names]
    return bool(jobs) and all(job.status in OVER for job in chain(*jobs))


def _jobs(target: Target) -> list[str]:
    """Return the jobs that a target names; none if it has a pattern."""
    jobs = {part.job for part in target.parts} if isinstance(target, select.Selector) else set()
    return [] if any(select.parse(job).wildcard_level for job in jobs) else sorted(jobs)
