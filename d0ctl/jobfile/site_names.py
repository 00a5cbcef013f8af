"""Names of nodes, software and other jobs that a job file may use."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from d0ctl.jobfile.yaml.faults import Faults, Position, shown


class OtherFile(NamedTuple):
    """A file of another job, as `JOB:NAME`; for a late one the name is a pattern.

    One that `is_left_out` was dropped before the job could read it: groups do not have it.
    """

    name: str
    size: int | None = None
    is_late: bool = False
    is_left_out: bool = False


class OtherStage(NamedTuple):
    """The outputs of a stage of another job that it does not read; None if it has no such stage.

    `stages` are the names of all its stages.
    """

    stages: Sequence[str]
    files: Sequence[OtherFile] | None


class OtherInput(NamedTuple):
    """What a job file reads of another job: a file, or those of a stage that match.

    `match` is as written if it varies.
    """

    job: str
    file: str | None = None
    stage: str | None = None
    match: str | None = None
    is_varying: bool = False


class KnownNames(Struct, frozen=True):
    """Names that the site knows; a kind that is None is not checked.

    `clusters` has the nodes of each.
    `software` has the titles of the catalogue, and whether they have a script; `transfer` has
    the schemes for which the site has commands, and whether these fetch or store.
    `stores` has the names of the site's stores, and the commands of each.
    `merge` has the commands that merge files, by the suffix of their names.
    `produced(job, name)` tells whether a job makes a file, None if there is no such job.
    `stage_of(job, stage)` returns a stage of a job, None if there is no such job.
    `cached(node, unread)` returns the files in the cache of a node, or those that nothing reads.
    `outputs_of(task)` returns the names of its output datasets, None if there is no such task.
    `late` has the files of this job's own late outputs, by pattern, once they are known.
    `contents` is the loop over the files of a task, whose line has no values of its own.
    `archived(input)` says where its job is, if it was moved to an archive, and how to read it.
    """

    nodes: Collection[str] | None = None
    software: Mapping[str, bool] | None = None
    transfer: Mapping[str, Collection[str]] | None = None
    stores: Mapping[str, Collection[str]] | None = None
    merge: Mapping[str, str] | None = None
    produced: Callable[[str, str], bool | None] | None = None
    stage_of: Callable[[str, str], OtherStage | None] | None = None
    cached: Callable[[str, bool], Sequence[OtherFile]] | None = None
    outputs_of: Callable[[str], Sequence[str] | None] | None = None
    late: Mapping[str, Sequence[OtherFile]] = {}
    clusters: Mapping[str, Sequence[str]] = {}
    contents: Any = None
    archived: Callable[[OtherInput], str | None] | None = None

    def lacks_job(self, wanted: OtherInput, position: Position, faults: Faults) -> None:
        """Record that there is no such job, or that it was archived."""
        where = self.archived(wanted) if self.archived is not None else None
        if where is None:
            faults.add_similar(position, "foreign", f"there is no job {shown(wanted.job)}")
        else:
            faults.add_once(position, "foreign", where)


NOTHING_KNOWN = KnownNames()
"""Only the job file and the files beside it are checked."""
