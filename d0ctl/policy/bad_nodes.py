"""Which nodes a site stops trusting, and for which packages; pure.

Two questions are asked of the same records, and neither answers the other:

* *Exclusion by a job* (CRAB3, Automatic Site Blacklist Policies): does a node fail more than half
  of a job's packages that come to it? A package that failed there then goes elsewhere. It finds
  nodes that fail now and then, or that lose packages; it needs ten attempts for a decision,
  and keeps no other package off the node.
* *Black holes*: does a node fail packages of a stage in a row that succeed on other nodes? A node
  that fails at once is always free, and would take one package after another. So it pauses
  after the first failure, and is drained when its failures can't be chance any more. It
  needs three attempts, and ten to some hundred if the node fails only every second package.
"""

import math
from collections.abc import Mapping

from msgspec import Struct

from d0ctl.model import Reason

ENDED_FROM_OUTSIDE = frozenset({Reason.KILLED, Reason.NO_INPUTS})
"""Reasons that concern neither node nor stage: a person's decision, and dropped inputs."""

REQUESTED_TOO_LITTLE = frozenset({Reason.OUT_OF_MEMORY, Reason.WALL_TIME})
"""Reasons of packages that took more than they requested, which they would on any node."""

NODE_INDEPENDENT = ENDED_FROM_OUTSIDE | REQUESTED_TOO_LITTLE
"""Reasons that do not concern the node."""

NODE_GONE = frozenset({Reason.LOST, Reason.PLATFORM_FAILURE})
"""Reasons of attempts that ended because their node went down: that makes it no black hole."""

CHANCE = 0.05
"""A node is guilty if fewer such records than this are expected in a stage by chance."""

BAD_RATE = 0.5
"""The failure rate of a bad node with which that of the other nodes is compared."""

DOUBT = 0.25
"""The same for failures that are tried elsewhere, which costs one attempt if it is wrong."""

FEWEST_TO_DOUBT = 2
"""A single failure is never blamed on its node."""

MOST_DOUBLED = 30
"""A pause is doubled at most this often; it is longer than any limit by then."""


class Tally(Struct, frozen=True):
    """How many attempts succeeded, and how many failed."""

    successful: int = 0
    failed: int = 0

    @property
    def completed(self) -> int:
        """How many have ended."""
        return self.successful + self.failed


class NodeRecord(Struct, frozen=True):
    """The record of a node with a stage.

    `streak` counts its last failures in a row; the last of them ended at `last` after `lasted_s`.
    """

    tally: Tally
    streak: int = 0
    last: float = 0.0
    lasted_s: float = 0.0

    @property
    def is_proven(self) -> bool:
        """Whether it has ever run the stage successfully."""
        return self.tally.successful > 0


class ExclusionLimits(Struct, frozen=True):
    """When a job excludes a node; these are the keys of `exclusion:` in the site file."""

    completed: int
    """More attempts of the job than this have ended."""
    successful: int
    """At least this many of them succeeded, or else they fail everywhere."""
    rate: float
    """A smaller fraction than this of those on the node succeeded."""
    failed: int
    """At least this many failed on the node."""


class BlackHoleLimits(Struct, frozen=True):
    """How much a site tolerates; these are the keys of `bad-nodes:`, with times in seconds."""

    failures: int
    """A node is drained after this many failures in a row; 0: never."""
    pause: float
    """How long a node pauses after the first failure, from the start of the failed attempt."""
    minimum_run: float
    """The longest such pause, and the pause from failure number `failures` on (CRAB3)."""
    try_again: float
    """After how long a drained node is tried again with one package."""
    longest: float
    """The longest such time, for a node that is drained repeatedly."""


def counts_against_node(reason: str, *, or_gone: bool) -> bool:
    """Return whether a failure says something about its node; `or_gone`: also that it went down."""
    return reason not in NODE_INDEPENDENT and (or_gone or reason not in NODE_GONE)


def counts_against_stage(reason: str) -> bool:
    """Return whether a failure says something about its stage."""
    return reason not in ENDED_FROM_OUTSIDE and reason not in NODE_GONE


def is_excluded(node: Tally, job: Tally, limits: ExclusionLimits) -> bool:
    """Return whether a package that failed on a node is kept off it, by its job's record there.

    CRAB3 has two more conditions, which placement checks: the last attempt of the package failed
    there, and another node can take it.
    """
    return (
        job.completed > limits.completed
        and job.successful >= limits.successful
        and node.completed > 0
        and node.successful < limits.rate * node.completed
        and node.failed >= limits.failed
    )


def is_suspect(record: NodeRecord, limits: BlackHoleLimits) -> bool:
    """Return whether a node must first prove that it can run a stage."""
    if not limits.failures:
        return False
    return record.streak >= (limits.failures if record.is_proven else 1)


def pause_s(record: NodeRecord, limits: BlackHoleLimits) -> float:
    """Return how long a suspect gets no package, from the start of its last failed attempt."""
    if record.streak >= limits.failures and not record.is_proven:
        return limits.minimum_run
    grown = limits.pause * 2.0 ** min(record.streak - 1, MOST_DOUBLED)
    return min(grown, limits.minimum_run)


def pause_end(record: NodeRecord, limits: BlackHoleLimits) -> float:
    """Return when the pause of a suspect ends."""
    return record.last - record.lasted_s + pause_s(record, limits)


def most_at_a_time(record: NodeRecord, limits: BlackHoleLimits, now: float) -> int:
    """Return how many packages of a stage a suspect may have at a time.

    None during its pause, then 1, and 3, 7 ... with each pause without another failure: a stage
    of long packages must not wait for the first one to end.
    """
    since_s = now - (record.last - record.lasted_s)
    length_s = pause_s(record, limits)
    pauses = int(since_s / length_s) if length_s > 0 else MOST_DOUBLED
    return int(2 ** min(max(0, pauses), MOST_DOUBLED)) - 1


def suspect_limits(
    records: Mapping[int, NodeRecord],
    fitting: frozenset[int],
    limits: BlackHoleLimits,
    now: float,
) -> dict[int, int]:
    """Return the suspects among the suitable nodes, and how many packages each may have at a time.

    If all suitable nodes fail, the stage is to blame, and none is a suspect.
    """
    suspects = {
        node: record
        for node, record in records.items()
        if node in fitting and is_suspect(record, limits)
    }
    if len(suspects) == len(fitting):
        return {}
    return {node: most_at_a_time(record, limits, now) for node, record in suspects.items()}


def is_at_fault(record: NodeRecord, others: Tally, job: Tally, limits: BlackHoleLimits) -> bool:
    """Return whether a node is drained because it fails packages that succeed on other nodes.

    `others` is the record of all other nodes with the stage, `job` their record with its whole job.
    """
    if not limits.failures or record.streak < limits.failures or not others.successful:
        return False
    return _expected(record, others, job) < CHANCE


def is_doubtful(record: NodeRecord, others: Tally, job: Tally, limits: BlackHoleLimits) -> bool:
    """Return whether packages that failed on a node are tried elsewhere before it is guilty.

    Only if a node has never run the stage successfully: so a small job does not fail because a bad
    node got too few of its packages for a verdict.
    """
    if not limits.failures or record.is_proven or record.streak < FEWEST_TO_DOUBT:
        return False
    return bool(others.successful) and _expected(record, others, job) < DOUBT


def _expected(record: NodeRecord, others: Tally, job: Tally) -> float:
    """Return how many such records the stage would have shown by chance, at most.

    The smaller of two bounds, by the last failures in a row and by the whole record. They hold
    however often a node is judged; `tests/policy/test_verdicts.py` counts wrong verdicts.
    """
    elsewhere = max(_rate(others), _rate(job))
    attempts = others.completed + record.tally.completed
    return attempts * min(_of_series(record, elsewhere, attempts), _of_record(record, elsewhere))


def _rate(tally: Tally) -> float:
    """Return the rate of failures with one more attempt of either kind."""
    return (tally.failed + 1) / (tally.completed + 2)


def _of_series(record: NodeRecord, elsewhere: float, attempts: int) -> float:
    """Return how likely so many failures in a row are, corrected for all series before.

    The chance of one is that elsewhere, or that of the node before the series if this is higher. A
    series in which the stage has had n attempts may be a wrong verdict with probability 0.05 / n,
    by log10(n) squared once n is over 10: these add up to less than 0.3 for any number of
    attempts (alpha spending: Foster and Stine, J. R. Stat. Soc. B 70, 2008, 429).
    """
    if record.is_proven:
        before = max(0, record.tally.failed - record.streak)
        elsewhere = max(elsewhere, _rate(Tally(record.tally.successful, before)))
    return float(math.log10(max(10, attempts)) ** 2 * elsewhere**record.streak)


def _of_record(record: NodeRecord, elsewhere: float) -> float:
    """Return the likelihood of a whole record on a good node over that on a bad one.

    The ratio falls below a value with at most this probability, however often one looks (Wald,
    Ann. Math. Stat. 16, 1945, 117, sequential probability ratio test).
    """
    if elsewhere >= BAD_RATE:
        return 1.0
    failed, successful = record.tally.failed, record.tally.successful
    ratio = failed * math.log(elsewhere / BAD_RATE)
    ratio += successful * math.log((1 - elsewhere) / (1 - BAD_RATE))
    return math.exp(min(0.0, ratio))


def rest_s(times: int, limits: BlackHoleLimits) -> float:
    """Return how long a node stays drained that was found guilty this often."""
    return min(limits.try_again * 2.0 ** min(times - 1, MOST_DOUBLED), limits.longest)
