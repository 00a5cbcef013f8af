"""The use of attempts, by node, software, researcher, job, stage and package."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.select import Selector
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import owner_of
from d0ctl.store.nodes.site import setting
from d0ctl.store.rows import make
from d0ctl.store.views import selection

GROUPS = ("node", "software", "researcher", "job", "stage", "package")
"""The properties by which attempts are counted.

Packages of all lines of a stage with the same place and name count together, and on request only.
"""

_SUMS = ("attempts", "successful", "failed", "cpu_s", "reserved_s", "core_s", "wasted_s",
         "ran_s", "waited_s", "waits")  # fmt: skip


class Usage(Struct):
    """The use of some attempts; times in seconds.

    For software, an attempt is one run of a binary.
    """

    name: str
    attempts: int = 0
    successful: int = 0
    failed: int = 0
    cpu_s: float = 0.0
    reserved_s: float = 0.0
    """CPUs times run time."""
    core_s: float = 0.0
    """That of attempts whose CPU time is known."""
    wasted_s: float = 0.0
    """The CPU time of failed attempts."""
    ran_s: float = 0.0
    """The run time of successful ones, as the next two."""
    shortest_run_s: float | None = None
    longest_run_s: float | None = None
    waited_s: float = 0.0
    waits: int = 0
    longest_s: float | None = None
    first: float | None = None
    last: float | None = None

    @property
    def success(self) -> float | None:
        """Return the fraction of successes among those that ended by themselves."""
        ended = self.successful + self.failed
        return self.successful / ended if ended else None

    @property
    def efficiency(self) -> float | None:
        """Return the fraction of their CPUs that they used."""
        return self.cpu_s / self.core_s if self.core_s > 0 else None

    @property
    def run_s(self) -> float | None:
        """Return the mean run time of successful ones."""
        return self.ran_s / self.successful if self.successful else None

    @property
    def wait_s(self) -> float | None:
        """Return the mean time between ready and started."""
        return self.waited_s / self.waits if self.waits else None

    @property
    def per_hour(self) -> float | None:
        """Return how many succeeded per hour, from the first start to the last end of several."""
        if self.attempts < 2 or self.first is None or self.last is None or self.last <= self.first:
            return None
        return self.successful * 3600 / (self.last - self.first)


class NodeStay(Struct, frozen=True):
    """The time of an attempt on its node, from its start to its end."""

    node: str
    began: float
    ended: float
    cpus: int
    outcome: str
    reason: str | None
    path: str


class Report(Struct, frozen=True):
    """The usage of each group by name, and failures by reason."""

    whole: Usage
    groups: dict[str, list[Usage]]
    failures: list[tuple[str, int]]


_NAMES: dict[str, Callable[[Row], str]] = {
    "node": lambda row: str(row["node"]),
    "job": lambda row: str(row["job"]),
    "stage": lambda row: f"{row['job']}/{row['stage']} {row['stage_name']}",
    "package": lambda row: f"{row['job']}/{row['stage']}/*/{row['package']}",
}


def read(
    store: Store,
    wanted: Selector | None,
    *,
    since: float,
    now: float,
    packages: bool = False,
) -> Report:
    """Count the use of the attempts of a selection, or all, that ended since a time.

    Raises NotFound if nothing matches the selection.
    """
    store.empty("attempt_use")
    if wanted is None:
        store.change("use_of_all", since=since)
    else:
        selected = selection.choose(store, wanted, now=now, lenient=True)
        selected.change("use_of_selected", since=since)
    rows = store.rows("use_by_stage_and_node", packages=int(packages))
    said = setting(store, "researchers") or {}
    groups = {key: _grouped(rows, name) for key, name in _NAMES.items()}
    groups["researcher"] = _grouped(rows, lambda row: owner_of(str(row["researcher"]), said))
    groups["software"] = [make(Usage, row) for row in store.rows("use_by_software")]
    whole = _grouped(rows, lambda _: "all")
    if not packages:
        groups["package"] = []
    failures = [(row["reason"], row["count"]) for row in store.rows("use_failures")]
    return Report(
        whole[0] if whole else Usage("all"), {key: groups[key] for key in GROUPS}, failures
    )


def stays(store: Store) -> list[NodeStay]:
    """Return the attempts of the last report, by their start."""
    return [make(NodeStay, row) for row in store.rows("use_times")]


def merged(reports: Sequence[Report]) -> Report:
    """Return the usage of several reports together, as of a database and its archives."""
    failures = Counter[str]()
    for report in reports:
        failures.update(dict(report.failures))
    groups = {key: _merged(usage for report in reports for usage in report.groups[key])
              for key in GROUPS}  # fmt: skip
    [whole] = _merged(replace(report.whole, name="all") for report in reports)
    return Report(whole, groups, failures.most_common())


def _grouped(rows: Iterable[Row], name_of: Callable[[Row], str]) -> list[Usage]:
    return _merged(make(Usage, row, name=name_of(row)) for row in rows)


def _merged(usages: Iterable[Usage]) -> list[Usage]:
    """Add up the usages of each name."""
    found: dict[str, Usage] = {}
    for part in usages:
        usage = found.setdefault(part.name, Usage(part.name))
        for key in _SUMS:
            setattr(usage, key, getattr(usage, key) + getattr(part, key))
        for key in ("longest_s", "longest_run_s", "last"):
            setattr(usage, key, _most(getattr(usage, key), getattr(part, key)))
        for key in ("shortest_run_s", "first"):
            setattr(usage, key, _least(getattr(usage, key), getattr(part, key)))
    return list(found.values())


def _most(first: float | None, other: float | None) -> float | None:
    return max((each for each in (first, other) if each is not None), default=None)


def _least(first: float | None, other: float | None) -> float | None:
    return min((each for each in (first, other) if each is not None), default=None)
