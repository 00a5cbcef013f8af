"""The state of a launched package, and what it still waits for."""

from d0ctl.model import NEWER_HOME, OTHER_DAEMON, Node, Phase
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.why.common import (
    MOST,
    Explanation,
    GroupPart,
    for_time,
    gone_for_good,
    kept_back,
    paused_job,
    straggler,
    stragglers,
    transfer_text,
)
from d0ctl.show.why.phases import broker, recovery
from d0ctl.show.why.phases.waiting import prerequisites_of, suggest
from d0ctl.show.why.pilots import direct_job
from d0ctl.show.why.subject import Subject
from d0ctl.store.clusters.pilots import direct_job_of
from d0ctl.store.connection import Store
from d0ctl.store.lifecycle import AT_ONCE, PackageRequest
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import any_driver, given_up, last_report
from d0ctl.store.nodes.site import default
from d0ctl.store.nodes.standstill import NodeView, node_views
from d0ctl.store.views import dependencies, one_package
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.shapes import JobSummary, PackageRow
from d0ctl.store.views.shapes.of_package import PackageView
from d0ctl.units import count, duration, moment
from d0ctl_wrapper.protocol.text import PAUSED

MOST_STRAGGLERS = 10_000
"""How many packages of a job are searched for stragglers."""


def live(subject: Subject) -> None:
    """Explain a package that is starting, staging in, running or suspended."""
    package, explanation = subject.package, subject.explanation
    tries = one_package.attempts(subject.store, package.id)
    began = (tries[-1].started or tries[-1].wrapper_started) if tries else None
    is_driven = any_driver(subject.store)
    explanation.answer = f"{subject.name} {state(subject.store, package, began, subject.now)}"
    if package.phase == Phase.STARTING:
        _queued(subject)
    if package.phase == Phase.SUSPENDED and package.note:
        _suspended(subject, package.note)
    if not is_driven:
        _unheard(subject)
    if tries and (job := direct_job_of(subject.store, tries[-1].id)):
        subject.fact(direct_job(job))
    if len(tries) > 1:
        subject.fact(f"this is attempt {tries[-1].number}, a {tries[-1].kind}")
    if package.phase != Phase.STARTING or package.request != PackageRequest.PAUSE:
        explanation.commands.append(f"d0ctl logs {package.path}")
    if is_driven:
        subject.command(f"d0ctl kill {package.path}")
        _straggles(subject)
    broker.explain_choice(subject)
    _early_start(subject)


def state(store: Store, package: PackageView | PackageRow, began: float | None, now: float) -> str:
    """Describe a launched package; one that is starting may have to wait for a slot."""
    if package.phase == Phase.STARTING and one_package.full_node(store, package.id):
        return f"waits for a slot on `{package.node}`"
    if package.node is None or package.phase == Phase.UNREACHABLE or any_driver(store):
        return for_time(package.phase, package.node, began, now)
    node = registry.find(store, package.node)
    last_contact = last_report(node) if node else None
    last = f" when that was last heard, at {moment(last_contact, now)}" if last_contact else ""
    return f"was {package.phase} on `{package.node}`{last}"


def _unheard(subject: Subject) -> None:
    """Say that nobody knows what became of it since its node was last heard."""
    if subject.package.phase == Phase.STARTING:
        subject.fact("no daemon is running: if it waits there for a slot, it begins when one runs")
    else:
        subject.fact("no daemon is running, so it is not known whether it has ended since")
    subject.command("d0ctl daemon start")


def _queued(subject: Subject) -> None:
    """Say what it waits for on its node: a resume, or slots of packages that a person suspended."""
    if subject.package.request == PackageRequest.PAUSE:
        subject.fact("it was asked to pause, so it does not begin before it is resumed")
        _resumable(subject)
    if (node := one_package.full_node(subject.store, subject.package.id)) is not None:
        from d0ctl.show.why.phases.queue_position import suspended_on  # late: few are queued

        suspended_on(subject, [node])


def _suspended(subject: Subject, note: str) -> None:
    """Say why it is suspended, by what command it continues if a person did that, else its node."""
    subject.fact(f"because: {remark(note)}")
    if not note.startswith(PAUSED):
        subject.command(f"d0ctl why {subject.package.node}")
        return
    _resumable(subject)


def _resumable(subject: Subject) -> None:
    """Name the pause of its job, and the command by which it continues."""
    if subject.job.pause:
        subject.fact(paused_job(subject.job, subject.now))
    subject.command(
        subject.job.resume if subject.job.pause else f"d0ctl resume {subject.package.path}"
    )


def _straggles(subject: Subject) -> None:
    """Say whether it runs much longer than expected."""
    package, store = subject.package, subject.store
    for slow_package in eta.stragglers(store, package.job_id, MOST_STRAGGLERS, now=subject.now):
        if slow_package.path == package.path:
            subject.fact(straggler(slow_package, subject.now))
            subject.explanation.details["straggler"] = {
                "expected": slow_package.expected, "high": slow_package.high,
            }  # fmt: skip


def add_stragglers(store: Store, part: GroupPart, explanation: Explanation, now: float) -> None:
    """Name the first stragglers of a job or a part of it, and what explains the first of them.

    Without a daemon there are none: those that look late may have ended.
    """
    if not any_driver(store):
        return
    found = eta.stragglers(store, part.job.id, MOST_STRAGGLERS, now=now)
    late = [package for package in found if package.path.startswith(f"{part.path}/")]
    explanation.facts += stragglers(late, now)
    explanation.commands += [f"d0ctl why {late[0].path}"] if late else []


def add_failed_transfers(store: Store, part: GroupPart, explanation: Explanation) -> None:
    """Name the first results that could not be copied yet, and why; the card of a job does, too."""
    for row in part.sample([Phase.TRANSFERRING], MOST):
        away = _away(store, row.node)
        for name, tries, error in dependencies.results_of(store, row.id, MOST):
            if error or away:
                text = f"file `{name}` can't be copied: node `{row.node}` is down"
                explanation.facts.append(text if away else transfer_text(name, tries, error))
                explanation.listed += explanation.facts[-1:] if part.path == part.job.name else []


def _early_start(subject: Subject) -> None:
    """Say which inputs a package that started early still waits for."""
    row = dependencies.input_list(subject.store, subject.package.id)
    if row is None or row["early"] != 1 or not row["awaited"]:
        return
    more = count(row["awaited"], "more input")
    subject.fact(f"it started early; it takes no cpu while it waits for {more}")
    prerequisites = prerequisites_of(subject.store, subject.package.id)
    subject.explanation.facts += [
        f"it waits for {prerequisite.text}" for prerequisite in prerequisites[:MOST]
    ]
    if prerequisites and prerequisites[0].likelihood == 0:
        suggest(subject.store, subject.explanation, prerequisites[0])


def killing(subject: Subject) -> None:
    """Explain a package that is being killed."""
    package, explanation = subject.package, subject.explanation
    action = subject.last_action()
    by = f", requested by {action.actor} at {moment(action.at, subject.now)}" if action else ""
    explanation.answer = f"{subject.name} is being killed on `{package.node}`{by}"
    if action and action.note:
        subject.fact(f"because: {action.note}")
    if not any_driver(subject.store):
        subject.fact("no daemon is running: it runs on until it is started")
        subject.command("d0ctl daemon start")
    if (until := recovery.ends_by_itself_until(subject.store, package)) is not None:
        subject.fact(f"its binary has until {moment(until, subject.now)} to end by itself, "
                     "so that its outputs are kept")  # fmt: skip
    if package.request not in AT_ONCE:
        subject.command(f"d0ctl kill {package.path}   # ends it sooner")
    subject.command(f"d0ctl why {package.node}")


def continues_there(
    store: Store, job: JobSummary, package: PackageView | PackageRow, now: float
) -> str:
    """Say what becomes of a package of a job on a node that is down since it last changed."""
    row = registry.find(store, package.node or "")
    within = until_given_up(store, row.id if row else 0, package.changed, now)
    then = "counts as lost"
    if dependencies.inputs_away(store, [package.id], 1)[1]:
        then += ", and then waits for inputs that only nodes have that are down"
    elif kept_back(job, now) is None:
        then = "runs elsewhere, if another node can take it"
    return f"it may continue there; if the node does not answer {within}, it {then}"


def until_given_up(store: Store, node: int, since: float, now: float) -> str:
    """Say until when a node that is down since then has to answer, so that packages stay there."""
    until = given_up(store, node, since)
    if until is not None:
        return f"before {moment(until, now)}"
    return f"within {duration(default(store, 'unreachable-after'))} once a daemon runs"


def unreachable(subject: Subject) -> None:
    """Explain a package whose node does not answer."""
    package = subject.package
    subject.explanation.answer = (
        f"{subject.name} was launched on `{package.node}`, which has been down since "
        f"{subject.since()}"
    )
    if package.note:
        subject.fact(f"because: {remark(package.note)}")
    subject.fact(continues_there(subject.store, subject.job, package, subject.now))
    from d0ctl.show.why.causes import inputs_away  # late: few nodes are down

    if not inputs_away.add(subject):
        subject.command(f"d0ctl node check {package.node}")
        subject.command(give_up(package.path))
        if (row := registry.find(subject.store, package.node or "")) and _may_be_gone(row):
            subject.command(gone_for_good(row.name, is_used=True))


def _may_be_gone(row: Node) -> bool:
    """Return whether a node that is down may be removed: no pilot, nor used by another home."""
    used_elsewhere = (row.last_error or "").startswith((NEWER_HOME, OTHER_DAEMON))
    return not row.job and row.kind != "local" and not used_elsewhere


def give_up(selector: str, *, several: bool = False) -> str:
    """Return the command that no longer waits for the node of unreachable packages."""
    them = "them" if several else "it"
    return f"d0ctl kill {selector}   # gives {them} up now; a retry then runs {them} elsewhere"


def transferring(subject: Subject) -> None:
    """Explain a package that succeeded and whose results are being copied."""
    if away := _away(subject.store, subject.package.node):
        subject.explanation.answer = (
            f"{subject.name} succeeded; its results are copied to results/ once `{away.name}` "
            f"answers, which has been down since {moment(away.since, subject.now)}"
        )
        subject.explanation.commands += [
            f"d0ctl node check {away.name}", gone_for_good(away.name, is_used=True),
        ]  # fmt: skip
        return
    rows = dependencies.results_of(subject.store, subject.package.id, MOST)
    subject.explanation.answer = (
        f"{subject.name} succeeded; its results are being copied to results/"
    )
    subject.explanation.facts += [transfer_text(*row) for row in rows]


def _away(store: Store, node: str | None) -> NodeView | None:
    """Return a node that is down, if no other can read its cache."""
    views = node_views(store)
    own = next((view for view in views if view.name == node), None)
    if own is None or any(
        view.node.room.cluster == own.node.room.cluster and view.node.state != "down"
        for view in views
    ):
        return None
    return own
