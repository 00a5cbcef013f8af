"""Read everything that a card shows from the store, at one moment.

Explanations and the cards of all but parts are imported late: imports take most of the time of a
call.
"""

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import NotFound
from d0ctl.model import LIVE, STATUS_OF, Phase, Status
from d0ctl.schedule.horizon import NO_HORIZON, Horizon
from d0ctl.schedule.standstill import Cause
from d0ctl.select import Selector, parse
from d0ctl.show.cards.part import MOST_ACTIONS, Part
from d0ctl.show.why import group
from d0ctl.show.why.common import MOST_READ
from d0ctl.store.attempts import node_record
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry, standstill
from d0ctl.store.nodes.holder import last_heard
from d0ctl.store.nodes.site import ended_tasks
from d0ctl.store.nodes.standstill import Production
from d0ctl.store.views import (
    activity,
    browse,
    dependencies,
    file_locations,
    one_package,
    outline,
)
from d0ctl.store.views.activity import NO_PROGRESS
from d0ctl.store.views.file_locations import FileView
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.left_out import dropped_lines, short_packages
from d0ctl.store.views.shapes import JobSummary
from d0ctl.store.views.shapes.of_package import InputView, OutputView, PackageView

if TYPE_CHECKING:
    from d0ctl.show.cards.binary import Binary
    from d0ctl.show.cards.file import File
    from d0ctl.show.cards.node import Node
    from d0ctl.show.cards.package import Package

MOST_LIVE, MOST_KEPT_BACK, MOST_FAILED = 10, 3, 4
MOST_LINES, MOST_OF_LINE = 40, 200
MOST_NOTES = 12
MOST_ON_NODE = 200


class NotFoundCard(Struct, frozen=True):
    """The message if it no longer exists."""

    message: str


About: TypeAlias = "Part | Package | Node | File | NotFoundCard"


def about(store: Store, selector: str, now: float) -> About:
    """Read the card of the job, stage, line or package of a path."""
    wanted = parse(selector)
    try:
        if wanted.level == "package":
            return package(store, browse.package(store, wanted), now)
        return part(store, wanted, now)
    except NotFound as error:
        return NotFoundCard(str(error))


def about_node(store: Store, name: str, now: float) -> About:
    """Read the card of a node."""
    from d0ctl.show.cards.node import Node
    from d0ctl.show.usage.use_plots import PERIOD_S
    from d0ctl.show.why import node as explain_node
    from d0ctl.store.history import use_samples

    try:
        why = explain_node.node(store, name, now)
    except NotFound as error:
        return NotFoundCard(str(error))
    row = next(row for row in registry.nodes(store) if row.name == name)
    use = activity.node_use(store).get(row.id, activity.NodeUse())
    live = outline.on_node(store, row.id, MOST_ON_NODE)
    samples = use_samples.of_node(store, row.id, since=now - PERIOD_S)
    late = eta.straggler_ids(store, None, now=now)
    return Node(row, use, why, live, samples, registry.disk_of(store, row.id), late)


def about_file(store: Store, job: str, name: str, now: float) -> "File | NotFoundCard":
    """Read the card of a file of a job."""
    try:
        return file(store, file_locations.in_job(store, job, name), now)
    except NotFound as error:
        return NotFoundCard(str(error))


def file(store: Store, view: FileView, now: float) -> "File":
    """Read the card of a file."""
    from d0ctl.show.cards.file import File
    from d0ctl.show.why import file as explain_file

    return File(view.maker, explain_file.file(store, view, now))


def package(store: Store, view: PackageView, now: float) -> "Package":
    """Read the card of a package."""
    from d0ctl.show.cards.package import Package
    from d0ctl.show.why import package as explain_package

    return Package(
        view,
        browse.is_package_blocked(store, browse.job(store, view.job), view),
        explain_package.package(store, view, now),
        one_package.attempts(store, view.id),
        one_package.binaries(store, view.id),
        inputs_now(store, view),
        outputs_now(store, view),
        one_package.failure_history(store, view.id),
        one_package.events(store, view.id),
        one_package.progress(store, view.id),
        one_package.notes(store, view.id, MOST_NOTES),
        one_package.acknowledgement(store, view.id) if view.phase == Phase.FAILED else None,
        one_package.samples(store, view.id) if view.phase in LIVE else [],
        last_heard=last_heard(store),
    )


def inputs_now(
    store: Store, view: PackageView, limit: int = one_package.MOST_INPUTS
) -> list[InputView]:
    """Read the inputs of a package as they are now, missing ones first; so is a file from outside
    that does not exist now, if the last attempt did not find it, or if the package is not launched
    and nothing has a copy. Results that were removed by hand are marked.
    """
    files = one_package.inputs(store, view.id, limit)
    if not files or STATUS_OF[Phase(view.phase)] in (Status.SCHEDULED, Status.LAUNCHED):
        return files
    from d0ctl.show.why.causes import absent_files  # late: not for packages without inputs

    files = one_package.as_now(store, view.id, files)
    return absent_files.marked(store, view, files, one_package.not_found(store, view.id))


def outputs_now(
    store: Store, view: PackageView, limit: int = one_package.MOST_INPUTS
) -> list[OutputView]:
    """Read the outputs of a package; results that were removed by hand are marked."""
    files = one_package.outputs(store, view.id, limit)
    if not any(file.result and file.present for file in files):
        return files
    from d0ctl.show.why.causes import absent_files  # late: not for packages without results

    return absent_files.marked_outputs(store, view, files)


def about_binary(store: Store, selector: str, now: float) -> "Binary | NotFoundCard":
    """Read the card of the binary of a path."""
    wanted = parse(selector, with_binary=True)
    try:
        return binary(store, browse.package(store, wanted), wanted.binary.first, now)
    except NotFound as error:
        return NotFoundCard(str(error))


def binary(store: Store, view: PackageView, number: int, now: float) -> "Binary":
    """Read the card of a binary. Raises NotFound."""
    from d0ctl.show.cards.binary import Binary

    return Binary(
        view,
        one_package.binary(store, view, number),
        one_package.binary_records(store, view.id, number),
        [file for file in inputs_now(store, view) if file.binary == number],
        [file for file in outputs_now(store, view) if file.binary == number],
        one_package.attempts(store, view.id),
        view.id in eta.straggler_ids(store, view.job_id, now=now),
    )


def part(store: Store, wanted: Selector, now: float, *, driven: bool | None = None) -> Part:
    """Read the card of a job, stage or line. Raises NotFound.

    If this process drives the job itself, the card says so.
    """
    job = browse.job(store, wanted.job)
    found = eta.stragglers(store, job.id, eta.MOST_MARKED, now=now)
    late = frozenset(package.id for package in found)
    if wanted.level == "job":
        slow = Counter(package.stage for package in found)
        return replace(_job(store, job, now, driven), late=late, slow=slow)
    stage, progress = browse.stage(store, job, wanted), activity.running_progress(store, job.id)
    if wanted.level == "stage":
        horizon = _horizon(store, job, now)
        return Part(
            f"{job.name}/{stage.seq}", job, stage, group.stage(store, job, stage, now),
            live=browse.in_stage(store, stage.id, None, LIVE, MOST_LIVE),
            failed=browse.failures(store, job.id, MOST_FAILED, stage.id),
            lines=browse.lines(store, job, stage, 1, MOST_LINES),
            after=dependencies.order_of_stage(store, stage.id),
            progress=progress.stages.get(stage.id, NO_PROGRESS),
            cause=_cause(standstill.production(store, now=now, driven=driven), job),
            estimate=eta.at(horizon.stage_end(job.id, stage.seq), now),
            is_late=horizon.is_late(job.id, stage.seq),
            late=late,
            slow=Counter(package.line for package in found if package.stage == stage.id),
            rates=activity.rates_of_job(store, job, now=now),
        )  # fmt: skip
    line = browse.line(store, job, stage, wanted.line.first)
    packages = browse.in_stage(store, stage.id, line.seq, Phase, MOST_OF_LINE)
    return Part(
        f"{job.name}/{stage.seq}/{line.seq}", job, line, group.line(store, job, stage, line, now),
        packages=sorted(packages, key=lambda row: int(row.path.rpartition("/")[2])),
        no_input=_no_input(store, job.id) if line.blocked else "",
        progress=progress.lines.get(line.id, NO_PROGRESS),
        is_late=any(row.id in late for row in packages),
        late=late,
        slow=Counter(package.line for package in found if package.line == line.id),
    )  # fmt: skip


def _job(store: Store, job: JobSummary, now: float, driven: bool | None) -> Part:
    progress, dropped = (
        activity.running_progress(store, job.id),
        dropped_lines(store, job.id),
    )
    horizon = _horizon(store, job, now)
    site = standstill.production(store, now=now, driven=driven)
    return Part(
        job.name, job, job, group.job(store, job, now, driven=driven),
        cause=_cause(site, job),
        task=ended_tasks(store, [job.id]).get(job.id, ""),
        live=browse.in_phases(store, job.id, LIVE, MOST_LIVE),
        kept_back=browse.in_phases(store, job.id, [Phase.HELD, Phase.COOLOFF], MOST_KEPT_BACK),
        unhold=browse.verb_of_held(store, job.id),
        failed=browse.failures(store, job.id, MOST_FAILED),
        stages=browse.stages(store, job),
        where=browse.where(store, job.id),
        problems=browse.failed_transfers(store, job.id),
        short=short_packages(store, job.id, MOST_READ),
        excluded=_excluded(store, job.id),
        actions=browse.actions(store, job.name, MOST_ACTIONS + 1),
        dropped=dropped,
        progress=progress.job,
        settings=browse.settings(store, job.id),
        estimate=eta.at(horizon.end(job.id), now),
        stuck=horizon.jobs[job.id].stuck if job.id in horizon.jobs else 0,
        nodes_down=horizon.nodes_down(job.id),
        is_late=horizon.is_late(job.id),
        stage_progress=progress.stages,
        rates=activity.rates_of_job(store, job, now=now),
    )  # fmt: skip


def _no_input(store: Store, job: int) -> str:
    from d0ctl.show.why.phases import leftovers  # late: few lines are blocked

    return leftovers.no_input(store, job)


def _cause(site: Production, job: JobSummary) -> Cause | None:
    """Return why a job stands still; None if it does not."""
    return next((other.standing.cause for other in site.jobs if other.id == job.id), None)


def _horizon(store: Store, job: JobSummary, now: float) -> Horizon:
    return eta.horizon(store, now=now) if job.ended is None else NO_HORIZON


def _excluded(store: Store, job: int) -> list[str]:
    """Return the sentences about nodes that a job excludes, for packages that run elsewhere."""
    rows = node_record.exclusions(store, job)
    if not rows:
        return []
    from d0ctl.show.why.phases.node_pauses import excluded

    packages = activity.tried_elsewhere(store, job)
    return [excluded(row, packages[row.name]) for row in rows if row.name in packages]
