"""The result of an action."""

from msgspec import Struct


class Done(Struct, frozen=True):
    """What an action did, or would do, in sentences; `undo` is the command that undoes it."""

    packages: int
    text: str
    undo: str | None = None
    job: str = ""
    """The job that was submitted."""
    seen: int = 0
    """The number of the last action by anybody before it."""
    failures: tuple[str, ...] = ()
    """The actions that were refused, with `keep_going`."""

    def __str__(self) -> str:
        return self.text
