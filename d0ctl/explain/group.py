"""Why a line, stage or job is as it is, by the packages in it that tell most."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from d0ctl.explain.common import MOST, Explanation, blocked, kept_back, line_name
from d0ctl.explain.package import package as explain_package
from d0ctl.format import count, duration, listed, moment
from d0ctl.model import STATUS_OF, Counts, Phase, Status, by_status, roll_up
from d0ctl.select import parse
from d0ctl.store.connection import Store
from d0ctl.store.look import browse
from d0ctl.store.look.views import FailureView, JobSummary, LineSummary, PackageRow, StageSummary
from d0ctl.store.standstill import any_driver

LIVE = tuple(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)


@dataclass(frozen=True, slots=True)
class _Part:
    """A job or a part of it: its words, its counts, and how to find packages in it."""

    words: str
    path: str
    counts: Counts
    job: JobSummary
    sample: Callable[[Iterable[Phase], int], list[PackageRow]]
    failures: Callable[[int], list[FailureView]]


def job(store: Store, one: JobSummary, now: float) -> Explanation:
    """Why a job is as it is."""
    return _explain(
        store,
        _Part(
            f"job `{one.name}`", one.name, one.counts, one,
            lambda phases, most: browse.in_phases(store, one.id, phases, most),
            lambda most: browse.failures(store, one.id, most),
        ),
        now,
    )  # fmt: skip


def stage(store: Store, of: JobSummary, one: StageSummary, now: float) -> Explanation:
    """Why a stage is as it is."""
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
    """Why a line is as it is."""
    path = f"{of.name}/{of_stage.seq}/{one.seq}"
    part = _Part(
        f"line `{path}`{line_name(one.name)}", path, one.counts, of,
        lambda phases, most: browse.in_stage(store, of_stage.id, one.seq, phases, most),
        lambda most: [],
    )  # fmt: skip
    if one.dropped is not None:
        told = Explanation(path, one.status, f"{part.words} was dropped {moment(one.dropped, now)}")
        told.facts.append("its files are in no input list any more; what had succeeded stays so")
        if one.named:
            told.commands.append(f"d0ctl restore-line {path}")
        else:
            told.facts.append("it lacks what it needs, and comes back with the line that makes it")
            told.commands.append(f"d0ctl history {of.name}")
        return told
    return _explain(store, part, now)


def _explain(store: Store, part: _Part, now: float) -> Explanation:
    status = roll_up(part.counts, blocked=part.job.blocked)
    told = Explanation(part.path, status, "")
    totals = by_status(part.counts)
    if totals["launched"]:
        _running(store, part, told, totals["launched"], now)
    elif (why := kept_back(part.job, now)) and (totals["unscheduled"] or totals["scheduled"]):
        told.answer = f"nothing of {part.words} starts: {why[0]}"
        told.commands.append(why[1])
    elif status == "submitted":
        _submitted(store, part, told, now)
    elif status == "failed":
        _failed(store, part, told, now)
    else:
        _ended(store, part, told, status)
    _leftovers(part, told)
    return told


def _running(store: Store, part: _Part, told: Explanation, launched: int, now: float) -> None:
    rows = part.sample(LIVE, MOST)
    told.answer = (
        f"{part.words} is running: {count(launched, 'package is', 'packages are')} launched"
    )
    for row in rows:
        age = f" for {duration(now - row.started)}" if row.started is not None else ""
        told.facts.append(f"`{row.path}` is {row.phase} on `{row.node}`{age}")
    if launched > len(rows) and rows:
        told.facts.append(f"and {count(launched - len(rows))} more")
    if not any_driver(store):
        told.facts.append("no daemon is running, so nothing more starts and no news is taken")
        told.commands.append("d0ctl daemon start")
    told.commands.append(f"d0ctl status {part.job.name} --watch")


def _submitted(store: Store, part: _Part, told: Explanation, now: float) -> None:
    """Nothing of it runs, but something could: why does it not?"""
    for phases in ((Phase.ASSIGNED,), (Phase.READY,), (Phase.COOLOFF,), (Phase.HELD,),
                   (Phase.WAITING,)):  # fmt: skip
        for row in part.sample(phases, 1):
            first = explain_package(store, browse.package(store, parse(row.path)), now)
            told.answer = f"nothing of {part.words} runs yet: {first.answer}"
            told.facts, told.commands = first.facts, first.commands
            told.details = first.details
            return
    told.answer = f"nothing of {part.words} runs yet: it waits for earlier stages"
    told.commands.append(f"d0ctl why {part.job.name}")


def _failed(store: Store, part: _Part, told: Explanation, now: float) -> None:
    failed = part.counts.get("failed", 0)
    latest = part.failures(MOST)
    rows = [one.path for one in latest] or [row.path for row in part.sample([Phase.FAILED], MOST)]
    if not rows:
        for row in part.sample([Phase.WAITING], 1):
            first = explain_package(store, browse.package(store, parse(row.path)), now)
            told.answer = f"{part.words} can't go on: {first.answer}"
            told.facts, told.commands = first.facts, first.commands
            return
        told.answer = f"{part.words} can't go on: its inputs will never be produced"
        return
    last = explain_package(store, browse.package(store, parse(rows[0])), now)
    told.answer = f"{part.words} failed: {count(failed, 'package')} failed, the last {_after(last)}"
    told.stderr, told.commands = last.stderr, last.commands
    told.facts += last.facts[:1]
    if len(rows) > 1:
        more = f" and {count(failed - len(rows))} more" if failed > len(rows) else ""
        told.facts.append(f"failed: {listed(f'`{path}`' for path in rows)}{more}")


def _after(last: Explanation) -> str:
    return f"`{last.path}`" + last.answer.partition(" failed")[2]


def _ended(store: Store, part: _Part, told: Explanation, status: str) -> None:
    done = by_status(part.counts)["successful"]
    packages = count(sum(part.counts.values()), "package")
    told.answer = f"{part.words} is {status}: {count(done)} of {packages} done"
    if status == "successful":
        told.commands.append(f"d0ctl status {part.path}")
        return
    if canceled := part.counts.get("canceled"):
        told.answer += f", {count(canceled)} canceled"
        for row in part.sample([Phase.CANCELED], 1):
            last = browse.package(store, parse(row.path))
            if last.actor:
                told.facts.append(f"`{row.path}` was canceled by {last.actor}: {last.note}")
        told.commands.append(f"d0ctl retry '{part.path}:canceled'")
    told.commands.append(f"d0ctl history {part.path}")


def _leftovers(part: _Part, told: Explanation) -> None:
    """Other things that a person may want to know of."""
    counts = part.counts
    for phase, words in (("held", "held"), ("cooloff", "cooling off")):
        if counts.get(phase):
            told.facts.append(f"{count(counts[phase], 'package is', 'packages are')} {words}")
    if part.job.blocked and counts.get("waiting"):
        told.facts.append(blocked(counts["waiting"]))
    if counts.get("dropped"):
        told.facts.append(f"{count(counts['dropped'], 'package is', 'packages are')} dropped")
