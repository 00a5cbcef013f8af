"""Pure: the only place that says when a node burns packages that others run well.

What a node gets of a stage depends on how it does with it. One that has not run it well yet
pauses after a failure, so that it can't take the whole stage while it fails at once; one that
has may fail now and then. When chance can't explain its failures any more, it is guilty.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from d0ctl.model import Reason
from d0ctl.policy.exclusion import Tally

BLAMELESS = frozenset({Reason.KILLED, Reason.NO_INPUTS})
"""What no node has part in: a person's will, and inputs that were dropped."""

GONE = frozenset({Reason.LOST, Reason.PLATFORM_FAILURE})
"""What a node that goes down takes with it: it is no black hole for that."""

CHANCE = 0.05
"""A node is guilty when fewer such rows of failures than this are to be expected in a stage."""

DOUBT = 0.25
"""The same for failures that are tried elsewhere, which costs one attempt if it is wrong."""

FEWEST_TO_DOUBT = 2
"""A single failure is never blamed on its node."""

MOST_DOUBLED = 30
"""So often at most a pause is doubled; it is longer than any limit by then."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a site puts up with; times in seconds."""

    burnt: int
    """So many packages in a row a node may burn before it is drained; 0: as many as it likes."""
    pause: float
    """How long a node pauses after the first failure, from the start of what failed."""
    minimum_run: float
    """The longest pause, reached with the last failure allowed (CRAB3's minimum run time)."""
    try_again: float
    """After how long a drained node is tried again with one package."""
    longest: float
    """How long that may become, when it is found guilty again and again."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How a node does with a stage: `streak` counts its last failures in a row.

    `last` is when the last of them ended, `lasted` how many seconds it took.
    """

    tally: Tally
    streak: int = 0
    last: float = 0.0
    lasted: float = 0.0

    @property
    def is_proven(self) -> bool:
        """Whether it has ever run the stage well."""
        return self.tally.successful > 0


def counts(reason: str, *, gone: bool) -> bool:
    """Whether a failure says something against its node; `gone`: even one that it took along."""
    return reason not in BLAMELESS and (gone or reason not in GONE)


def is_suspect(conduct: Conduct, limits: Limits) -> bool:
    """Whether a node is to show first that it can run a stage."""
    if not limits.burnt:
        return False
    return conduct.streak >= (limits.burnt if conduct.is_proven else 1)


def pause(conduct: Conduct, limits: Limits) -> float:
    """How long a suspect takes none after the start of its last failure."""
    if conduct.streak >= limits.burnt and not conduct.is_proven:
        return limits.minimum_run
    grown = limits.pause * 2.0 ** min(conduct.streak - 1, MOST_DOUBLED)
    return min(grown, limits.minimum_run)


def until(conduct: Conduct, limits: Limits) -> float:
    """When the pause of a suspect ends."""
    return conduct.last - conduct.lasted + pause(conduct, limits)


def in_hand(conduct: Conduct, limits: Limits, now: float) -> int:
    """How many packages of a stage a suspect may have at a time.

    None during its pause, then one; and twice as many and one with each pause without another
    failure, so that a stage of long packages does not wait for the first to end.
    """
    since = now - (conduct.last - conduct.lasted)
    length = pause(conduct, limits)
    pauses = int(since / length) if length > 0 else MOST_DOUBLED
    return int(2 ** min(max(0, pauses), MOST_DOUBLED)) - 1


def rooms(
    conducts: Mapping[int, Conduct], fitting: frozenset[int], limits: Limits, now: float
) -> dict[int, int]:
    """How many packages of a stage those nodes may have at a time that are suspects.

    There are none where all nodes fail: then it is not for them.
    """
    suspects = {
        node: conduct
        for node, conduct in conducts.items()
        if node in fitting and is_suspect(conduct, limits)
    }
    if len(suspects) == len(fitting):
        return {}
    return {node: in_hand(conduct, limits, now) for node, conduct in suspects.items()}


def is_guilty(conduct: Conduct, others: Tally, job: Tally, limits: Limits) -> bool:
    """Whether a node is drained for burning what others run well.

    `others` is how all other nodes did with the stage, `job` how they did with all of its job.
    """
    if not limits.burnt or conduct.streak < limits.burnt or not others.successful:
        return False
    return _expected(conduct, others, job) < CHANCE


def is_doubtful(conduct: Conduct, others: Tally, job: Tally, limits: Limits) -> bool:
    """Whether packages that failed on a node are tried elsewhere, while it is not yet guilty.

    Only where a node has never run the stage well: so a small job does not fail because a bad
    node got too few packages of it for a verdict.
    """
    if not limits.burnt or conduct.is_proven or conduct.streak < FEWEST_TO_DOUBT:
        return False
    return bool(others.successful) and _expected(conduct, others, job) < DOUBT


def _expected(conduct: Conduct, others: Tally, job: Tally) -> float:
    """How many such rows of failures the stage would have shown by chance.

    The chance of one failure is the highest of three rates, each with one failure too many: of the
    stage elsewhere, of the job elsewhere, and of the node before the row if it has run the stage
    well.
    """
    known = [others, job]
    if conduct.is_proven:
        before = max(0, conduct.tally.failed - conduct.streak)
        known.append(Tally(conduct.tally.successful, before))
    chance = max((tally.failed + 1) / (tally.completed + 2) for tally in known)
    return float((others.completed + conduct.tally.completed) * chance**conduct.streak)


def next_try(times: int, limits: Limits) -> float:
    """How long a node rests that was found guilty so many times."""
    return min(limits.try_again * 2.0 ** min(times - 1, MOST_DOUBLED), limits.longest)
