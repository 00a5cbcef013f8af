"""The documents of software and its copies on nodes."""

from typing import Annotated, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import Time


class Software(TypedDict):
    """An entry of the catalogue."""

    name: str
    version: str
    platform: str | None
    script: str | None
    archive: str | None
    size: int | None
    checksum: str | None
    manifest: str | None
    needs: list[str]
    runtime: float | None


class Catalogue(TypedDict):
    """The software catalogue."""

    software: list[Software]


class SoftwareOrder(TypedDict):
    """The result of an order to a node; `ok` is null until it is done."""

    node: str
    verb: str
    platform: str | None
    ok: bool | None
    message: str | None
    faults: list[str]


class SoftwareOrders(TypedDict):
    """The result of an order on each node."""

    software: str
    nodes: list[SoftwareOrder]


class LastOrder(TypedDict):
    """The last order about a version on a node; `ok` is null until it is done."""

    verb: str
    by: str
    asked: Time | None
    ended: Time | None
    ok: bool | None
    message: str | None


class SoftwarePlace(TypedDict):
    """A version on a node."""

    software: str
    node: str
    cluster: str
    platform: str | None
    copied: Annotated[Time | None, Meta(description="When its archive was copied there.")]
    copied_for: Annotated[
        str | None,
        Meta(description="A version with this archive, if only that one is known to use it there."),
    ]
    last_order: LastOrder | None
    jobs: Annotated[list[str], Meta(description="Jobs that use it and had packages there.")]
    used: Annotated[
        Time | None, Meta(description="When the last of their packages that used it was launched.")
    ]


class SoftwarePlaces(TypedDict):
    """Where each version is."""

    software: list[SoftwarePlace]
