"""The expected failures, and the exit code that each of them means.

D0Error
├── BadUsage              2  the words of the command are wrong
│   └── NotANumber        2  a selector with a name where a number belongs
├── BadJobFile            2  a job file or site file with faults, the first ones listed
├── NotFound              3  no such job, stage, line, package, file or node
│   └── Archived          3  a job that was moved to an archive
├── Refused               4  not in this state, or not by this user
├── DatabaseUnavailable   5  the database or the daemon can't be used
│   └── DatabaseMoved     5  another file is at the path of the open database, or none
├── NodeUnreachable       6  a node that does not answer, or that must not be trusted
└── NotSent               1  a mail that no server accepted, or a command that failed
"""

import enum
from collections.abc import Sequence


class ExitCode(enum.IntEnum):
    """The meaning of a command's exit code for scripts."""

    DONE = 0
    """Done; for `run` and `wait`, the job is successful."""
    FAILED = 1
    """The work failed."""
    USAGE = 2
    """Bad usage or a bad job file."""
    NOT_FOUND = 3
    """No such thing."""
    REFUSED = 4
    """Refused in this state, or to this user."""
    DATABASE = 5
    """A problem with the database or the daemon."""
    NODE = 6
    """A node can't be reached."""
    INTERRUPTED = 130
    """Interrupted from the keyboard."""


class D0Error(Exception):
    """An expected failure: one line to the user, and no traceback.

    `hint` is the last line and says what to type next; `details` are lines before it.
    """

    exit_code = ExitCode.FAILED

    def __init__(
        self, message: str, *, hint: str | None = None, details: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.hint = hint
        self.details = tuple(details)


class BadUsage(D0Error):
    """The words of a command do not fit together."""

    exit_code = ExitCode.USAGE


class NotANumber(BadUsage):
    """A word in a selector where a number belongs; it may be the name of a line or package."""

    def __init__(self, message: str, selector: str) -> None:
        super().__init__(message)
        self.selector = selector


MOST_FAULTS = 20
"""How many faults of a file are printed."""


class BadJobFile(D0Error):
    """A job file or site file that is refused as a whole; `faults` has a line for each fault.

    Its text has the first ones, a line that counts the rest, and a `note` about what was not
    checked. `warnings` has a line for each thing that may be a mistake, too.
    """

    exit_code = ExitCode.USAGE

    def __init__(
        self, faults: Sequence[str], warnings: Sequence[str] = (), *, note: str = ""
    ) -> None:
        more = len(faults) - MOST_FAULTS
        rest = [f"and {more:,} more fault{'s' if more > 1 else ''}"] if more > 0 else []
        super().__init__("\n".join([*faults[:MOST_FAULTS], *rest, *[note] * bool(note)]))
        self.faults = tuple(faults)
        self.warnings = tuple(warnings)
        self.note = note

    def noted(self, text: str) -> "BadJobFile":
        """Return the same error with one more note."""
        note = "\n".join(filter(None, [self.note, text]))
        return BadJobFile(self.faults, self.warnings, note=note)


class NotFound(D0Error):
    """A path, selector or name that matches nothing."""

    exit_code = ExitCode.NOT_FOUND


MOST_ARCHIVES = 5
"""How many other archives with jobs of a name are named; the rest are counted."""


class Archived(NotFound):
    """A job that was moved to an archive, or a pattern that matches only such jobs.

    `others` are further archives that have such jobs.
    """

    def __init__(
        self, job: str, archive: str, *, others: Sequence[str] = (), is_pattern: bool = False
    ) -> None:
        from shlex import quote  # late: completion is to import little

        s, more = "s" * (len(others) > 1), len(others) - MOST_ARCHIVES
        names = ", ".join(f"`{name}`" for name in others[:MOST_ARCHIVES])
        names += f" and {more} more" if more > 0 else ""
        also = "jobs that it matches" if is_pattern else "jobs of this name"
        super().__init__(
            f"no job matches `{job}`, but archived ones do, the last one in archive `{archive}`"
            if is_pattern
            else f"job `{job}` was moved to archive `{archive}`",
            hint=f"d0ctl status {quote(job)} --archive {archive}",
            details=[f"{also} are also in archive{s} {names}"] if others else (),
        )
        self.job, self.archive, self.is_pattern = job, archive, is_pattern


class Elsewhere(NotFound):
    """A job that is not in the archive that is read, but in another one or in the database."""


class Refused(D0Error):
    """An action that is not allowed in this state or to this user."""

    exit_code = ExitCode.REFUSED
    values: str = ""
    """Options that may help, as `memory=8GB`."""


class DatabaseUnavailable(D0Error):
    """The home or its database can't be used: missing, locked, foreign or on a network disk."""

    exit_code = ExitCode.DATABASE


class DatabaseMoved(DatabaseUnavailable):
    """The database was moved, replaced or removed while it was in use."""


class NodeUnreachable(D0Error):
    """A node that does not answer in time, refuses the connection, or has the wrong host key."""

    exit_code = ExitCode.NODE


class NotSent(D0Error):
    """A notification that could not be sent; `for_good` if another try would fail, too.

    Any other error may be temporary: no connection, no login, a busy server.
    """

    def __init__(self, message: str, *, for_good: bool = False) -> None:
        super().__init__(message)
        self.for_good = for_good
