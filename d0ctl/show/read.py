"""Read everything that a card shows from the store, at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from d0ctl.errors import NotFound
from d0ctl.model import STATUS_OF, Status
from d0ctl.select import Selector, parse
from d0ctl.show.binary import Binary
from d0ctl.show.package import Package
from d0ctl.show.why import group
from d0ctl.show.why import node as explain_node
from d0ctl.show.why import package as explain_package
from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes import registry
from d0ctl.store.views import activity, browse, outline
from d0ctl.store.views.activity import NO_HEADWAY, Headway
from d0ctl.store.views.shapes import (
    ActionView,
    FailureView,
    JobSummary,
    LineSummary,
    PackageRow,
    PackageView,
    StageSummary,
)

MOST_LIVE = 10
MOST_FAILED = 5
MOST_DEEDS = 10
MOST_ON_NODE = 200
MOST_NOTES = 12

LIVE = tuple(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)


@dataclass(frozen=True, slots=True)
class Part:
    """A job, stage or line."""

    path: str
    job: JobSummary
    row: JobSummary | StageSummary | LineSummary
    why: Explanation
    live: list[PackageRow]
    failed: list[FailureView] = field(default_factory=list)
    stages: list[StageSummary] = field(default_factory=list)
    where: dict[str, int] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    deeds: list[ActionView] = field(default_factory=list)
    dropped: int = 0
    headway: Headway = NO_HEADWAY
    stage_headways: Mapping[int, Headway] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Node:
    """A node."""

    row: Row
    used: int
    why: Explanation
    live: list[PackageRow]


@dataclass(frozen=True, slots=True)
class Gone:
    """What was chosen is not there any more."""

    words: str


About = Part | Package | Node | Gone


def about(store: Store, selector: str, now: float) -> About:
    """All about what a path names."""
    wanted = parse(selector)
    try:
        if wanted.level == "package":
            return package(store, browse.package(store, wanted), now)
        return _part(store, wanted, now)
    except NotFound as error:
        return Gone(str(error))


def about_node(store: Store, name: str, now: float) -> About:
    """All about a node."""
    try:
        why = explain_node.node(store, name, now)
    except NotFound as error:
        return Gone(str(error))
    row = next(row for row in registry.nodes(store) if row["name"] == name)
    used = activity.node_use(store).get(row["id"], activity.NodeUse()).used
    live = outline.on_node(store, row["id"], MOST_ON_NODE)
    return Node(row, used, why, live)


def package(store: Store, view: PackageView, now: float) -> Package:
    """Read the card of a package."""
    return Package(
        view,
        browse.is_package_blocked(store, browse.job(store, view.job), view),
        explain_package.package(store, view, now),
        browse.attempts(store, view.id),
        browse.binaries(store, view.id),
        browse.inputs(store, view.id),
        browse.outputs(store, view.id),
        browse.failure_history(store, view.id),
        browse.events(store, view.id),
        browse.progress(store, view.id),
        browse.notes(store, view.id, MOST_NOTES),
    )


def binary(store: Store, view: PackageView, number: int) -> Binary:
    """Read the card of a binary. Raises NotFound."""
    return Binary(
        view,
        browse.binary(store, view, number),
        browse.binary_records(store, view.id, number),
        [file for file in browse.inputs(store, view.id) if file.binary == number],
        [file for file in browse.outputs(store, view.id) if file.binary == number],
    )


def _part(store: Store, wanted: Selector, now: float) -> Part:
    job = browse.job(store, wanted.job)
    if wanted.level == "job":
        return _job(store, job, now)
    stage, headway = browse.stage(store, job, wanted), activity.headway(store, job.id)
    if wanted.level == "stage":
        live = _sample(store, stage.id, None)
        failed = browse.failures(store, job.id, MOST_FAILED, stage.id)
        why = group.stage(store, job, stage, now)
        of_stage = headway.stages.get(stage.id, Headway())
        return Part(str(wanted), job, stage, why, live, failed, headway=of_stage)
    line = browse.line(store, job, stage, wanted.line.first)
    why = group.line(store, job, stage, line, now)
    live = _sample(store, stage.id, line.seq)
    of_line = headway.lines.get(line.id, Headway())
    return Part(str(wanted), job, line, why, live, headway=of_line)


def _job(store: Store, job: JobSummary, now: float) -> Part:
    headway = activity.headway(store, job.id)
    return Part(
        job.name,
        job,
        job,
        group.job(store, job, now),
        browse.in_phases(store, job.id, LIVE, MOST_LIVE),
        browse.failures(store, job.id, MOST_FAILED),
        browse.stages(store, job),
        browse.where(store, job.id),
        browse.carrying_troubles(store, job.id),
        browse.actions(store, job.name, MOST_DEEDS),
        browse.dropped_lines(store, job.id),
        headway.job,
        headway.stages,
    )


def _sample(store: Store, stage: int, line: int | None) -> list[PackageRow]:
    return browse.in_stage(store, stage, line, LIVE, MOST_LIVE)
