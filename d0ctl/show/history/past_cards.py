"""Cards of jobs, stages, lines and packages as they were at an earlier moment.

They leave out what is only known of the present: files, requests, estimates, and why a package
waits.
"""

from collections.abc import Sequence

from d0ctl.errors import NotFound
from d0ctl.model import LIVE, Group, Phase
from d0ctl.select import Selector, parse
from d0ctl.show.card_contents import (
    MOST_FAILED,
    MOST_LINES,
    MOST_LIVE,
    MOST_OF_LINE,
    NotFoundCard,
)
from d0ctl.show.cards.jobs import state
from d0ctl.show.cards.package import Package
from d0ctl.show.cards.part import MOST_ACTIONS, Part
from d0ctl.show.drawing.signs import is_live
from d0ctl.show.lists import since
from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView
from d0ctl.units import moment

NOT_EXPLAINED = (Phase.WAITING, Phase.READY)
"""The phases of packages that wait for something that only the present knows."""

ENDS = {
    Phase.DONE: "had succeeded", Phase.FAILED: "had failed", Phase.CANCELED: "had been canceled",
    Phase.DROPPED: "had been dropped",
}  # fmt: skip
"""How packages had ended before the moment that is shown."""

DOING = {
    Phase.COOLOFF: "cooling off", Phase.STAGING_IN: "staging in", Phase.KILLING: "being killed",
}  # fmt: skip
"""What packages had been doing until then, if the name of the phase does not say it."""


def about(store: Store, selector: str, at: float) -> Part | Package | NotFoundCard:
    """Read the card of a path from a store that reads the past, at that time."""
    wanted = parse(selector)
    try:
        return _package(store, wanted, at) if wanted.level == "package" else _part(store, wanted)
    except NotFound as error:
        return NotFoundCard(str(error))


def _package(store: Store, wanted: Selector, at: float) -> Package:
    view = browse.package(store, wanted)
    attempts = one_package.attempts(store, view.id)
    return Package(
        view, False, _state(view, attempts, at), attempts, [], [], [],
        one_package.failure_history(store, view.id), one_package.events(store, view.id), None, [],
        is_past=True,
    )  # fmt: skip


def _part(store: Store, wanted: Selector) -> Part:
    job = browse.job(store, wanted.job)
    if wanted.level == "job":
        return Part(
            job.name, job, job, _status(job.name, state(job, None)),
            live=browse.in_phases(store, job.id, LIVE, MOST_LIVE),
            failed=browse.failures(store, job.id, MOST_FAILED),
            stages=browse.stages(store, job),
            actions=browse.actions(store, job.name, MOST_ACTIONS + 1),
        )  # fmt: skip
    stage = browse.stage(store, job, wanted)
    path = f"{job.name}/{stage.seq}"
    if wanted.level == "stage":
        return Part(
            path, job, stage, _status(path, stage.status),
            live=browse.in_stage(store, stage.id, None, LIVE, MOST_LIVE),
            failed=browse.failures(store, job.id, MOST_FAILED, stage.id),
            lines=browse.lines(store, job, stage, 1, MOST_LINES),
        )  # fmt: skip
    line = browse.line(store, job, stage, wanted.line.first)
    packages = browse.in_stage(store, stage.id, line.seq, Phase, MOST_OF_LINE)
    path = f"{path}/{line.seq}"
    return Part(
        path, job, line, _status(path, line.status),
        packages=sorted(packages, key=lambda row: int(row.path.rpartition("/")[2])),
    )  # fmt: skip


def _state(view: PackageView, attempts: Sequence[AttemptView], at: float) -> Explanation:
    """Say in which state a package was, where and since when; why it waited is not recorded."""
    explanation = Explanation(view.path, view.phase, _sentence(view, attempts, at))
    if attempts and is_live(view.phase):
        last = attempts[-1]
        kind = f", a {last.kind}" if last.number > 1 else ""
        explanation.facts.append(
            f"attempt {last.number}{kind}, launched {moment(last.launched, at)}"
        )
    if view.phase in NOT_EXPLAINED:
        explanation.facts.append("why it waited at that time is not recorded")
    explanation.facts.append("its changes below say who or what led to this")
    return explanation


def _sentence(view: PackageView, attempts: Sequence[AttemptView], at: float) -> str:
    """Return the sentence for the phase of a package: how it had ended, or what it was doing."""
    where = f" on `{view.node}`" if view.node else ""
    when = moment(since(view, attempts), at)
    if end := ENDS.get(Phase(view.phase)):
        return f"package `{view.path}` {end}{where} at {when}"
    doing = DOING.get(Phase(view.phase), view.phase)
    return f"package `{view.path}` had been {doing}{where} since {when}"


def _status(path: str, status: str) -> Explanation:
    """Say in which status a job, stage or line was; why its packages waited is not recorded."""
    facts = ["why packages waited at that time is not recorded; the changes of each are"]
    sentence = f"`{path}` had failed" if status == Group.FAILED else f"`{path}` was {status}"
    return Explanation(path, status, sentence, facts=facts)
