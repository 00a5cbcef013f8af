"""The interface of all batch systems."""

import enum
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from d0ctl.sitefile.spec import Pilots


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


class Tools(Protocol):
    """The commands of a batch system, for the login shell of a login node, and their output.

    They have no single quotes and no line breaks (`call.wrapped`).
    """

    NAMES: tuple[str, ...]
    """The programs, which must be in the PATH."""

    QUEUE: str
    """Lists the user's jobs, which may include others than pilots."""

    def version(self, tool: str) -> str:
        """Return the command with which a tool tells its version."""

    def submit(self, pilots: Pilots, name: str, count: int) -> tuple[str, bytes]:
        """Return the command that submits `count` pilots at once, and its stdin."""

    def submitted(self, output: str) -> str:
        """Return the id of the array that was submitted. Raises D0Error."""

    def read_queue(self, output: str) -> list[Job]:
        """Return the jobs of the queue. Raises D0Error if it is no queue."""

    def job_id(self, array: str, index: int) -> str:
        """Return the id of a job of an array, as `cancel` and `accounts` take it."""

    def cancel(self, jobs: Sequence[str]) -> str:
        """Return the command that ends jobs; a job that has ended already is no error."""

    def accounts(self, pilots: Pilots, jobs: Sequence[str]) -> str:
        """Return the command that asks how jobs have ended."""

    def read_accounts(self, output: str) -> dict[str, str]:
        """Return how jobs have ended, by their ids; accounts may be behind."""
