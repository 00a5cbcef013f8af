"""A checked site file as a value (InGrid, Control Databases)."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from d0ctl.model import Address


class NodeEntry(Struct, frozen=True):
    """A machine; None values are read from the machine. `memory` is in bytes."""

    name: str
    destination: str = ""
    identity: str = ""
    dir: str = ""
    python: str = ""
    via: str = "auto"
    cluster: str | None = None
    cpus: int | None = None
    platform: str | None = None
    speed: float | None = None
    memory: int | None = None
    services: tuple[str, ...] = ()
    accept_key: tuple[str, ...] = ()
    same_machine: bool = False
    """Whether it may be the same machine as another node."""
    gpus: int | None = None

    @property
    def address(self) -> Address:
        """The way to reach it."""
        kind = "ssh" if self.destination else "local"
        return Address(self.name, kind, self.destination, self.identity, self.dir, self.python,
                       self.via)  # fmt: skip


class Pilots(Struct, frozen=True):
    """How allocations of a batch system are requested, and how many; times are in seconds.

    `login` is empty for this machine; `memory` and `disk` are in bytes.
    """

    kind: str = "slurm"
    mode: str = "pilot"
    """Whether packages run in `pilot` jobs, in jobs of their own (`direct`), or `auto`."""
    login: str = ""
    identity: str = ""
    via: str = "auto"
    partition: str = ""
    account: str = ""
    qos: str = ""
    constraint: str = ""
    options: tuple[str, ...] = ()
    """More options of `sbatch`."""
    requirements: str = ""
    rank: str = ""
    concurrency_limits: str = ""
    event_log: str = ""
    cpus: int = 1
    memory: int | None = None
    gpus: int = 0
    disk: int | None = None
    wall_time: float = 3600.0
    dir: str = ""
    python: str = ""
    max_queued: int = 5
    max_running: int = 20
    max_jobs: int = 1000
    """How many jobs of the size of a pilot those of single packages may ask for together."""
    submit_rate: int = 30
    """How many may be submitted per minute."""
    idle: float = 120.0
    """After how long without a package a pilot is ended."""
    poll: float = 15.0
    """How often the queue is requested."""

    def address(self, name: str, job: str = "") -> Address:
        """Return the address of an allocation; without a job, of the login node."""
        kind = self.kind if job else "ssh" if self.login else "local"
        return Address(name, kind, self.login, self.identity, self.dir, self.python, self.via, job)


class ClusterEntry(Struct, frozen=True):
    """Nodes that share a cache, and their common settings; `capacity` is in bytes.

    `software_share` is the part of it for software. With `pilots` it is a batch system, and each
    of its pilots is a node with a cache of its own.
    """

    name: str
    platform: str | None = None
    services: tuple[str, ...] = ()
    private: bool = False
    capacity: int | None = None
    software_share: float = 0.0
    pilots: Pilots | None = None
    accept_key: tuple[str, ...] = ()


class SoftwareEntry(Struct, frozen=True):
    """A version of software for one platform; an empty `platform` means any.

    `archive` is an absolute path on this machine or a URL, `checksum` that of the archive,
    `manifest` that of the list of its files. `runtime` is in seconds.
    """

    name: str
    version: str
    platform: str = ""
    script: str | None = None
    shell: str = "bash"
    parameters: Mapping[str, str] = field(default_factory=dict)
    archive: str | None = None
    checksum: str | None = None
    size: int | None = None
    manifest: str | None = None
    needs: tuple[str, ...] = ()
    runtime: float | None = None
    log_rules: tuple[Mapping[str, Any], ...] = ()
    hooks: Mapping[str, Any] = field(default_factory=dict)
    progress: Mapping[str, Any] | None = None
    check: str | None = None
    policy: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Its name in a job file."""
        return f"{self.name}/{self.version}"

    @property
    def key(self) -> tuple[str, str, str]:
        """Its name, version and platform, which no other entry has."""
        return self.name, self.version, self.platform

    @property
    def is_here(self) -> bool:
        """Return whether its archive is a file of this machine."""
        return bool(self.archive and self.archive.startswith("/"))


class Site(Struct, frozen=True):
    """A whole site file; `settings` has the sections that are stored as JSON, by name."""

    nodes: tuple[NodeEntry, ...] = ()
    clusters: tuple[ClusterEntry, ...] = ()
    software: tuple[SoftwareEntry, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    """One line for each thing that can be applied, but may be a mistake."""
