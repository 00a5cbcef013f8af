"""Why a line, stage or job is in its state, by its most significant packages."""

from functools import partial
from shlex import quote

from d0ctl.model import LIVE, Group, Phase, by_status, roll_up
from d0ctl.schedule.standstill import SITEWIDE, Cause
from d0ctl.select import parse
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.why import group_failures, stopped_job
from d0ctl.show.why.common import (
    MOST,
    MOST_READ,
    Explanation,
    GroupPart,
    kept_back,
    line_name,
    retry_canceled,
)
from d0ctl.show.why.production import obstacles, subject_of_stop
from d0ctl.store.connection import Store
from d0ctl.store.nodes import site, standstill
from d0ctl.store.nodes.catalogue import may_fit_nowhere
from d0ctl.store.nodes.standstill import JobStanding
from d0ctl.store.views import browse, file_locations, left_out
from d0ctl.store.views.shapes import JobSummary, LineSummary, StageSummary
from d0ctl.units import count, moment

LEFT_OVER = (Phase.HELD, Phase.COOLOFF, Phase.CANCELED, Phase.DROPPED)
"""Phases of packages that an explanation counts beside its answer."""


def job(
    store: Store, summary: JobSummary, now: float, *, driven: bool | None = None
) -> Explanation:
    """Explain the state of a job; `driven` says whether a process runs it (default: look it up)."""
    part = GroupPart(
        f"job `{summary.name}`", summary.name, summary.counts, summary,
        lambda phases, most: browse.in_phases(store, summary.id, phases, most),
        lambda most: browse.failures(store, summary.id, most),
        partial(_explain_package, store, now), summary.acknowledged,
    )  # fmt: skip
    explanation = _explain(store, part, now, driven)
    if summary.status in (Group.FAILED, Group.CANCELED) or not summary.packages:
        from d0ctl.show.why.phases import task_in_vain  # late: few jobs are of tasks

        task_in_vain.of_job(store, summary, explanation)
    return explanation


def stage(store: Store, of: JobSummary, summary: StageSummary, now: float) -> Explanation:
    """Explain the state of a stage."""
    path = f"{of.name}/{summary.seq}"
    return _explain(
        store,
        GroupPart(
            f"stage `{path}`", path, summary.counts, of,
            lambda phases, most: browse.in_stage(store, summary.id, None, phases, most),
            lambda most: browse.failures(store, of.id, most, summary.id),
            partial(_explain_package, store, now), summary.acknowledged,
        ),
        now,
    )  # fmt: skip


def line(
    store: Store, of: JobSummary, of_stage: StageSummary, summary: LineSummary, now: float
) -> Explanation:
    """Explain the state of a line."""
    path = f"{of.name}/{of_stage.seq}/{summary.seq}"
    part = GroupPart(
        f"line `{path}`{line_name(summary.name)}", path, summary.counts, of,
        lambda phases, most: browse.in_stage(store, of_stage.id, summary.seq, phases, most),
        lambda most: [],
        partial(_explain_package, store, now), summary.acknowledged,
    )  # fmt: skip
    if summary.dropped is not None:
        sentence = f"{part.title} was dropped {moment(summary.dropped, now)}"
        explanation = Explanation(path, summary.status, sentence)
        others = "its successful packages stay successful"
        explanation.facts.append(f"its files are removed from all input lists; {others}")
        from d0ctl.show.why.phases import dropped_line  # late: few lines are dropped

        dropped_line.add_restoring(store, explanation, summary.id, now)
        return explanation
    return _explain(store, part, now)


def _explain(store: Store, part: GroupPart, now: float, driven: bool | None = None) -> Explanation:
    """Explain: obstacles, failures, packages that no node can take, holds, running packages.

    Without a daemon a hold comes first: starting one would not help.
    """
    if part.path == part.job.name:
        status = part.job.status
    else:
        status = roll_up(part.counts, blocked=part.job.blocked)
    explanation = Explanation(part.path, status, "")
    totals = by_status(part.counts)
    is_open = bool(totals["unscheduled"] or totals["scheduled"] or totals["launched"])
    site = standstill.production(store, now=now, driven=driven)
    hold = kept_back(part.job, now) if is_open else None
    if hold and not site.driven:
        _add_hold(part, explanation, hold, totals)
    if is_open and part.job.ended is None:
        _site(site, part, explanation, now)
    if part.counts.get("failed"):
        group_failures.add(store, part, explanation)
    if hold and site.driven:
        _add_hold(part, explanation, hold, totals)
    if (own := _own(site, part)) is not None:
        stopped_job.add(own, part, explanation, now)
    _moving(store, part, explanation, totals, now)
    if not explanation.answer:
        _rest(store, part, explanation, status)
    elif own and not own.work.open and own.standing.cause in SITEWIDE:
        rest = Explanation(part.path, status, "")  # it only waits for other jobs
        _rest(store, part, rest, status)
        explanation.facts.append(rest.answer)
        explanation.take(rest)
    elif part.counts.get(Phase.READY) and (totals["launched"] or (own and own.standing.moves)):
        from d0ctl.show.why.causes import running_limits  # late: many parts have no ready ones

        running_limits.add(store, part, explanation, now)
    if part.job.blocked or any(part.counts.get(phase) for phase in LEFT_OVER):
        from d0ctl.show.why.phases import leftovers  # late: most parts have none

        leftovers.add(store, part, explanation)
    nodes = (view.node for view in site.nodes)
    if is_open and part.counts.get(Phase.WAITING) and may_fit_nowhere(store, part.job.id, nodes):
        from d0ctl.show.why.phases import fits_nowhere  # late: mostly, nodes fit

        fits_nowhere.add(store, part, explanation, now)
    if is_open and _may_lack_makers(store, part):
        from d0ctl.show.why.phases import leftovers  # late: few jobs may

        leftovers.add_ended_maker(part, explanation)
    if totals["launched"]:
        from d0ctl.show.why.phases import launched  # late: others have no stragglers

        launched.add_stragglers(store, part, explanation, now)
        launched.add_failed_transfers(store, part, explanation)
    if is_open and not hold and any(view.node.is_away for view in site.nodes):
        from d0ctl.show.why.causes import untaken  # late: mostly, all nodes take packages

        untaken.add(store, site, part, explanation, now)
    if is_open and part.job.hold:
        group_failures.retry_first(part, explanation)
    if left_out.needs_remarks(store, part.job.id):
        from d0ctl.show.why.phases import successful  # late: few jobs have any

        explanation.facts += successful.remarks(store, part.job, part.path)
    return explanation


def _may_lack_makers(store: Store, part: GroupPart) -> bool:
    """Return whether packages may wait for a canceled package, or one that failed in another job.

    Those of a blocked job say that themselves.
    """
    if part.job.blocked or not part.counts.get(Phase.WAITING):
        return False
    return bool(part.job.counts.get(Phase.CANCELED)) or site.reads_other_jobs(store, part.job.id)


def _own(site: standstill.Production, part: GroupPart) -> JobStanding | None:
    """Return the standing of its job; None if it has ended."""
    return next((job for job in site.jobs if job.id == part.job.id), None)


def _add_hold(
    part: GroupPart, explanation: Explanation, why: tuple[str, str], totals: dict[str, int]
) -> None:
    """Add why none of its packages may start."""
    more = " more" if totals["launched"] > part.counts.get("suspended", 0) else ""
    explanation.add(f"nothing{more} of {part.title} starts: {why[0]}", [why[1]])
    queued = sum(part.counts.get(phase, 0) for phase in ("starting", "staging-in"))
    if queued and not part.job.pause_running:
        explanation.facts.append(f"nodes have {count(queued, 'package')} already that will start")


def _site(
    site: standstill.Production, part: GroupPart, explanation: Explanation, now: float
) -> None:
    """Add what stops all jobs: no daemon, no node, nodes that are down.

    A job of which nothing could start anyway, as the rest is held or blocked, has other reasons,
    and so has one that no node can take.
    """
    own = _own(site, part)
    stops = own is not None and own.standing.cause in SITEWIDE
    if own and not stops and (not own.work.open or own.standing.cause is Cause.IMPOSSIBLE):
        return
    for obstacle in obstacles(site, now):
        is_answer = stops and obstacle.is_cause and not explanation.answer
        text = f"{subject_of_stop(part, own)}{obstacle.text}" if is_answer else obstacle.text
        if is_answer or explanation.answer:
            explanation.add(text, list(obstacle.commands))
        else:
            explanation.facts.append(text)
            explanation.commands += obstacle.commands


def _moving(
    store: Store, part: GroupPart, explanation: Explanation, totals: dict[str, int], now: float
) -> None:
    """Add the launched packages, and those on nodes that do not answer."""
    silent = part.counts.get("unreachable", 0)
    running = totals["launched"] - silent
    if running:
        from d0ctl.show.why.phases import launched as launched_package  # late: few are launched

        rows = part.sample(set(LIVE) - {Phase.UNREACHABLE}, MOST)
        launched = count(running, "package is", "packages are")
        known, stopped = len(explanation.facts), part.counts.get("suspended", 0)
        more = f", {stopped:,} suspended" if 0 < stopped < running else ""
        what = "suspended" if stopped == running else "running"
        queued = part.counts.get("starting", 0)
        is_waiting = explanation.answer and queued and stopped + queued == running
        says_less = what == "running" and kept_back(part.job, now) is not None
        title = "" if is_waiting or says_less else f"{part.title} is {what}: "
        explanation.add(f"{title}{launched} launched{more}", [])
        for row in rows:
            why = f": {remark(row.note)}" if row.phase == Phase.SUSPENDED and row.note else ""
            where = launched_package.state(store, row, row.started, now)
            explanation.facts.append(f"`{row.path}` {where}{why}")
        if running > len(rows) and rows:
            explanation.facts.append(f"and {count(running - len(rows))} more")
        explanation.listed += explanation.facts[known:]
        if stopped:
            stopped_job.add_suspended(store, part.job.name, explanation)
        explanation.commands.append(f"d0ctl status {part.job.name} --watch")
    if silent:
        from d0ctl.show.why.phases.launched import continues_there, give_up  # late: few are there

        all_of_them = give_up(quote(part.in_phase(Phase.UNREACHABLE)), several=True)
        lost = count(silent, "package is", "packages are")
        for row in part.sample([Phase.UNREACHABLE], 1):
            first = part.explain(row.path)
            if silent > 1:
                single = give_up(row.path)
                first.commands = [all_of_them if command == single else command
                                  for command in first.commands]  # fmt: skip
            explanation.add(f"{lost} unreachable: {first.answer}", first.commands)
            explanation.facts.append(continues_there(store, part.job, row, now))


def _rest(store: Store, part: GroupPart, explanation: Explanation, status: Group) -> None:
    """Explain why the remaining packages do not run, if nothing else does."""
    if status in (Group.SUCCESSFUL, Group.CANCELED):
        _ended(store, part, explanation, status)
        return
    has_begun = any(map(part.counts.get, (Phase.DONE, Phase.CANCELED, Phase.COOLOFF, Phase.HELD)))
    problem, most = f"no package of {part.title} is running {'now' if has_begun else 'yet'}", 1
    if status == Group.FAILED:
        problem, most = f"{part.title} can't continue", group_failures.MOST_BLOCKED
    for phases in ((Phase.ASSIGNED,), (Phase.READY,), (Phase.COOLOFF,), (Phase.HELD,),
                   (Phase.WAITING,)):  # fmt: skip
        if rows := part.sample(phases, most):
            first = part.explain(rows[0].path, *(row.id for row in rows[1:]))
            explanation.answer = f"{problem}: {first.answer}"
            stopped_job.leave_known_nodes(first, explanation.facts)
            explanation.take(first)
            explanation.details = first.details
            return
    if not part.job.packages:
        from d0ctl.show.why.phases import task_in_vain  # late: few jobs are of tasks

        task_in_vain.without_packages(store, part, explanation)
        return
    explanation.answer = f"{problem}: it waits for earlier stages"
    explanation.commands.append(f"d0ctl why {part.job.name}")


def _ended(store: Store, part: GroupPart, explanation: Explanation, status: str) -> None:
    done = by_status(part.counts)["successful"]
    packages = count(sum(part.counts.values()), "package")
    explanation.answer = f"{part.title} is {status}: {count(done)} of {packages} done"
    if status == "successful":
        is_whole = part.path == part.job.name
        has_results = is_whole and file_locations.results(store, part.job.id)
        explanation.commands.append(f"d0ctl {'results' if has_results else 'status'} {part.path}")
        if is_whole and (short := left_out.short_packages(store, part.job.id, MOST_READ)):
            from d0ctl.show.why.phases import successful  # late: few jobs lack inputs

            successful.add_lacking(explanation, part.job.name, short)
        return
    if canceled := part.counts.get("canceled"):
        explanation.answer += f", {count(canceled)} canceled"
        explanation.commands.append(retry_canceled(part.path))
    explanation.commands.append(f"d0ctl history {part.path}")


def _explain_package(store: Store, now: float, path: str, *beside: int) -> Explanation:
    """Explain a package. Imported late, because most explanations do not need it."""
    from d0ctl.show.why.package import package

    return package(store, browse.package(store, parse(path)), now, beside)
