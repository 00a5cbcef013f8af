"""The limits of accounts and QOS of Slurm, in words."""

import re
from collections.abc import Mapping

_RESOURCES: Mapping[str, tuple[str, str, str]] = {
    "cpu": ("CPUs", "many", "CPU time"),
    "mem": ("memory", "much", "memory time"),
    "memory": ("memory", "much", "memory time"),
    "node": ("machines", "many", "machine time"),
    "gres": ("GPUs", "many", "GPU time"),
    "license": ("licenses", "many", "license time"),
    "bb": ("burst buffer", "much", "burst buffer time"),
    "energy": ("energy", "much", "energy"),
    "billing": ("billing units", "many", "billed time"),
    "unknown": ("TRES", "many", "TRES time"),
}
"""The resources that Slurm limits: how people call them, and their product with time."""

_LIMIT = re.compile(
    r"\b(?P<owner>Assoc|QOS|)(?P<kind>Grp|Max|Min)"
    r"(?P<what>SubmitJobs?|Jobs|Wall|WallDuration|CPU|Cpu|Mem|Memory|Node|GRES|License|BB|Energy"
    r"|Billing|Unknown)"
    r"(?P<time>(?:Run)?(?:Minutes|Mins))?(?:Per(?P<each>Job|Node|User|Account))?"
    r"(?:Limit|NotSatisfied)?\b",
    re.ASCII,
)
"""The name of a limit of an account or a QOS, as Slurm builds them."""


def in_words(name: str) -> str | None:
    """Return a limit in words; None if the name is none of a limit."""
    match = _LIMIT.fullmatch(name)
    return None if match is None else _limit(match)


def named(text: str) -> list[str]:
    """Return the limits that an error of `sbatch` names, in words."""
    return [_limit(match) for match in _LIMIT.finditer(text)]


def _limit(match: re.Match[str]) -> str:
    owner = "its account" if match["owner"] == "Assoc" else "the QOS"
    if match["what"] in ("Wall", "WallDuration"):
        return _of_wall_time(match, owner)
    if "Job" in match["what"]:
        return _of_jobs(match, owner)
    things, much, time = _RESOURCES[match["what"].lower()]
    is_time = match["time"] is not None
    amount = f"much {time}" if is_time else f"{much} {things}"
    if match["kind"] == "Min":
        few = "little" if much == "much" else "few"
        return f"{owner} takes no job with so {few} {things}"
    if match["kind"] == "Max":
        return _of_one(match, owner, amount)
    if not is_time:
        of = "of its account" if match["owner"] == "Assoc" else "of the QOS"
        verb = "are" if much == "many" else "is"
        return f"the {things} {of} {verb} in use"
    if "Run" in match["time"]:
        return f"running jobs of {owner} may still take all {time} that it has"
    return f"the {time} of {owner} is used up"


def _of_one(match: re.Match[str], owner: str, amount: str) -> str:
    """Return the limit of a job, a machine, a user or an account."""
    each = match["each"]
    if each in ("User", "Account"):
        holder = "the user" if each == "User" else "its account"
        verb = "may still take" if match["time"] else "has"
        running = f"running jobs of {holder}" if match["time"] else holder
        return f"{running} {verb} as {amount} as {owner} allows"
    on = " on one machine" if each == "Node" else ""
    return f"{owner} allows no job with that {amount}{on}"


def _of_wall_time(match: re.Match[str], owner: str) -> str:
    if match["kind"] == "Grp":
        return f"the running time of {owner} is used up"
    return f"{owner} does not allow that `wall-time`"


def _of_jobs(match: re.Match[str], owner: str) -> str:
    queue = " in the queue" if match["what"].startswith("Submit") else ""
    if match["kind"] == "Grp" or match["each"] is None:
        return f"{owner} has as many jobs{queue} as it may have"
    holder = "the user" if match["each"] == "User" else "its account"
    return f"{holder} has as many jobs{queue} as {owner} allows"
