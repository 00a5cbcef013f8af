"""Anything that stops production: texts for `status`, `why JOB` and mail."""

import shlex
from collections.abc import Mapping, Sequence

from msgspec import Struct

from d0ctl.model import Phase, by_status
from d0ctl.schedule.standstill import SITEWIDE, Cause
from d0ctl.show.drawing.remark_texts import OUTDATED, drain_note, needs_a_person
from d0ctl.show.why.common import Explanation, GroupPart, scarce_disk
from d0ctl.show.why.stopped_job import MOST, in_quotes, own_obstacle
from d0ctl.store.connection import Store
from d0ctl.store.nodes.site import CopiedHome, Fault, Overflow, other_home
from d0ctl.store.nodes.standstill import JobStanding, NodeView, Production
from d0ctl.units import count, moment, size


class Obstacle(Struct, frozen=True):
    """Something that keeps packages from moving, or soon will, and the commands that help."""

    text: str
    commands: tuple[str, ...] = ()
    is_cause: bool = True
    """Whether it can be why a job stands still."""


FAULTS: Mapping[str, str] = {
    "submit": "takes no jobs",
    "queue": "does not answer",
    "pilot": "ends its pilots at once",
}
"""The effect of each kind of fault of a batch system."""


def obstacles(production: Production, now: float) -> list[Obstacle]:
    """Return what is wrong with daemon, nodes, batch systems, caches, disks while there is work."""
    if not any(job.work.open or job.standing.cause in SITEWIDE for job in production.jobs):
        copied = production.copied
        return [] if copied is None else [_copy(copied, now, "what came later is only there")]
    driven = production.driven
    found_obstacles = [
        None if driven else _no_daemon(production.copied, now),
        OLD_DAEMON if production.outdated else None,
        _full_home(production),
        _nodes(production, now),
        _wrong_tokens(production.wrong_tokens) if production.wrong_tokens else None,
        *(batch_fault(name, fault, now) for name, fault in production.faults.items() if driven),
        *(overflow(cache, now) for cache in production.overflows[:MOST] if driven),
        _disks(production),
    ]
    return [obstacle for obstacle in found_obstacles if obstacle is not None]


def _full_home(production: Production) -> Obstacle | None:
    full = production.full_home
    return None if full is None else Obstacle(str(full), (str(full.hint),), is_cause=False)


def _wrong_tokens(number: int) -> Obstacle:
    """Say that messages are rejected because another key has signed them."""
    text = f"{count(number, 'message')} of packages rejected in the last hour: not signed by the "
    return Obstacle(f"{text}`site.key` of this home", ("d0ctl doctor",), is_cause=False)


def batch_fault(name: str, fault: Fault, now: float) -> Obstacle:
    """Say why a batch system brings no pilots."""
    from d0ctl.show.why.batch import account_limits  # late: its table is for batch systems only

    text = f"cluster `{name}` {FAULTS[fault.kind]} since {moment(fault.since, now)}: {fault.text}"
    named = account_limits.named(fault.text)
    text += f" ({'; '.join(named)})" if named else ""
    if fault.retry is not None and fault.retry > now:
        text += f"; the next try is at {moment(fault.retry, now)}"
    return Obstacle(text, (f"d0ctl cluster check {name}",))


def overflow(full: Overflow, now: float) -> Obstacle:
    """Say that the capacity of a cache is exceeded, or will be by the last forecast."""
    command = f"d0ctl report disk {full.cluster}"
    grows = f"{size(full.peak)} by {moment(full.peak_at, now)}"
    if full.used > full.space:
        text = f"has too little room: {size(full.used)} of {size(full.space)}"
        text += f", and {grows}" if full.peak_at > now and full.peak > full.used else ""
    else:
        text = f"will be full at about {moment(full.at, now)}: {grows}, it holds {size(full.space)}"
    return Obstacle(f"the cache of `{full.cluster}` {text}", (command,), is_cause=False)


def _disks(production: Production) -> Obstacle | None:
    """Name nodes whose disks are nearly full, as a daemon knows; those that take nothing first."""
    full = [(view.name, view.disk) for view in production.nodes if view.disk is not None]
    if not full or not production.driven:
        return None
    full.sort(key=lambda node: node[1].reserve is None)
    texts = [f"`{name}`: {scarce_disk(space)}" for name, space in full[:MOST]]
    more = [f"{count(len(full) - MOST, 'more node')}"] if len(full) > MOST else []
    commands = tuple(f"d0ctl node check {name}" for name, _ in full[:MOST])
    return Obstacle("; ".join([*texts, *more]), commands, is_cause=False)


def subject_of_stop(part: GroupPart, own: JobStanding | None) -> str:
    """Begin the sentence that a part stands still; without a daemon its running packages go on, and
    suspended ones stay so.
    """
    counts = part.counts  # those that are `starting` may wait on their nodes for a daemon
    waiting = counts.get(Phase.UNREACHABLE, 0) + counts.get(Phase.STARTING, 0)
    suspended = counts.get(Phase.SUSPENDED, 0)
    running = by_status(counts)["launched"] - waiting - suspended
    has_daemon = own is None or own.standing.cause is not Cause.NO_DAEMON
    if has_daemon or not (running or suspended):
        return f"{part.title} stands still: "
    if not running:
        return f"{count(suspended, 'package is', 'packages are')} suspended in {part.title}, and "
    return f"{count(running, 'package continues', 'packages continue')} in {part.title}, but "


START = "d0ctl daemon start"
"""The command that drives all jobs."""

NO_DAEMON = Obstacle("no daemon is running, so nothing new starts", (START,))


def undriven(copied: CopiedHome, now: float) -> str:
    """Say in one line that a home has no daemon from which another took over, or that is a copy."""
    found = _no_daemon(copied, now)
    return f"{found.text}: `{found.commands[0]}`" if found.commands else found.text


def advise_no_daemon(store: Store, explanation: Explanation, now: float) -> None:
    """Say in a copy of a home what a daemon would do there, in place of the advice to start one."""
    copied = other_home(store)
    if copied is None:
        return
    explanation.commands[:] = [command for command in explanation.commands
                               if not command.startswith((START, "d0ctl run "))]  # fmt: skip
    explanation.facts.append(undriven(copied, now))


def _no_daemon(copied: CopiedHome | None, now: float) -> Obstacle:
    """Say that no daemon runs; in a copy that nobody has driven, what one would do."""
    if copied is None:
        return NO_DAEMON
    would = "one would go on with its jobs, and the nodes would delete what is newer"
    return _copy(copied, now, would)


def _copy(copied: CopiedHome, now: float, so: str) -> Obstacle:
    when = "" if copied.last is None else f" of {moment(copied.last, now)}"
    commands = (shlex.join(["d0ctl", "--home", str(copied.root), "status"]),)
    if copied.is_newer:
        text = f"home `{copied.root}` has taken over from this one, which is older"
        return (Obstacle(text, commands) if copied.is_there
                else Obstacle(f"{text}; it was moved or removed since"))  # fmt: skip
    if not copied.is_there:
        text = (f"the home in use, `{copied.root}`, is gone, and no daemon has driven this one, "
                f"which was restored from a backup{when}: {so}")  # fmt: skip
        return Obstacle(text, (f"{START}   # if that home is lost, not moved",))
    text = f"this home is a copy of `{copied.root}`{when} that no daemon has driven: {so}"
    return Obstacle(text, commands)


OLD_DAEMON = Obstacle(OUTDATED, ("d0ctl daemon restart",), is_cause=False)


def _nodes(production: Production, now: float) -> Obstacle | None:
    """Return which nodes are out of use; None if all take packages or were never contacted."""
    if not production.nodes:
        return Obstacle("there is no node", ("d0ctl node add NAME [user@]host",))
    if not production.driven:
        return None
    away = [node for node in production.nodes if node.node.is_away]
    if any(node.node.takes or node.node.is_coming for node in production.nodes):
        away = [node for node in away if not _is_deliberate(node)]
    if not away:
        return None
    away.sort(key=lambda node: node.node.state != "down")
    text = f"{_available(production)}: {nodes_away(away, now)}"
    suspected = [node for node in away if node.name in production.suspected]
    if suspected:
        text += f"; packages that failed on {_names(suspected)} are tried elsewhere now"
    helping = [suggestion(node) for node in away if node not in suspected]
    return Obstacle(text, tuple(sorted(helping[:MOST], key=lambda command: "#" in command)))


def _is_deliberate(node: NodeView) -> bool:
    """Return whether a node takes nothing because a person drained it, or `_disks` names it."""
    return node.node.state != "down" and (_is_by_person(node) or not node.node.drained)


def _is_by_person(node: NodeView) -> bool:
    """Return whether a person has drained a node, if it is drained."""
    return not node.node.retries and not node.is_doubted


def _available(production: Production) -> str:
    """Say how many nodes are up; if all are, how many take packages."""
    states = [node.node for node in production.nodes]
    of = f"of {count(len(states), 'node')}"
    if all(node.state == "up" for node in states):
        takes = sum(node.takes for node in states)
        return f"{takes} {of} {'takes' if 1 in (takes, len(states)) else 'take'} packages"
    coming = sum(node.is_coming for node in states)
    contacted = f", {count(coming)} being contacted" if coming else ""
    return f"{sum(node.state == 'up' for node in states)} {of} up{contacted}"


def nodes_away(away: Sequence[NodeView], now: float) -> str:
    """Name nodes that take nothing: those that are down, then those that are full or drained."""
    down = [blocked for blocked in away if blocked.node.state == "down"]
    drained = [blocked for blocked in away if blocked.node.state != "down" and blocked.node.drained]
    full = [blocked for blocked in away if blocked not in down and not blocked.node.drained]
    parts = [f"{_names(full)} full"] if full else []
    if down:
        first, *later = sorted({int(blocked.since) for blocked in down if blocked.since})
        since = f"{', the first' if later else ''} since {moment(first, now)}"
        parts.append(f"{_names(down)} down{since}{_last_error(down)}")
    return "; ".join([*parts, *_drained(drained)])


def _drained(nodes: Sequence[NodeView]) -> list[str]:
    """Name drained nodes with the reasons, for as many reasons as a sentence holds."""
    by_note: dict[str | None, list[NodeView]] = {}
    for node in nodes:
        by_note.setdefault(node.drain_note and drain_note(node.drain_note), []).append(node)
    if len(by_note) > MOST:
        return [f"{_names(nodes)} drained"]
    return [f"{_names(some)} drained{f' ({note})' if note else ''}"
            for note, some in by_note.items()]  # fmt: skip


def _last_error(down: Sequence[NodeView]) -> str:
    errors = {blocked.last_error for blocked in down if blocked.last_error}
    return f" ({errors.pop()})" if len(errors) == 1 else ""


def _names(nodes: Sequence[NodeView]) -> str:
    return in_quotes([node.name for node in nodes])


def suggestion(node: NodeView) -> str:
    """Return the command for a node that takes nothing: a drain by a person may have its reason."""
    if node.node.state == "down" or not node.node.drained:
        return f"d0ctl node check {node.name}"
    if not _is_by_person(node):
        return f"d0ctl why {node.name}"
    unless = "   # once its reason no longer holds" if node.drain_note else ""
    return f"d0ctl node resume {node.name}{unless}"


def job_obstacles(production: Production, now: float) -> dict[str, Obstacle]:
    """Return by job what stops it alone, packages that no node can take, and a task in vain."""
    obstacles_by_job = {task.name: Obstacle(needs_a_person(task), (f"d0ctl why {task.name}",))
                        for task in production.tasks}  # fmt: skip
    for job in production.jobs:
        if text := own_obstacle(job, now):
            text = f"`{job.name}`: {text}"
            obstacles_by_job[job.name] = Obstacle(text, (f"d0ctl why {job.name}",))
    return obstacles_by_job


LACKS_FILES = "it lacks files of other jobs"


def blocked_jobs(production: Production) -> dict[str, Obstacle]:
    """Return by job that other jobs do not make files that it needs."""
    return {name: Obstacle(f"`{name}` is blocked: {LACKS_FILES}", (f"d0ctl why {name}",))
            for name in production.blocked}  # fmt: skip


def stop_of_all(production: Production, now: float) -> Obstacle | None:
    """Return what stops every job, such as a missing daemon; None if nothing does."""
    if production.cause not in SITEWIDE:
        return None
    return next((found for found in obstacles(production, now) if found.is_cause), None)


def why_still(production: Production, job: JobStanding, now: float) -> str:
    """Return what stops a job that stands still."""
    own, of_all = own_obstacle(job, now), stop_of_all(production, now)
    return own or (of_all.text if of_all else str(job.standing.cause))


def standstill(production: Production, now: float) -> Obstacle:
    """Return the main cause of a standstill; how many packages it stops, if that is all."""
    if sitewide := stop_of_all(production, now):
        totals = [by_status(job.work.counts) for job in production.stopped]
        number = sum(of["unscheduled"] + of["scheduled"] + of["launched"] for of in totals)
        left = count(number, "package has not ended", "packages have not ended")
        return Obstacle(f"{sitewide.text}; {left}", sitewide.commands)
    jobs = [job for job in production.stopped if job.standing.cause is production.cause]
    own = own_obstacle(jobs[0], now)
    text = f"`{jobs[0].name}`: {own}" if own else str(production.cause)
    return Obstacle(text, (f"d0ctl why {jobs[0].name}",))
