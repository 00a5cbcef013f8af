"""Texts about pilots: how many there are, and what they wait for."""

from collections.abc import Mapping, Sequence

from d0ctl.store.clusters.pilots import Pilot
from d0ctl.units import count, listed

REASONS: Mapping[str, str] = {
    "Priority": "jobs of a higher priority come first",
    "Resources": "no machine is free",
    "BeginTime": "its start time has not come",
    "Dependency": "it waits for another job",
    "JobArrayTaskLimit": "its array may not run more at once",
    "JobHeldAdmin": "an administrator holds it",
    "JobHeldUser": "a user holds it",
    "PartitionDown": "its partition is down",
    "PartitionInactive": "its partition takes no jobs",
    "PartitionNodeLimit": "its partition has no machine of that size",
    "PartitionTimeLimit": "its partition does not allow that `wall-time`",
    "ReqNodeNotAvail": "a machine that it needs is not available",
    "Reservation": "it waits for a reservation",
    "BadConstraints": "no machine has these features",
    "Licenses": "a license is not free",
    "AssocGrpCpuLimit": "the CPUs of its account are in use",
    "AssocGrpMemLimit": "the memory of its account is in use",
    "AssocMaxJobsLimit": "its account has as many jobs as it may have",
    "QOSMaxCpuPerUserLimit": "the user has as many CPUs as the QOS allows",
    "QOSMaxJobsPerUserLimit": "the user has as many jobs as the QOS allows",
    "QOSGrpCpuLimit": "the CPUs of the QOS are in use",
    "QOSGrpJobsLimit": "the QOS has as many jobs as it may have",
    "None": "it was submitted just now",
}
"""Slurm's pending reasons."""


def waits_for(reason: str) -> str:
    """Return why a job waits, with Slurm's own word."""
    name = reason.partition(",")[0]
    words = REASONS.get(name)
    if words is None:
        return reason
    return words if name == "None" else f"{words} ({reason})"


def summary(found: Sequence[Pilot]) -> str:
    """Return how many pilots of a cluster run and wait, and for what."""
    states = {
        "running": [one for one in found if one.state == "running"],
        "queued": [one for one in found if one.state in ("submitted", "queued")],
        "ending": [one for one in found if one.state == "ending"],
    }
    reasons = sorted({waits_for(one.reason) for one in states["queued"] if one.reason})
    parts = [f"{len(group)} {state}" for state, group in states.items() if group]
    why = f": {'; '.join(reasons)}" if reasons else ""
    return f"pilots: {listed(parts)}{why}" if parts else "no pilots"


def fact(name: str, found: Sequence[Pilot]) -> str:
    """Return what a ready package can expect of a batch system."""
    queued = [one for one in found if one.state in ("submitted", "queued")]
    if not queued:
        return f"cluster `{name}` submits pilots for ready packages: {summary(found)}"
    why = waits_for(queued[0].reason) if queued[0].reason else "the queue was not asked yet"
    return f"cluster `{name}` has {count(len(queued), 'pilot')} in its queue: {why}"
