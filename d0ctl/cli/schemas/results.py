"""The documents of the final outputs of a job, and of copies of them."""

from typing import Annotated, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.site import Copy


class Result(TypedDict):
    """A final output of a job."""

    name: str
    maker: str
    present: bool
    partial: bool
    dropped: bool
    size: int | None
    checksum: str | None
    path: Annotated[str | None, Meta(description="On this machine.")]
    stored: list[str]
    copies: list[Copy]


class Results(TypedDict):
    """The final outputs of a job: those in results/, and those with a locator."""

    job: str
    folder: str
    files: list[Result]
    total: int
    bytes: Annotated[int, Meta(description="Of those that are made.")]


class NotCopied(TypedDict):
    """A file that was not copied."""

    name: str
    why: str


class Copied(TypedDict):
    """Copies of final outputs in a folder; `kept` were there already."""

    folder: str
    copied: int
    kept: int
    bytes: int
    failed: list[NotCopied]
