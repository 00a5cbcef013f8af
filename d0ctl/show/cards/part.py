"""The card of a job, stage or line: its progress, the reason of its state, failures, packages."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from shlex import quote

from msgspec import Struct, field

from d0ctl.model import Phase, by_status
from d0ctl.schedule.estimates import Range
from d0ctl.schedule.standstill import Cause
from d0ctl.select import brief
from d0ctl.show.cards import jobs
from d0ctl.show.cards.jobs import limits, settings_of
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.explanation import explain
from d0ctl.show.forecast import estimates
from d0ctl.show.lists import failures, packages, with_bars
from d0ctl.show.why.common import Explanation, shortfalls
from d0ctl.store.views.activity import NO_PROGRESS, RunningProgress, StageRate
from d0ctl.store.views.left_out import DroppedLines, Shortfall
from d0ctl.store.views.shapes import (
    ActionView,
    FailureView,
    JobSettings,
    JobSummary,
    LineSummary,
    PackageRow,
    StageSummary,
)
from d0ctl.units import count, listed, moment

BAR = 60
"""How many columns the bar of the card takes at most."""

MOST_ACTIONS = 10
"""How many actions of people are listed, the latest first."""

MOST_STAGES = 40
"""How many stages are shown."""

MOST_NODES = 8
"""How many nodes are named beside the running packages."""


class Part(Struct, frozen=True):
    """Everything on the card, read at one moment."""

    path: str
    job: JobSummary
    row: JobSummary | StageSummary | LineSummary
    why: Explanation
    cause: Cause | None = None
    task: str = ""
    """The status of its task, if that has ended or is broken."""
    live: list[PackageRow] = field(default_factory=list)
    packages: list[PackageRow] = field(default_factory=list)
    kept_back: list[PackageRow] = field(default_factory=list)
    unhold: str = "release"
    no_input: str = ""
    failed: list[FailureView] = field(default_factory=list)
    stages: list[StageSummary] = field(default_factory=list)
    lines: list[LineSummary] = field(default_factory=list)
    where: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    short: list[Shortfall] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    actions: list[ActionView] = field(default_factory=list)
    dropped: DroppedLines = DroppedLines(0, 0)
    after: list[str] = field(default_factory=list)
    progress: RunningProgress = NO_PROGRESS
    settings: JobSettings | None = None
    estimate: Range | None = None
    stuck: int = 0
    """How many packages of a job the estimate leaves out: they wait for a person."""
    nodes_down: Sequence[str] = ()
    """The nodes that are down and have files that a job waits for."""
    is_late: bool = False
    """Whether it waits for stragglers, so that its end is unknown."""
    late: Collection[int] = ()
    """The ids of stragglers of its job."""
    slow: Mapping[int, int] = field(default_factory=dict)
    """How many stragglers its stages or lines have, by the ids of these."""
    stage_progress: Mapping[int, RunningProgress] = field(default_factory=dict)
    rates: Mapping[int, StageRate] = field(default_factory=dict)
    """How fast the packages of stages end, by the ids of the stages."""

    @property
    def held_back(self) -> str:
        """How a person keeps its job from continuing."""
        return "held" if self.job.hold else "paused" if self.job.pause else ""

    def selector(self, states: str) -> str:
        """Return a selector of its packages in some states."""
        return f"{self.path}{'' if isinstance(self.row, JobSummary) else '/*'}:{states}"


def draw(
    sheet: Sheet, part: Part, now: float, above: Iterable[str] = (), *, at_end: bool = False
) -> None:
    """Draw the card, without the sentences and commands that are `above` it.

    At the end of `run`, the reason and what to type come last, where a person reads first.
    """
    _head(sheet, part, now)
    _bar(sheet, part, now)
    if not at_end:
        _why(sheet, part, above, stderr=not part.failed)
    if not at_end or len(part.stages) > 1:
        _stages(sheet, part)
    _lines(sheet, part)
    if not at_end or len(part.failed) > 1:
        _failed(sheet, part, now)
    _packages(sheet, part, now)
    if part.problems:
        sheet.head("files that can't be transferred")
        for problem in part.problems:
            sheet.say(problem, "warn", indent="- ")
    if at_end:
        _why(sheet, part, above, stderr=len(part.failed) < 2)
    else:
        _actions(sheet, part, now)


def _why(sheet: Sheet, part: Part, above: Iterable[str], *, stderr: bool) -> None:
    said = [*above, *shortfalls(part.job.name, part.short)]
    said += part.why.listed if part.live or part.packages else []
    explain(sheet, part.why, stderr=stderr, said=said)


def _head(sheet: Sheet, part: Part, now: float) -> None:
    job, row = part.job, part.row
    sheet.add((part.path, "strong"), f"  {job.title if isinstance(row, JobSummary) else row.name}")
    done, total = by_status(row.counts)["successful"], sum(row.counts.values())
    state = jobs.state(job, part.cause) if row is job else status_of(row, part.held_back)
    state = part.task or state
    facts = [f"{count(done)} of {count(total, 'package')} done"]
    facts += [count(row.lines, "line")] if isinstance(row, StageSummary) else []
    facts += _dropped(part.dropped)
    if isinstance(row, JobSummary):
        facts.append(jobs.age(job, now))
    end = estimates.end_without(part.estimate, part.stuck, now) or estimates.waits(part.nodes_down)
    end = end or estimates.LATE * part.is_late
    facts += [end] if end and part.cause is None else []
    sheet.flow(signs.mark(state, sheet.glyphs), facts)
    if isinstance(row, JobSummary):
        text = f"submitted {moment(job.submitted, now)} for {job.originator}"
        text += f", ended {moment(job.ended, now)}" if job.ended is not None else ""
        text += f"; priority {job.priority}"
        sheet.say("; ".join([text, *limits(row)]), "faint")
        if part.settings and (settings := settings_of(part.settings)):
            sheet.say("; ".join(settings), "faint")
    elif isinstance(row, StageSummary) and (facts := [*_order(part, row), *limits(row)]):
        sheet.add(("; ".join(facts), "faint"))
    if isinstance(row, LineSummary) and row.dropped is not None:
        sheet.add((f"dropped {moment(row.dropped, now)}", "warn"))
    jobs.kept_back(sheet, job, now)
    if row.acknowledged:
        sheet.say(f"{count(row.acknowledged, 'failure')} acknowledged", "faint")
    for text in shortfalls(row.name, part.short):
        sheet.say(text)
    for sentence in part.excluded:
        sheet.say(sentence, "warn")


def _dropped(dropped: DroppedLines) -> list[str]:
    """Say how many lines were dropped; those that `update` removed lack nothing."""
    texts = [(dropped.lacking, "dropped"), (dropped.removed, "removed by `update`")]
    return [f"{count(number, 'line')} {text}" for number, text in texts if number]


def _order(part: Part, row: StageSummary) -> list[str]:
    """Say which stages come before a stage."""
    conditions = ["final: after all other stages, whether they succeed or not"] if row.final else []
    if part.after:
        conditions.append(f"after {listed(f'`{name}`' for name in part.after)}")
    return conditions


def _bar(sheet: Sheet, part: Part, now: float) -> None:
    counts, percents = part.row.counts, part.progress.percents
    columns = min(BAR, sheet.columns - 2)
    sheet.add(signs.bar(counts, columns, sheet.glyphs, percents / 100))
    if percents:
        sheet.add(f"{signs.percent(counts, percents / 100)} % including running packages")
    if text := signs.tally_text(counts, blocked=part.row.blocked):
        sheet.add([*text, *jobs.late(sum(part.slow.values()))])
    if isinstance(part.row, StageSummary) and (stage_rate := part.rates.get(part.row.id)):
        is_unknown = part.estimate is None and part.cause is None and not part.held_back
        sheet.say(estimates.pace(stage_rate, counts, now, with_end=is_unknown and not part.is_late))


def status_of(row: JobSummary | StageSummary | LineSummary, held_back: str) -> str:
    """Return the word for a job, stage or line; `held_back` says how its job is kept back."""
    if isinstance(row, LineSummary) and row.dropped is not None:
        return "dropped"
    if held_back and row.status == "submitted":
        return held_back
    return jobs.word(row.status, row.counts)


def _stages(sheet: Sheet, part: Part) -> None:
    if not part.stages:
        return
    sheet.head("stages")
    rows: list[list[Cell]] = [
        [
            (str(stage.seq), "strong"), stage.name, *_progress(sheet, stage, part.held_back),
            (f"{_percent(stage, part.stage_progress)} %", "faint"),
            (", ".join([count(stage.lines, "line"), *["final"] * stage.final, *limits(stage)]),
             "faint"),
            (estimates.rate(part.rates.get(stage.id) if sheet.columns > 100 else None), "faint"),
            jobs.tally(stage, part.slow.get(stage.id, 0)),
        ]
        for stage in part.stages[:MOST_STAGES]
    ]  # fmt: skip
    with_bars(sheet, rows, part.stages)


def _percent(stage: StageSummary, progress: Mapping[int, RunningProgress]) -> int:
    return signs.percent(stage.counts, progress.get(stage.id, NO_PROGRESS).percents / 100)


def _progress(sheet: Sheet, row: StageSummary | LineSummary, held_back: str) -> list[Cell]:
    """Return the state and the numbers of a stage or line."""
    done, total = by_status(row.counts)["successful"], sum(row.counts.values())
    mark = signs.mark(status_of(row, held_back), sheet.glyphs)
    return [mark, f"{count(done)}/{count(total)}"]


def _lines(sheet: Sheet, part: Part) -> None:
    if not part.lines or not isinstance(part.row, StageSummary):
        return
    sheet.head("lines")
    rows: list[list[Cell]] = [
        [
            (str(line.seq), "strong"), "" if line.name == str(line.seq) else line.name,
            *_progress(sheet, line, part.held_back),
            jobs.tally(line, part.slow.get(line.id, 0)),
        ]
        for line in part.lines
    ]  # fmt: skip
    with_bars(sheet, rows, part.lines)
    shown = len(part.lines)
    if part.row.lines > shown:
        more = f"d0ctl status {part.path}/{shown + 1}-{part.row.lines}"
        sheet.add((f"  and {count(part.row.lines - shown)} more: {more}", "faint"))


def _failed(sheet: Sheet, part: Part, now: float) -> None:
    if not part.failed:
        return
    sheet.head("failed last")
    failures(sheet, part.failed, now)
    _more(sheet, part.row.counts.get("failed", 0) - len(part.failed), f"d0ctl history {part.path}")


def _packages(sheet: Sheet, part: Part, now: float) -> None:
    """Add running packages, those that are kept back, and all packages of a line."""
    counts = part.row.counts
    launched = by_status(counts)["launched"]
    if part.live:
        where = listed(f"{count(n)} on {node}" for node, n in [*part.where.items()][:MOST_NODES])
        answers = launched > counts.get(Phase.UNREACHABLE, 0)
        running = "running or queued" if counts.get(Phase.STARTING) else "running"
        sheet.head(running if answers else "unreachable", where if answers else "")
        packages(sheet, part.live, now, late=part.late)
        _more(sheet, launched - len(part.live), f"d0ctl status '{part.selector('launched')}'")
    if part.kept_back:
        sheet.head("held or cooling off")
        packages(sheet, part.kept_back, now)
        aside = counts.get(Phase.HELD, 0) + counts.get(Phase.COOLOFF, 0) - len(part.kept_back)
        _more(sheet, aside, f"d0ctl status '{part.selector('held,cooloff')}'")
        verb, phase = (part.unhold, "held") if counts.get(Phase.HELD) else ("retry", "cooloff")
        sheet.commands([f"d0ctl {verb} {quote(part.selector(phase))}"])  # as `why` has it
    if part.packages:
        sheet.head("packages")
        packages(sheet, part.packages, now, no_input=lambda row: part.no_input, late=part.late)
        _more(sheet, sum(counts.values()) - len(part.packages), f"d0ctl status '{part.path}/*'")


def _more(sheet: Sheet, number: int, command: str) -> None:
    if number > 0:
        sheet.add((f"  and {count(number)} more: {command}", "faint"))


def _actions(sheet: Sheet, part: Part, now: float) -> None:
    if not part.actions:
        return
    sheet.head("actions of people")
    sheet.table([
        [
            (moment(action.at, now), "faint"), action.actor, action.verb,
            (brief(action.target), "strong"), (remark(action.note), "faint"),
        ]
        for action in part.actions[:MOST_ACTIONS]
    ])  # fmt: skip
    if len(part.actions) > MOST_ACTIONS:
        sheet.add((f"  earlier ones: d0ctl history {part.path}", "faint"))
