"""Why a line, stage or job is in its state, by its most significant packages."""

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from d0ctl.model import LIVE, Counts, Group, Phase, by_status, roll_up
from d0ctl.select import parse
from d0ctl.show.why import stragglers
from d0ctl.show.why.common import MOST, Explanation, blocked, for_time, kept_back, line_name
from d0ctl.show.why.production import job_obstacles, obstacles
from d0ctl.store.connection import Store
from d0ctl.store.nodes import standstill
from d0ctl.store.views import activity, browse
from d0ctl.store.views.shapes import (
    FailureView,
    JobSummary,
    LineSummary,
    PackageRow,
    StageSummary,
)
from d0ctl.units import count, listed, moment

MOST_LATE = 1_000
"""How many stragglers are counted."""

SAMPLE = 200
"""How many of the latest failures are counted by reason."""


class _Part(Struct, frozen=True):
    """A job or a part of it: its title, its counts, and how to find packages in it."""

    title: str
    path: str
    counts: Counts
    job: JobSummary
    sample: Callable[[Iterable[Phase], int], list[PackageRow]]
    failures: Callable[[int], list[FailureView]]

    @property
    def failed(self) -> str:
        """A selector of its failed packages."""
        return f"{self.path}:failed" if self.path == self.job.name else f"{self.path}/*:failed"


def job(store: Store, one: JobSummary, now: float, *, driven: bool | None = None) -> Explanation:
    """Explain the state of a job; a process that drives it itself says so."""
    return _explain(
        store,
        _Part(
            f"job `{one.name}`", one.name, one.counts, one,
            lambda phases, most: browse.in_phases(store, one.id, phases, most),
            lambda most: browse.failures(store, one.id, most),
        ),
        now,
        driven,
    )  # fmt: skip


def stage(store: Store, of: JobSummary, one: StageSummary, now: float) -> Explanation:
    """Explain the state of a stage."""
    path = f"{of.name}/{one.seq}"
    return _explain(
        store,
        _Part(
            f"stage `{path}`", path, one.counts, of,
            lambda phases, most: browse.in_stage(store, one.id, None, phases, most),
            lambda most: browse.failures(store, of.id, most, one.id),
        ),
        now,
    )  # fmt: skip


def line(
    store: Store, of: JobSummary, of_stage: StageSummary, one: LineSummary, now: float
) -> Explanation:
    """Explain the state of a line."""
    path = f"{of.name}/{of_stage.seq}/{one.seq}"
    part = _Part(
        f"line `{path}`{line_name(one.name)}", path, one.counts, of,
        lambda phases, most: browse.in_stage(store, of_stage.id, one.seq, phases, most),
        lambda most: [],
    )  # fmt: skip
    if one.dropped is not None:
        explanation = Explanation(
            path, one.status, f"{part.title} was dropped {moment(one.dropped, now)}"
        )
        explanation.facts.append(
            "its files are removed from all input lists; its successful packages stay successful"
        )
        if one.named:
            explanation.commands.append(f"d0ctl restore-line {path}")
        else:
            explanation.facts.append(
                "an input that it needs was dropped; it is restored with the line that makes it"
            )
            explanation.commands.append(f"d0ctl history {of.name}")
        return explanation
    return _explain(store, part, now)


def _explain(store: Store, part: _Part, now: float, driven: bool | None = None) -> Explanation:
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
    kept = kept_back(part.job, now) if is_open else None
    if kept and not site.driven:
        _kept(part, explanation, kept, totals)
    if is_open and part.job.ended is None:
        _site(site, part, explanation, now)
    if part.counts.get("failed"):
        _failed(store, part, explanation, now)
    if unfit := job_obstacles(site).get(part.job.name):
        _add(explanation, unfit.text, _edits(store, part, now))
    if kept and site.driven:
        _kept(part, explanation, kept, totals)
    _moving(store, part, explanation, totals, now)
    if not explanation.answer:
        _rest(store, part, explanation, status, now)
    _leftovers(part, explanation)
    if totals["launched"] and part.path == part.job.name:
        late = activity.stragglers(store, part.job.id, MOST_LATE, now=now)
        explanation.facts += stragglers.lines(late, now)
        explanation.commands += [f"d0ctl why {late[0].path}"] if late else []
    if is_open and part.job.hold:
        _retry_first(part, explanation)
    return explanation


def _edits(store: Store, part: _Part, now: float) -> list[str]:
    """Return a command that lets the first package start that no node can take, if any."""
    for row in part.sample([Phase.READY], MOST):
        for text in _explain_package(store, row.path, now).commands:
            if text.startswith("d0ctl edit "):
                return [text]
    return []


def _kept(
    part: _Part, explanation: Explanation, why: tuple[str, str], totals: dict[str, int]
) -> None:
    """Add why none of its packages may start."""
    moving = totals["launched"] - part.counts.get("suspended", 0)
    more = " more" if moving else ""
    _add(explanation, f"nothing{more} of {part.title} starts: {why[0]}", [why[1]])


def _retry_first(part: _Part, explanation: Explanation) -> None:
    """Suggest a retry before the release of a job that is held for its failures.

    A retry releases it, too, and begins with the failed packages; a release alone runs the rest.
    """
    from d0ctl.store.attempts import alike_failures  # most jobs are not held

    if part.job.hold_actor != alike_failures.ACTOR:
        return
    retries = [text for text in explanation.commands if text.startswith("d0ctl retry ")]
    if not retries:
        from d0ctl.show.why.advice import is_deterministic

        reasons = dict.fromkeys(failure.reason for failure in part.failures(SAMPLE))
        retries = [f"d0ctl retry '{part.failed}' --failed-for {reason}"
                   for reason in reasons if is_deterministic(reason, 127)]  # fmt: skip
    others = [text for text in explanation.commands if text not in retries]
    explanation.commands[:] = retries + others


def _add(explanation: Explanation, text: str, commands: list[str]) -> None:
    """Add a text: the first is the answer, each later one a fact."""
    if explanation.answer:
        explanation.facts.append(text)
    else:
        explanation.answer = text
    explanation.commands += commands


def _site(site: standstill.Production, part: _Part, explanation: Explanation, now: float) -> None:
    """Add what stops all jobs: no daemon, no node, nodes that are down."""
    standing = next((job.standing for job in site.jobs if job.id == part.job.id), None)
    stops = standing is not None and standing.stands_still
    for one in obstacles(site, now):
        text = (
            f"{part.title} stands still: {one.text}"
            if stops and not explanation.answer
            else one.text
        )
        if stops or explanation.answer:
            _add(explanation, text, list(one.commands))
        else:
            explanation.facts.append(text)
            explanation.commands += one.commands


def _failed(store: Store, part: _Part, explanation: Explanation, now: float) -> None:
    total = part.counts.get("failed", 0)
    latest = [(failure.path, failure.reason) for failure in part.failures(SAMPLE)]
    if not latest:
        latest = [(one.path, one.reason) for one in part.sample([Phase.FAILED], MOST)]
    if not latest:
        _add(explanation, f"{part.title} has {count(total, 'failed package')}", [])
        return
    last = _explain_package(store, latest[0][0], now)
    status = roll_up(part.counts, blocked=part.job.blocked)
    verb = "failed" if status == Group.FAILED else "has failures"
    _add(
        explanation,
        f"{part.title} {verb}: {count(total, 'package')} failed, the last {_after(last)}",
        [],
    )
    explanation.stderr = last.stderr
    if len(latest) == 1:
        explanation.facts += last.facts
        explanation.commands += last.commands
    else:
        _by_reason(store, part, explanation, latest, total)
        explanation.commands += [f"d0ctl why {latest[0][0]}", f"d0ctl history {part.path}"]


def _by_reason(
    store: Store,
    part: _Part,
    explanation: Explanation,
    latest: list[tuple[str, str | None]],
    total: int,
) -> None:
    """Add the failures by reason, and one retry command for each reason."""
    reasons = Counter(reason or "unknown" for _, reason in latest)
    at_least = "at least " if total > len(latest) else ""
    parts = [f"{number:,} for {reason}" for reason, number in reasons.most_common()]
    explanation.facts.append(f"failed: {at_least}{listed(parts)}")
    for reason, _ in reasons.most_common(MOST):
        paths = [path for path, why in latest if why == reason][:MOST]
        if not paths:
            continue
        from d0ctl.show.why.advice import for_alike  # most parts have no such failures

        found = for_alike(store, part.failed, paths, reason)
        explanation.facts += [f"for {reason}: {fact}" for fact in found.facts]
        if found.options is not None:
            explanation.commands.append(f"d0ctl retry{found.options}")


def _after(last: Explanation) -> str:
    return f"`{last.path}`" + last.answer.partition(" failed")[2]


def _moving(
    store: Store, part: _Part, explanation: Explanation, totals: dict[str, int], now: float
) -> None:
    """Add the launched packages, and those on nodes that do not answer."""
    silent = part.counts.get("unreachable", 0)
    running = totals["launched"] - silent
    if running:
        rows = part.sample(set(LIVE) - {Phase.UNREACHABLE}, MOST)
        launched = count(running, "package is", "packages are")
        _add(explanation, f"{part.title} is running: {launched} launched", [])
        for row in rows:
            explanation.facts.append(
                f"`{row.path}` {for_time(row.phase, row.node, row.started, now)}"
            )
        if running > len(rows) and rows:
            explanation.facts.append(f"and {count(running - len(rows))} more")
        explanation.commands.append(f"d0ctl status {part.job.name} --watch")
    if silent:
        lost = count(silent, "package is", "packages are")
        for row in part.sample([Phase.UNREACHABLE], 1):
            first = _explain_package(store, row.path, now)
            _add(explanation, f"{lost} unreachable: {first.answer}", first.commands)


def _rest(store: Store, part: _Part, explanation: Explanation, status: Group, now: float) -> None:
    """Explain why the remaining packages do not run, if nothing else does."""
    if status in (Group.SUCCESSFUL, Group.CANCELED):
        _ended(store, part, explanation, status)
        return
    has_run = any(part.counts.get(phase) for phase in ("done", "canceled", "cooloff"))
    words = (f"no package of {part.title} is running now" if has_run
             else f"no package of {part.title} is running yet")  # fmt: skip
    if status == Group.FAILED:
        words = f"{part.title} can't continue"
    for phases in ((Phase.ASSIGNED,), (Phase.READY,), (Phase.COOLOFF,), (Phase.HELD,),
                   (Phase.WAITING,)):  # fmt: skip
        for row in part.sample(phases, 1):
            first = _explain_package(store, row.path, now)
            explanation.answer = f"{words}: {first.answer}"
            explanation.facts += first.facts
            explanation.commands += first.commands
            explanation.details = first.details
            return
    explanation.answer = f"{words}: it waits for earlier stages"
    explanation.commands.append(f"d0ctl why {part.job.name}")


def _ended(store: Store, part: _Part, explanation: Explanation, status: str) -> None:
    done = by_status(part.counts)["successful"]
    packages = count(sum(part.counts.values()), "package")
    explanation.answer = f"{part.title} is {status}: {count(done)} of {packages} done"
    if status == "successful":
        explanation.commands.append(f"d0ctl status {part.path}")
        return
    if canceled := part.counts.get("canceled"):
        explanation.answer += f", {count(canceled)} canceled"
        for row in part.sample([Phase.CANCELED], 1):
            last = browse.package(store, parse(row.path))
            if last.actor:
                explanation.facts.append(f"`{row.path}` was canceled by {last.actor}: {last.note}")
        explanation.commands.append(f"d0ctl retry '{part.path}:canceled'")
    explanation.commands.append(f"d0ctl history {part.path}")


def _leftovers(part: _Part, explanation: Explanation) -> None:
    """Add how many packages are held, cooling off, blocked or dropped."""
    counts = part.counts
    for phase, words in (("held", "held"), ("cooloff", "cooling off")):
        if counts.get(phase):
            explanation.facts.append(
                f"{count(counts[phase], 'package is', 'packages are')} {words}"
            )
    if part.job.blocked and counts.get("waiting"):
        explanation.facts.append(blocked(counts["waiting"]))
    if counts.get("dropped"):
        explanation.facts.append(
            f"{count(counts['dropped'], 'package is', 'packages are')} dropped"
        )


def _explain_package(store: Store, path: str, now: float) -> Explanation:
    """Explain a package; imported late, as most parts are explained without."""
    from d0ctl.show.why.package import package

    return package(store, browse.package(store, parse(path)), now)
