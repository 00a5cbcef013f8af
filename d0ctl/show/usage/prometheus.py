"""The state of production as metrics of Prometheus."""

from collections.abc import Iterable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from d0ctl.errors import ExitCode
from d0ctl.model import Status, by_status
from d0ctl.store.nodes.standstill import Production
from d0ctl.store.views.shapes import JobSummary

Slots = tuple[float, float]
"""The CPUs of a node, and how many of them running packages have."""


def text(
    production: Production, code: ExitCode, jobs: Iterable[JobSummary], slots: Mapping[str, Slots]
) -> str:
    """Return the metrics in the text format of Prometheus.

    Jobs are those that have not ended or have failures that nobody has acknowledged: those of
    years would be as many time series.
    """
    page = _Page()
    page.add("daemon_running", "Whether a daemon or a run drives packages.", production.driven)
    page.add("status", "What `d0ctl status --check` exits with: 0, 1 failures, 5 stands still.",
             int(code))  # fmt: skip
    packages = page.family("packages", "Packages of open jobs.", ("job", "status"))
    failed = page.family("failures_open", "Failed packages that nobody acknowledged.", ("job",))
    for job in jobs:
        totals = by_status(job.counts)
        is_open = job.ended is None
        open_failures = totals["failed"] - job.acknowledged
        if is_open:
            for status in Status:
                packages.labels(job.name, status).set(totals[status])
        if is_open or open_failures:
            failed.labels(job.name).set(open_failures)
    _nodes(page, production, slots)
    return str(generate_latest(page.registry).decode())


def _nodes(page: "_Page", production: Production, slots: Mapping[str, Slots]) -> None:
    up = page.family("node_up", "Whether a node answers.", ("node",))
    drained = page.family("node_drained", "Whether a node takes no new packages.", ("node",))
    slot = page.family("node_slots", "CPUs of a node for packages.", ("node",))
    used = page.family("node_slots_used", "CPUs of running packages of a node.", ("node",))
    for view in production.nodes:
        if view.node.state in ("up", "down"):
            up.labels(view.name).set(view.node.state == "up")
        drained.labels(view.name).set(view.node.drained)
        if view.name in slots:
            number, taken = slots[view.name]
            slot.labels(view.name).set(number)
            used.labels(view.name).set(taken)


class _Page:
    """Gauges with a common prefix, which other gauges of the process do not join."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

    def family(self, name: str, help: str, labels: Sequence[str] = ()) -> Gauge:
        """Add a metric with labels."""
        return Gauge(f"d0ctl_{name}", help, labels, registry=self.registry)

    def add(self, name: str, help: str, value: float) -> None:
        """Add a metric of one value."""
        self.family(name, help).set(value)
