"""How many more packages of a stage or job may run at once, as their job file says."""

from msgspec import Struct, field

UNBOUNDED = 10**9
"""More packages than any node can take."""


class Quota(Struct):
    """What is left of `max-running`, by the ids of the stages and jobs that have one."""

    stages: dict[int, int] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)

    def left(self, stage: int, job: int) -> int:
        """Return how many more packages of a stage of a job may start."""
        return min(self.stages.get(stage, UNBOUNDED), self.jobs.get(job, UNBOUNDED))

    def take(self, stage: int, job: int) -> None:
        """Count a package that starts."""
        if stage in self.stages:
            self.stages[stage] -= 1
        if job in self.jobs:
            self.jobs[job] -= 1
