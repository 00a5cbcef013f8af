"""The records in which a package is shown, with its attempts, binaries and files."""

import json

from msgspec import Struct


class ProgressView(Struct, frozen=True):
    """The progress of a launched package: units done and in all, percent of its whole chain.

    `eta` is its estimated end, `cpu` its CPU seconds so far, `rss` its memory in bytes.
    """

    at: float
    binary: int
    done: float | None
    total: float | None
    percent: float | None
    line: str
    eta: float | None
    cpu: float
    rss: int


class PackageSample(Struct, frozen=True):
    """What a package had used at a time: CPU seconds since its start, and its memory then."""

    at: float
    cpu: float
    rss: int


class PeakUse(Struct, frozen=True):
    """The most bytes of memory and of disk that attempts took; 0 if unknown."""

    memory: int = 0
    disk: int = 0


class NoteView(Struct, frozen=True):
    """A remark of a wrapper about an attempt, or that its kept outputs were removed."""

    number: int
    at: float
    binary: int | None
    text: str


class AttemptView(Struct, frozen=True):
    """One try at a package, whose wrapper stages in before it has `started`; `suspended` is in
    seconds, until it last continued. `cpus` and `memory`, in bytes, were requested for it.
    """

    id: int
    number: int
    node_id: int
    node_name: str
    platform: str | None
    base: str | None
    launched: float
    wrapper_started: float | None
    started: float | None
    ended: float | None
    utc_offset: int | None
    outcome: str | None
    kind: str
    binary: int | None
    reason: str | None
    message: str | None
    exit_code: int | None
    signal: int | None
    cpu: float | None
    rss: int | None
    stderr: str | None
    began: int | None
    began_why: str | None
    events: str | None
    inputs: int | None
    inputs_asked: int | None
    left_out: str | None
    left_size: int | None
    suspended: float
    cpus: int | None
    memory: int | None


class BinaryView(Struct, frozen=True):
    """A binary, and its record in the last attempt that ran it, if any."""

    seq: int
    name: str
    image: str | None
    stdin: str | None
    shell: str
    script: str | None
    argv: str | None
    software: str | None
    parameters: str | None
    needs: str | None
    cpu: int | None
    """The percentage of a CPU that it is declared to use."""
    runtime: float | None
    work_size: int | None
    log_rules: str | None
    progress: str | None
    check: str | None
    check_timeout: float | None
    events: str | None
    started: float | None
    ended: float | None
    exit_code: int | None
    signal: int | None
    reason: str | None
    cpu_time: float | None
    rss: int | None
    attempt: int | None
    is_skipped: int = 0
    """Whether no attempt needed it, but a later one of the chain has run."""


class BinaryRecord(Struct, frozen=True):
    """The record of a binary in one attempt; times in seconds, `rss` in bytes."""

    attempt: int
    node: str
    started: float | None
    ended: float | None
    exit_code: int | None
    signal: int | None
    reason: str | None
    cpu_time: float | None
    rss: int | None


class InputView(Struct, frozen=True):
    """A file that a package reads, and where it comes from."""

    name: str
    present: int
    file_dropped: int
    size: int | None
    binary: int
    own: int
    acquire: str
    disposition: str | None
    required: int
    dropped: int
    locator: str | None
    size_asked: int | None
    checksum: str | None
    writable: int
    local: str | None
    maker_path: str | None
    maker_phase: str | None
    replaced: float | None
    renewed: float | None
    removed: float | None
    remade: float | None
    places: str
    absence: str = ""
    """How a file of this machine is absent now; empty if it is there, or was not looked up."""

    def has_changed_since(self, attempt: AttemptView) -> bool:
        """Return whether an attempt read this file before it was replaced or made again."""
        if attempt.kind == "stage-out":
            return False
        if self.remade is not None:
            return attempt.ended is not None and attempt.ended < self.remade
        launched, began = attempt.launched, max(attempt.launched, attempt.wrapper_started or 0.0)
        return began < (self.replaced or 0.0) or launched < (self.renewed or 0.0)

    @property
    def local_name(self) -> str:
        """Its name in the working directory."""
        base, local = self.name[self.name.rfind("/", 0, -1) + 1 :], self.local or ""
        return local if local and not local.endswith("/") else local + base


class OutputView(Struct, frozen=True):
    """A file that a package makes, or `made` files of a late output; places are `CLUSTER:PATH`."""

    name: str
    binary: int
    present: int
    dropped: int
    size: int | None
    checksum: str | None
    size_asked: int | None
    min_size: int | None
    checksum_asked: str | None
    dispositions: str
    disposition: str | None
    """What a person has set in place of `dispositions`."""
    result: int
    partial: int
    locator: str | None
    stored: str | None
    places: str
    late: int
    removed: float | None
    made: int
    absence: str = ""
    """How a file of results/ is absent now; empty if it is there, or was not looked up."""

    @property
    def copies(self) -> list[str]:
        """The places of its copies."""
        return list(json.loads(self.places))

    @property
    def stored_at(self) -> list[str]:
        """The locators at which its node has stored it."""
        return list(json.loads(self.stored or "[]"))


class Failures(Struct, frozen=True):
    """Failures of a package for one reason (D0 Job Definition, section 2)."""

    reason: str | None
    count: int
    last: float
    message: str | None
    node_name: str


class PackageView(Struct, frozen=True):
    """A package with all its facts except lists."""

    id: int
    job_id: int
    stage_id: int
    line_id: int
    job: str
    stage: int
    stage_name: str
    line: int
    line_name: str
    line_dropped: float | None
    line_named: int
    seq: int
    name: str
    phase: str
    status: str
    missing: int
    staging: int
    parked: int
    node: str | None
    request: str | None
    attempts: int
    restarts: int
    not_before: float | None
    redefined: float | None
    changed: float
    actor: str | None
    note: str | None
    cpus: int
    priority: int | None
    memory: int | None
    gpus: int
    disk: int | None
    space: int | None
    platform: str | None
    nodes: str
    exclude_nodes: str
    software: str
    needs: str
    avoid: str | None
    failed_on: str | None
    stay: str | None
    wall_time: float | None
    looping: float | None
    wrapper: str | None
    wrapper_parameters: str | None
    environment: str | None
    policy: str | None

    @property
    def path(self) -> str:
        """Its path."""
        return f"{self.job}/{self.stage}/{self.line}/{self.seq}"


class EventView(Struct, frozen=True):
    """One change of phase."""

    at: float
    old: str
    new: str
    actor: str | None
    note: str | None
    attempt: int | None
    node: str | None


class Acknowledgement(Struct, frozen=True):
    """Who acknowledged a failure, when and why."""

    at: float
    actor: str
    note: str | None
