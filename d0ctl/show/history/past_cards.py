"""Cards of jobs, stages, lines and packages as they were at an earlier moment.

They leave out what is only known of the present: files, estimates, and why a package waits.
"""

from d0ctl.errors import NotFound
from d0ctl.model import LIVE, Phase
from d0ctl.select import Selector, parse
from d0ctl.show.card_contents import (
    MOST_ACTIONS,
    MOST_FAILED,
    MOST_LINES,
    MOST_LIVE,
    MOST_OF_LINE,
    NotFoundCard,
)
from d0ctl.show.cards.package import Package
from d0ctl.show.cards.part import Part
from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, one_package


def about(store: Store, selector: str) -> Part | Package | NotFoundCard:
    """Read the card of a path from a store that reads the past."""
    wanted = parse(selector)
    try:
        return _package(store, wanted) if wanted.level == "package" else _part(store, wanted)
    except NotFound as error:
        return NotFoundCard(str(error))


def _package(store: Store, wanted: Selector) -> Package:
    view = browse.package(store, wanted)
    return Package(
        view, False, _unexplained(view.path, view.phase), one_package.attempts(store, view.id),
        [], [], [], one_package.failure_history(store, view.id),
        one_package.events(store, view.id), None, [],
    )  # fmt: skip


def _part(store: Store, wanted: Selector) -> Part:
    job = browse.job(store, wanted.job)
    if wanted.level == "job":
        return Part(
            job.name, job, job, _unexplained(job.name, job.status),
            live=browse.in_phases(store, job.id, LIVE, MOST_LIVE),
            failed=browse.failures(store, job.id, MOST_FAILED),
            stages=browse.stages(store, job),
            actions=browse.actions(store, job.name, MOST_ACTIONS),
        )  # fmt: skip
    stage = browse.stage(store, job, wanted)
    path = f"{job.name}/{stage.seq}"
    if wanted.level == "stage":
        return Part(
            path, job, stage, _unexplained(path, stage.status),
            live=browse.in_stage(store, stage.id, None, LIVE, MOST_LIVE),
            failed=browse.failures(store, job.id, MOST_FAILED, stage.id),
            lines=browse.lines(store, job, stage, 1, MOST_LINES),
        )  # fmt: skip
    line = browse.line(store, job, stage, wanted.line.first)
    packages = browse.in_stage(store, stage.id, line.seq, Phase, MOST_OF_LINE)
    path = f"{path}/{line.seq}"
    return Part(
        path, job, line, _unexplained(path, line.status),
        packages=sorted(packages, key=lambda row: int(row.path.rpartition("/")[2])),
    )  # fmt: skip


def _unexplained(path: str, status: str) -> Explanation:
    """Return an answer that claims nothing: the reasons of a state are not recorded."""
    return Explanation(path, status, "this is the past: only the state is known, not its reason")
