"""Pure: the only place that says when a job keeps its packages off a node where they failed.

These are the conditions of CRAB3, Automatic Site Blacklist Policies. The first, that the package
failed there the last time, and the last, that another node can take it, are for whoever places
it to see to.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits of the conditions under which a job excludes a node."""

    completed: int
    """More packages than this have come to an end, well or not."""
    successful: int
    """So many have ended well, or else they fail everywhere."""
    rate: float
    """A smaller part than this has ended well on the node."""
    failed: int
    """So many have failed on the node."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many attempts ended well, and how many failed."""

    successful: int = 0
    failed: int = 0

    @property
    def completed(self) -> int:
        """How many have come to an end."""
        return self.successful + self.failed


def is_excluded(node: Tally, job: Tally, limits: Thresholds) -> bool:
    """Whether what failed on a node is kept off it, by how the job did there and in all."""
    return (
        job.completed > limits.completed
        and job.successful >= limits.successful
        and node.completed > 0
        and node.successful < limits.rate * node.completed
        and node.failed >= limits.failed
    )
