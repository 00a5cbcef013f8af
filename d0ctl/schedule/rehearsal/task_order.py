"""What the tasks of a rehearsal wait for: files, and other tasks."""

from collections.abc import Iterable, Iterator, Sequence

from d0ctl.schedule.rehearsal.records import File, Task


class TaskOrder:
    """How much each task still lacks, and who reads each file."""

    def __init__(self, tasks: Sequence[Task], files: Sequence[File]) -> None:
        self.tasks, self.files = tasks, files
        self.unread = [0] * len(files)
        """How many tasks are still to read each file."""
        self._missing = [0] * len(tasks)
        self._readers: list[list[int]] = [[] for _ in files]
        self._followers: list[list[int]] = [[] for _ in tasks]
        for number, task in enumerate(tasks):
            for file in task.inputs:
                self.unread[file] += 1
                if files[file].cluster is None:
                    self._readers[file].append(number)
                    self._missing[number] += 1
            for before in task.after:
                self._followers[before].append(number)
                self._missing[number] += 1

    def free(self) -> Iterator[int]:
        """Yield the tasks that wait for nothing."""
        return (number for number, missing in enumerate(self._missing) if not missing)

    def end(self, task: int) -> Iterator[int]:
        """Yield the tasks that wait for nothing more when a task has ended with its outputs."""
        for file in self.tasks[task].outputs:
            yield from self._lack_less(self._readers[file])
        yield from self.followers(task)

    def followers(self, task: int) -> Iterator[int]:
        """Yield those that only wait for the task itself."""
        return self._lack_less(self._followers[task])

    def _lack_less(self, tasks: Iterable[int]) -> Iterator[int]:
        for task in tasks:
            self._missing[task] -= 1
            if not self._missing[task]:
                yield task

    def unneeded(self, task: int) -> Iterator[int]:
        """Yield the files of a task that has read its inputs which no task needs any more."""
        of = self.tasks[task]
        for file in of.inputs:
            self.unread[file] -= 1
        for file in (*of.inputs, *of.outputs):
            if not self.unread[file] and not self.files[file].stays:
                yield file
