"""The documents of tasks."""

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import Acknowledgement, Time

Files = Annotated[dict[str, int], Meta(description="Files in each status; none where absent.")]


class Task(TypedDict):
    """A task, whose packages are those of the job of the same name."""

    task: str
    title: str
    status: str
    since: Time
    note: Annotated[str | None, Meta(description="Why it has this status.")]
    waits: Annotated[str | None, Meta(description="Why it does not go on at present.")]
    originator: str
    priority: int
    goal: Annotated[float | None, Meta(description="The fraction of files that it must process.")]
    packages: Annotated[int, Meta(description="Made so far.")]
    destination: Annotated[
        str | None,
        Meta(description="The cluster where its outputs are merged, if d0ctl has chosen one."),
    ]
    destination_why: str | None
    files: Files
    submitted: Time
    ended: Time | None
    acknowledged: Annotated[
        Acknowledgement | None, Meta(description="Who has seen that it ended in vain.")
    ]


class Dataset(TypedDict):
    """A dataset of a task."""

    dataset: str
    type: str
    status: str
    since: Time
    note: str | None
    looked: Annotated[Time | None, Meta(description="When its source was looked up last.")]
    files: Files
    ranges: Annotated[dict[str, int], Meta(description="Ranges of events in each status.")]


class Tasks(TypedDict):
    """The tasks, the newest first."""

    tasks: list[Task]


class Left(TypedDict):
    """What a task has left on nodes besides its results."""

    files: Annotated[int, Meta(description="Files that were not merged.")]
    size: Annotated[int, Meta(description="Their bytes.")]
    packages: Annotated[int, Meta(description="Failed packages whose outputs were kept.")]
    left: Annotated[int, Meta(description="The bytes of these outputs.")]


class TaskCard(Task):
    """A task with its datasets."""

    datasets: list[Dataset]
    left: Annotated[Left | None, Meta(description="None until the task has ended.")]


class TaskChange(TypedDict):
    """A change of the status of a task."""

    at: Time
    old: str | None
    new: str
    actor: Annotated[str | None, Meta(description="None: d0ctl itself.")]
    note: str | None


class TaskHistory(TypedDict):
    """What has happened to a task."""

    task: str
    changes: list[TaskChange]


class TaskSubmitted(TypedDict):
    """A task that was submitted, or would be."""

    task: str
    datasets: int
    dry_run: NotRequired[bool]
