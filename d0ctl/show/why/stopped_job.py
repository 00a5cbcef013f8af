"""What stops a single job, and which jobs are held or paused."""

from collections.abc import Hashable, Iterable, Sequence
from shlex import quote

from d0ctl.model import LIVE, Group, Phase, job_status
from d0ctl.policy.remarks import TriedAgain, read
from d0ctl.schedule.node_state import NodeState
from d0ctl.schedule.resources import Requirement
from d0ctl.schedule.standstill import DELIBERATE, Cause, NextTry
from d0ctl.show.drawing.remark_texts import cause, remark
from d0ctl.show.why.common import Explanation, GroupPart
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import JobStanding
from d0ctl.units import count, listed, moment

MOST = 5
"""How many nodes or jobs a sentence names; it counts the rest."""

RETRY_RELEASES = "once their cause is fixed, a retry of the failed packages releases the job, too"
"""What to know of a job that d0ctl holds for its failures."""

EXISTS_NOW = "exists now: a retry reads it at once"
"""The end of what is said of an input that the last attempt at a package did not find."""

MOST_NODES = 3
"""How many nodes the reason of a standstill names."""


def own_obstacle(job: JobStanding, now: float) -> str | None:
    """Return what stops only this job; None if nothing does, or the site or a person stops it."""
    ready, standing = count(job.work.ready, "package"), job.standing
    if standing.unfit:
        unfit = count(standing.unfit, "package")
        return f"no node can take {unfit}: {_reasons(standing.why_unfit)}"
    if job.next_try is not None:
        return _next_try(job, job.next_try, now)
    if standing.cause is Cause.NO_FITTING_NODE:
        return f"no node that takes packages now can take its {ready}"
    if standing.cause is Cause.NO_SPACE:
        return f"no cache has room for its {ready}: {_reasons(standing.why_unfit)}"
    if standing.cause is Cause.SUSPENDED:
        need = count(job.work.lacking, "package needs", "packages need")
        return f"suspended packages have the CPUs that its {need}"
    if standing.cause is Cause.OTHER_RUN:
        return "no daemon is running, and the `run` of another job starts none of its packages"
    if standing.cause is Cause.OTHER_JOB:
        return _other_jobs(job)
    if standing.cause is Cause.NO_INPUT:
        return _no_input(job)
    return _no_copy(job) if standing.cause is Cause.NO_COPY else None


def add_suspended(store: Store, job: str, explanation: Explanation) -> None:
    """Add that a person suspended packages of a job that is not paused."""
    from d0ctl.store.jobs import pause  # late: few jobs have such packages

    if number := pause.left_suspended(store).get(job):
        explanation.facts.append(stay_suspended(job, number))
        explanation.commands.append(resume_suspended(job))


def stay_suspended(job: str, packages: int) -> str:
    """Say that a person suspended packages of a job that is not paused, and how they continue."""
    stay = count(packages, f"package of `{job}` stays", f"packages of `{job}` stay")
    return f"{stay} suspended until `{resume_suspended(job)}`"


def resume_suspended(job: str) -> str:
    """Return the command that resumes the suspended packages of a job."""
    return f"d0ctl resume {quote(f'{job}:suspended')}"


def _next_try(job: JobStanding, first: NextTry, now: float) -> str:
    """Say when something is tried again, the package and its failure; the time comes first."""
    again, note = read(first.note), remark(first.note)
    what, why = f"the next try of `{first.path}`", f": {note}" if note else ""
    if first.phase == Phase.HELD:
        what = f"when the policy releases `{first.path}`"
    elif isinstance(again, TriedAgain):
        why = f" ({again.number} of {again.tries}), after {cause(again)}"
    others = job.work.retrying - 1
    more = f"; {count(others, 'more package waits', 'more packages wait')} for other tries"
    at = moment(first.at, now)
    when = f"{what} is at {at}" if job.standing.moves else f"nothing moves until {at}, {what}"
    return f"{when}{why}{more if others else ''}"


def add(job: JobStanding, part: GroupPart, explanation: Explanation, now: float) -> None:
    """Add what stops only this job, or the job of this part, and the commands that help.

    Packages whose inputs can't be copied say that themselves, and so do those of a part that what
    stops the job does not concern.
    """
    text, standing = own_obstacle(job, now), job.standing
    own_words = standing.cause is Cause.NO_COPY and part.counts.get(Phase.ASSIGNED)
    if text is None or own_words or not _concerns(job, part):
        return
    is_stopped = standing.stands_still and standing.cause not in DELIBERATE
    is_cause = is_stopped and part.path == part.job.name
    text = f"{part.title} stands still: {text}" if is_cause else f"`{part.job.name}`: {text}"
    if job.next_try is not None:
        first = part.explain(job.next_try.path)
        explanation.add(text, _retries(job.work.retrying, first, part))
        explanation.facts += found_inputs(first)
        return
    explanation.add(text, [])
    if standing.cause is Cause.OTHER_RUN:
        explanation.commands.append("d0ctl daemon start")
    elif standing.cause is Cause.OTHER_JOB:
        explanation.commands += [f"d0ctl why {name}" for name in (job.halted or job.others)[:MOST]]
    elif standing.cause is Cause.NO_COPY:
        for row in part.sample([Phase.TRANSFERRING], 1):
            explanation.commands += part.explain(row.path).commands
    elif standing.cause in (Cause.SUSPENDED, Cause.NO_SPACE):
        for row in part.sample([Phase.READY], 1):
            explanation.commands += part.explain(row.path).commands
        if not part.counts.get(Phase.READY):
            _add_resumes(part, explanation)
    elif standing.unfit or standing.cause is Cause.NO_FITTING_NODE:
        _add_unfit(job, part, explanation)


def _concerns(job: JobStanding, part: GroupPart) -> bool:
    """Return whether what stops a job stops packages of a part of it directly."""
    if part.path == part.job.name:
        return True
    if job.next_try is not None or job.standing.cause is Cause.OTHER_JOB:
        return False
    if job.standing.cause in (Cause.NO_INPUT, Cause.NO_COPY):
        return any(part.counts.get(phase) for phase in LIVE)
    if not job.standing.unfit:
        is_queued = job.work.behind and part.counts.get(Phase.STARTING)
        return bool(part.counts.get(Phase.READY) or is_queued)
    return bool(_unfit(part))


def _add_resumes(part: GroupPart, explanation: Explanation) -> None:
    """Add the commands that resume what a package queued on a node waits for."""
    for row in part.sample([Phase.STARTING], 1):
        commands = part.explain(row.path).commands
        explanation.commands += [text for text in commands if text.startswith("d0ctl resume ")]


def found_inputs(package: Explanation) -> list[str]:
    """Return what the explanation of a package says of inputs that exist again."""
    return [fact for fact in package.facts if fact.endswith(EXISTS_NOW)]


def _retries(retrying: int, first: Explanation, part: GroupPart) -> list[str]:
    """Return commands for the package that is tried next, of several a retry for all."""
    if retrying < 2:
        return first.commands
    several = f"d0ctl retry {quote(part.in_phase(Phase.COOLOFF))}"
    single = f"d0ctl retry {first.path}"
    return [several if command == single else command for command in first.commands]


def _add_unfit(job: JobStanding, part: GroupPart, explanation: Explanation) -> None:
    """Add what rules out each node for a package that none takes, and what helps.

    If all ready packages request the same, an edit is for all of them, and for no others.
    """
    if not (unfit := _unfit(part)):
        return
    first, away = unfit[0], [each.details.get("nodes_down") for each in unfit]
    leave_known_nodes(first, explanation.facts)
    if away[0]:
        explanation.details["nodes_down"] = away[0]
    if len({_request(each) for each in job.work.requirements}) > 1 or any(away) > all(away):
        explanation.facts += [f"of `{first.path}`: {fact}" for fact in first.facts]
        explanation.commands += first.commands
        return
    ready = quote(part.in_phase(Phase.READY))
    explanation.facts += first.facts
    explanation.commands += [
        command.replace(first.path, ready, 1) if command == first.edit else command
        for command in first.commands
    ]


def _request(of: Requirement) -> tuple[Hashable, ...]:
    """Return what packages with a requirement request of a node."""
    return (of.cpus, of.memory, of.gpus, of.space, of.platform, *map(frozenset, (
            of.nodes, of.exclude_nodes, of.software, of.needs)))  # fmt: skip


def _unfit(part: GroupPart) -> list[Explanation]:
    """Explain those of its oldest ready packages that no node can take; first those that an edit
    would let run.
    """
    explained = [part.explain(row.path) for row in part.sample([Phase.READY], MOST)]
    unfit = [package for package in explained
             if all(node["against"] for node in package.details.get("nodes", ()))]  # fmt: skip
    return sorted(unfit, key=lambda package: not package.edit)


def leave_known_nodes(first: Explanation, known: Sequence[str]) -> None:
    """Leave out why nodes take nothing if that has been said already."""
    away = {
        f"node `{node['node']}` {node['against']}"
        for node in first.details.get("nodes", ())
        for text in known
        if f"`{node['node']}` drained (" in text or f"`{node['node']}` down since " in text
    }
    first.facts[:] = [fact for fact in first.facts if fact not in away]


def _other_jobs(job: JobStanding) -> str:
    """Say which other jobs keep a job waiting."""
    if job.halted:
        are = "is" if len(job.halted) == 1 else "are"
        return f"it waits for files of {in_quotes(job.halted)}, which {are} held or paused"
    outside = job.work.outside
    if outside is not None and not outside.ready:
        return f"it waits for files of {in_quotes(job.others)}, of which packages are held"
    return f"it waits for files of {in_quotes(job.others)}, which no node can make"


def _no_input(job: JobStanding) -> str:
    """Say that launched packages wait for inputs that will never be produced."""
    number = sum(job.work.awaiting.values())
    if number == 1:
        return "1 package is launched and waits for an input produced only after a retry"
    return f"{number:,} packages are launched and wait for inputs produced only after a retry"


def _no_copy(job: JobStanding) -> str:
    """Say that assigned packages wait for files of nodes that are down."""
    number = job.work.stranded
    waits = "1 package waits" if number == 1 else f"{number:,} packages wait"
    return f"{waits} for files whose only copies are on nodes that have been down for too long"


def in_the_way(job: JobStanding, nodes: Sequence[NodeState]) -> str | None:
    """Return why a job or part can't move without a person, if its state does not say so."""
    cause = job.standing.cause
    if not job.standing.is_settled or cause is None or job.work.held or job.work.paused:
        return None
    if cause is Cause.NO_INPUT:
        return _no_input(job)
    if cause is Cause.NO_COPY:
        return _no_copy(job)
    if cause is Cause.HELD:
        return None
    outside = job.work.outside
    work = job.work if job.work.ready or outside is None else outside
    if cause is Cause.OTHER_JOB and not work.requirements:
        return _other_jobs(job)
    if not nodes:
        return "there are no nodes"
    reasons = {
        node.room.name: f"is ruled out ({why})" if why else str(node.gone)
        for requirement in work.requirements
        for node in nodes
        if (why := node.misfit(requirement) or node.lack(requirement)) or node.gone
    }
    named = [f"`{name}` {why}" for name, why in list(reasons.items())[:MOST_NODES]]
    if (more := len(reasons) - MOST_NODES) > 0:
        named.append(count(more, "more node"))
    ready = count(work.ready, "package is ready", "packages are ready")
    them = "it" if work.ready == 1 else "them"
    return f"{ready}, and no node can take {them}: {listed(named)}"


def _reasons(why: dict[str, str]) -> str:
    named = [f"`{name}`: {reason}" for name, reason in list(why.items())[:2]]
    return "; ".join(named) + ("; ..." if len(why) > 2 else "")


def in_quotes(names: Iterable[str]) -> str:
    """List names, and count those beyond the first few."""
    quoted = [f"`{name}`" for name in names]
    more = [f"{len(quoted) - MOST:,} more"] if len(quoted) > MOST else []
    return listed(quoted[:MOST] + more)


def kept_back(jobs: Iterable[JobStanding]) -> list[str]:
    """Say which of these jobs are held or paused, and of which only held packages are left.

    Jobs that are held or paused may have packages that still run.
    """
    stopped = [job for job in jobs if job.standing.cause in {None, *DELIBERATE}
               and job_status(job.work.counts, {}) in (Group.SUBMITTED, Group.RUNNING)]  # fmt: skip
    held = [job.name for job in stopped if job.work.held]
    paused = [job.name for job in stopped if job.work.paused and not job.work.held]
    parts = [job.name for job in stopped if job.standing.stands_still
             and not job.work.held and not job.work.paused]  # fmt: skip
    texts = [f"{in_quotes(names)} {'is' if len(names) == 1 else 'are'} {state}"
             for names, state in ((held, "held"), (paused, "paused")) if names]  # fmt: skip
    return texts + ([f"only held packages are left of {in_quotes(parts)}"] if parts else [])
