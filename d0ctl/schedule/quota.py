"""How many more packages may start, by job files and by shares."""

import math
from collections.abc import Mapping

from msgspec import Struct, field

UNBOUNDED = 10**9
"""More packages than any node can take."""


class Quota(Struct):
    """What is left of `max-running`, by the ids of the stages and jobs that have one."""

    stages: dict[int, int] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)
    groups: dict[str, float] = field(default_factory=dict)
    """CPUs that each group may get before others may take what is left."""
    paths: Mapping[int, str] = field(default_factory=dict)
    """The group of each job."""

    def left(self, stage: int, job: int) -> int:
        """Return how many more packages of a stage of a job may start."""
        return min(self.stages.get(stage, UNBOUNDED), self.jobs.get(job, UNBOUNDED))

    def fair(self, job: int, load: float) -> int:
        """Return how many packages with a load the group of a job may get."""
        path = self.paths.get(job)
        if path is None or path not in self.groups:
            return UNBOUNDED
        # A part of a CPU entitles to a whole package: else small groups would get none.
        return max(0, math.ceil(self.groups[path] / load - 1e-6))

    def take(self, stage: int, job: int, load: float = 0.0) -> None:
        """Count a package that starts."""
        path = self.paths.get(job)
        if path in self.groups:
            self.groups[path] -= load
        if stage in self.stages:
            self.stages[stage] -= 1
        if job in self.jobs:
            self.jobs[job] -= 1
