"""A checked task as a value, before it has rows in the database."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from d0ctl.jobfile.spec import JobSpec

STAGE, MERGE_STAGE = "process", "merge"
"""The names of the stages of a task: that with its packages, and that with those that merge."""

USUAL_SCOUTS = 10

HOUR, DAY = 3600.0, 86400.0

USUAL_TIMEOUTS: Mapping[str, float] = {
    "defined": HOUR, "pending": DAY, "ready": DAY, "scouting": DAY, "running": 30 * DAY,
    "paused": 7 * DAY, "finishing": 7 * DAY, "prepared": DAY, "aborting": DAY,
}  # fmt: skip
"""For how many seconds a task may have a status before its history says so, without `timeouts`."""


class Rules(Struct, frozen=True, omit_defaults=True):
    """How a task is split and how it goes on; sizes in bytes, times in seconds."""

    files_per_package: int | None = None
    max_files_per_package: int | None = None
    bytes_per_package: int | None = None
    events_per_package: int | None = None
    max_packages: int | None = None
    target_time: float | None = None
    scouts: int | None = None
    """The number of packages that measure what the others need; None: 10 if a package should take
    a target time, else none."""
    scout_success: float = 0.5
    """The fraction of scouts that must succeed."""
    at_once: bool = False
    """Whether all packages are made at once, and not as nodes need them."""
    attempts: int = 3
    """The number of packages that are made of a file until it counts as failed."""
    goal: float | None = None
    """The fraction of input files that must be processed; None: any."""
    merges: tuple[str, ...] = ()
    """The output datasets whose files are merged; none unless the task file says `merge`."""
    files_per_merge: int | None = None
    bytes_per_merge: int | None = None
    max_files_per_merge: int | None = None
    merge_at_end: bool = False
    """Whether merging begins only when all input files were processed."""
    takes_files: bool = False
    """Whether the values of the datasets are files that packages get from here."""
    waits_for_input: bool = False
    """Whether datasets are looked up again until a user finishes the task."""
    avalanche: bool = False
    """Whether a user skipped the scouts."""
    nodes: tuple[str, ...] = ()
    """The nodes that a user chose by `task reassign`; those of the task file if empty."""
    timeouts: dict[str, dict[str, Any]] = {}
    """By status, how long the task may have it, and what happens then."""
    attributes: dict[str, Any] = {}
    """Those of plug-ins, by name."""

    @property
    def allows_several(self) -> bool:
        """Whether a package may have several files."""
        most = min(filter(None, (self.files_per_package, self.max_files_per_package)), default=None)
        if most is not None or self.events_per_package:
            return not self.events_per_package and most != 1
        return bool(self.bytes_per_package or self.target_time)

    @property
    def first_scouts(self) -> int:
        """How many scouts the task begins with."""
        if self.avalanche:
            return 0
        if self.scouts is None:
            return USUAL_SCOUTS if self.target_time is not None else 0
        return self.scouts


class DatasetSpec(Struct, frozen=True):
    """A dataset of a task; `source` says where the files of an input come from."""

    name: str
    type: str
    source: Mapping[str, Any] | None = None


class TaskSpec(Struct, frozen=True):
    """A whole task; `job` has the settings of the job with its packages, and no lines."""

    job: JobSpec
    rules: Rules
    datasets: tuple[DatasetSpec, ...]
    parent: str | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The name of the task and of its job."""
        return self.job.name
