"""The interface of all batch systems."""

import enum
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from d0ctl.sitefile.spec import Pilots

PRIORITY = 50
"""The priority of a job whose file names none."""


PROGRAM = (
    "import gc,marshal,os,sys;gc.disable();a=sys.argv[1];"
    "b='%s.%s-%x'%(a[:-4],sys.implementation.cache_tag,sys.hexversion);"
    "os.path.exists(b) and exec(*marshal.loads(open(b,'rb').read()));"
    "sys.path.insert(0,a);from d0ctl_wrapper.attempt.task import main;main()"
)
"""What a job of a package executes: the bundle of modules for its python, else their archive.

A package may be short, so its python collects no garbage.
"""


class Phase(enum.Enum):
    """How far a job has come, whatever its batch system calls it."""

    WAITING = "waiting"
    ALIVE = "alive"
    """It has its allocation."""
    STUCK = "stuck"
    """It has no allocation and will get none, but stays in the queue until it is cancelled."""
    OVER = "over"


class Job(Struct, frozen=True):
    """A job of the queue, one of those submitted at once; `left_s` is None if unknown."""

    id: str
    array: str
    index: int
    name: str
    state: str
    left_s: float | None
    reason: str
    phase: Phase


class Tasks(Struct, frozen=True):
    """Attempts with jobs of their own: `path` is the wrapper in the shared folder `base`."""

    path: str
    base: str
    attempts: tuple[int, ...]


class Tools(Protocol):
    """The commands of a batch system, for the login shell of a login node, and their output.

    They have no single quotes and no line breaks (`call.wrapped`).
    """

    NAMES: tuple[str, ...]
    """The programs, which must be in the PATH."""

    QUEUE: str
    """Lists the user's jobs, which may include others than pilots."""

    LARGEST_ARRAY: int
    """How many jobs are submitted at once."""

    def version(self, tool: str) -> str:
        """Return the command with which a tool tells its version."""

    def submit(self, pilots: Pilots, name: str, count: int) -> tuple[str, bytes]:
        """Return the command that submits `count` pilots at once, and its stdin."""

    def submit_tasks(self, asked: Pilots, name: str, tasks: Tasks, lower: int) -> tuple[str, bytes]:
        """Return the command that submits jobs of attempts at once, and its stdin.

        Each asks for what `asked` has; the batch system's priority of them is lowered.
        """

    def nice(self, priority: int) -> int:
        """Return by how much the batch system should lower a job, by its priority here."""

    def reason(self, state: str) -> str:
        """Return why a package has failed whose job has ended in a state without it."""

    def is_impossible(self, error: str) -> bool:
        """Return whether a submission was refused as no machine meets the request."""

    def submitted(self, output: str) -> str:
        """Return the id of the array that was submitted. Raises D0Error."""

    def read_queue(self, output: str) -> list[Job]:
        """Return the jobs of the queue. Raises D0Error if it is no queue."""

    def job_id(self, array: str, index: int) -> str:
        """Return the id of a job of an array, as `cancel` and `accounts` take it."""

    def cancel(self, jobs: Sequence[str]) -> str:
        """Return the command that ends jobs; a job that has ended already is no error."""

    def reorder(self, jobs: Sequence[str], lower: int) -> str:
        """Return the command that lowers queued jobs by so much, as `nice` says; others are no
        error.
        """

    def accounts(self, pilots: Pilots, jobs: Sequence[str]) -> str:
        """Return the command that asks how jobs have ended."""

    def read_accounts(self, output: str) -> dict[str, str]:
        """Return how jobs have ended, by their ids; accounts may be behind."""
