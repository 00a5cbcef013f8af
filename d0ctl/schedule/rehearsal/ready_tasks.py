"""The requirements of the tasks of a rehearsal, and the tasks that are ready with each."""

from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from d0ctl.schedule.rehearsal.records import Task
from d0ctl.schedule.resources import Requirement


class ReadyTasks:
    """The tasks that wait for a node, the oldest first, by requirement."""

    def __init__(self, requirements: Sequence[Requirement], tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        self.requirements = list(requirements)
        self.wanted = [task.requirement for task in tasks]
        """The requirement of each task, which changes when it fails."""
        self._by_id = {requirement.id: requirement for requirement in requirements}
        self._again: dict[tuple[int, str | None], int] = {}
        """Requirements of packages that were tried before."""
        self._ready: dict[int, dict[int, None]] = {
            requirement.id: {} for requirement in requirements
        }

    def requirement(self, task: int) -> Requirement:
        """Return the requirement of a task."""
        return self._by_id[self.wanted[task]]

    def cpus(self, task: int) -> float:
        """Return how many CPUs a task uses."""
        return self.requirement(task).load

    def add(self, task: int) -> None:
        """Add a task that is ready."""
        self._ready[self.wanted[task]][task] = None

    def take(self, task: int) -> None:
        """Remove a task that has a node."""
        del self._ready[self.wanted[task]][task]

    def demand(self) -> list[Requirement]:
        """Return the requirements with ready tasks, and with how many."""
        return [
            replace(requirement, ready=number)
            for requirement in self.requirements
            if (number := len(self._ready[requirement.id]))
        ]

    def oldest(self, requirement: int, limit: int) -> list[int]:
        """Return the oldest tasks with a requirement."""
        return list(islice(self._ready[requirement], limit))

    def change(self, task: int, avoid: str | None) -> None:
        """Change the requirement of a task for another attempt; such tasks come first."""
        key = self.tasks[task].requirement, avoid
        if key not in self._again:
            number = self._again[key] = max(self._by_id) + 1
            changed = replace(self._by_id[key[0]], id=number, avoid=avoid)
            self.requirements.insert(0, changed)
            self._by_id[number], self._ready[number] = changed, {}
        self.wanted[task] = self._again[key]
