"""retry: run failed packages again, if possible, on request with other resources."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from msgspec.structs import replace as select_state

from d0ctl.actions import undo, wording
from d0ctl.actions.action import (
    MOST_SHOWN,
    Action,
    Author,
    Conflict,
    NeedsOption,
    Plan,
    Request,
    Way,
)
from d0ctl.actions.new_parameters import scripts_of
from d0ctl.actions.new_requests import NewRequests, away
from d0ctl.actions.option import ValueType, flag, pairs, typed, values, write_pairs
from d0ctl.actions.retryable import (
    AT_A_LIMIT,
    dropped_readers,
    keep_retryable,
    left_behind,
    not_retryable,
    restoring,
    selects,
    waits_for,
    without_node,
)
from d0ctl.actions.selection import jobs_of, nothing_for, rows
from d0ctl.errors import Refused
from d0ctl.model import Phase
from d0ctl.select import Selector, quoted
from d0ctl.store import lifecycle
from d0ctl.store.attempts import alike_failures, black_holes
from d0ctl.store.attempts.alike_failures import StoppedJob
from d0ctl.store.connection import Selection, Store
from d0ctl.store.files import earlier_readers, edited_files, mixed_inputs
from d0ctl.store.files.earlier_readers import EarlierReaders
from d0ctl.store.files.edited_files import OutdatedCopy
from d0ctl.store.jobs import retry, scripts
from d0ctl.store.jobs.correction.texts import is_changed_on_disk
from d0ctl.store.jobs.retry import Makers
from d0ctl.store.jobs.scripts import Script
from d0ctl.store.views import left_out, selection
from d0ctl.units import count, listed


@dataclass(frozen=True, slots=True)
class RetryOptions(NewRequests):
    """Changed requests and parameters of the packages, and whether they begin again."""

    parameters: Mapping[str, str] = values(
        "--set", "KEY=VALUE", "Parameter of the job to change; may be repeated.", none=dict,
        type=ValueType(pairs, write_pairs), log=write_pairs,
    )  # fmt: skip
    from_scratch: bool = flag("--from-scratch", "Discard the files that earlier attempts kept.")
    scripts: tuple[Script, ...] = ()
    """What the packages run with other parameters; `prepare` finds out."""
    own: frozenset[int] = frozenset()
    """The packages that run with these parameters what the job itself says; likewise."""
    warnings: tuple[str, ...] = ()
    """What may be wrong with these parameters; `prepare` finds out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPlan(Plan):
    """What a retry would do."""

    refused: Mapping[str, int]
    """How many packages are left alone because another try can't succeed, by reason."""
    stopped: Sequence[StoppedJob]
    """The jobs that are held or paused; those that d0ctl holds for their failures go on."""
    resumed: Sequence[str]
    """The nodes that d0ctl drained for failures in the jobs, and that take packages again."""
    killing: Sequence[tuple[str, int]]
    """How many packages of these jobs are still being killed, if canceled ones are retried."""
    outdated: Sequence[OutdatedCopy]
    """The copies of files from outside that were changed since."""
    sources: Sequence[str]
    """These files, and those that were changed since packages read them in their place."""
    makers: Makers
    """Packages that run again, too, because their outputs were removed."""
    edited: Sequence[str]
    """The jobs whose job files were changed since."""

    ended_before: Sequence[tuple[str, str]]
    """Failed and canceled packages that these wait for: their paths and phases."""
    dropped_readers: str
    mixed: Sequence[tuple[str, EarlierReaders]]
    """Jobs and their changed files, with how many packages have succeeded with earlier contents."""
    away: tuple[str, ...]
    """What is said of named nodes that take no packages now, and of those of earlier attempts."""


def prepare(store: Store, request: Request[RetryOptions], now: float) -> Request[RetryOptions]:
    """With other parameters, read the job file again and find out what the packages would run."""
    options = request.options
    if not options.parameters:
        return request
    with store.reading():
        selected = selection.choose(store, request.target, now=now)
        selected = keep_retryable(selected, request.target, now)
        if not selected.count():
            return request
        found = scripts_of(selected, request.target, options.parameters)
        return replace(request, options=replace(options, **found._asdict()))


def plan_retry(store: Store, request: Request[RetryOptions], now: float) -> RetryPlan:
    """Plan for the failed packages, without those that would fail again."""
    for node in request.options.named_nodes:
        selection.check_node(store, node)
    selected = selection.choose(store, request.target, now=now)
    all_phases = lifecycle.phases(selected)
    selected = keep_retryable(selected, request.target, now)
    phases = lifecycle.phases(selected)
    if not phases:
        selected = selection.choose(store, request.target, now=now)
        raise _nothing(selected, request, all_phases)
    unchanged = {phase: left for phase, n in all_phases.items()
                 if (left := n - phases.get(phase, 0))}  # fmt: skip
    options = request.options
    unfit = without_node(selected, options.requirement, now)
    jobs = jobs_of(store, request.target)[: wording.MOST_NAMED]
    ids = [job.id for job in jobs]
    limits = (options.memory, options.wall_time)
    reasons = not_retryable(selected, *limits, ids, options.scripts) | unfit
    retry.leave_out(selected, reasons)
    phases = lifecycle.phases(selected)
    refused = Counter(reasons.values())
    if not phases:
        raise _all_refused(request.target, refused, are_unfit=len(unfit) == len(reasons))
    killing = [(job.name, n) for job in jobs if (n := job.counts.get(Phase.KILLING))]
    return RetryPlan(
        request=request,
        selected=selected,
        phases=phases,
        packages=sum(phases.values()),
        unchanged=unchanged,
        changes=tuple(rows(selected)[:MOST_SHOWN]),
        refused=dict(refused),
        killing=killing if selects(request.target, Phase.CANCELED) else (),
        stopped=alike_failures.stopped_jobs(selected),
        resumed=[row["node"] for row in black_holes.drained_for(selected)],
        outdated=(outdated := edited_files.outdated_copies(selected)),
        sources=edited_files.changed_sources(selected, outdated),
        makers=retry.makers_of_removed(selected),
        ended_before=retry.ended_before(selected, MOST_SHOWN),
        dropped_readers=dropped_readers(selected),
        edited=[job.name for job in jobs if is_changed_on_disk(store, job.id)],
        mixed=[found for job in jobs
               for found in edited_files.done_with_earlier(store, job.id).items()],
        away=(*away(store, options.named_nodes), *left_behind(selected)),
    )  # fmt: skip


def _nothing(
    selected: Selection, request: Request[RetryOptions], unchanged: dict[str, int]
) -> Conflict:
    target, options = request.target, replace(request.options, parameters={}, from_scratch=False)
    refusal = nothing_for(selected, target, unchanged, "retried")
    is_dropped = not lifecycle.lines(selected)["undropped"]
    state = next((phase for phase in (Phase.COOLOFF, Phase.CANCELED) if unchanged.get(phase)), None)
    if is_dropped and unchanged.keys() <= {Phase.DROPPED, Phase.DONE} and target.depth >= 3:
        refusal.hint = restoring(selected, target)
    elif set(unchanged) == {Phase.DONE} and not is_dropped:
        is_outdated = left_out.outdated(selected).packages > 0
        verb, option = ("update", "--again") if is_outdated else ("set-status", "unscheduled")
        is_part = not (is_outdated and mixed_inputs.would_mix(selected))
        again = undo.command(verb, map(str, target.parts) if is_part else [target.job], option)
        what = "it" if target.is_one and target.level == "package" else "them"
        refusal.hint = f"`{again}` runs {what} again"
    elif state and not target.states and not target.also:
        word = "cooling off" if state == Phase.COOLOFF else "canceled"
        refusal.hint = f"{unchanged[state]:,} {word}: `d0ctl retry '{target}:{state}'`"
        refusal.instead = _in_state(target, state), f"retry those {word}"
    elif set(unchanged) == {Phase.HELD} and (more := typed(options)):
        refusal.hint = f"{undo.command('edit', target.arguments, *more)} && {refusal.hint}"
    return refusal


def _in_state(target: Selector, state: str) -> Selector:
    """Return the packages of a selection that are in a state."""
    also = tuple(select_state(part, states=(state,)) for part in target.also)
    return select_state(target, states=(state,), also=also)


def _all_refused(target: Selector, reasons: Counter[str], *, are_unfit: bool) -> Refused:
    (why, number), *more = reasons.most_common()
    nodes = "d0ctl node list" if are_unfit else ""
    kind = NeedsOption if set(AT_A_LIMIT.values()) & reasons.keys() else Refused
    if target.is_one and target.level == "package":
        hint = nodes or f"d0ctl why {target}"
        return kind(f"package `{target}` can't be retried: {why}", hint=hint)
    counted = "; ".join(f"{n:,} because {reason}" for reason, n in [(why, number), *more])
    return kind(f"no packages of {quoted(target.brief)} can be retried: {counted}",
                hint=nodes or f"d0ctl history {quote(str(target.parts[0]))}")  # fmt: skip


def retry_failed(store: Store, plan: RetryPlan, by: Author) -> None:
    """Change what the packages request, and let them run again."""
    options: RetryOptions = plan.request.options
    if options.from_scratch:
        retry.start_over(plan.selection)
    options.change(plan.selection)
    if options.scripts:
        parameters = write_pairs(options.parameters)
        scripts.change(store, options.scripts, options.own, parameters)
    note = "; ".join([*filter(None, [by.note]), *_parameters(options)]) or None
    retry.retry(plan.selection, plan.outdated, actor=by.actor, note=note, now=by.now)


def _parameters(options: RetryOptions) -> list[str]:
    """Return what the packages' notes say of other parameters; their rows have only the script."""
    return [f"--set {text}" for text in write_pairs(options.parameters)]


def describe(plan: RetryPlan) -> Iterator[str]:
    """Say what would run again."""
    yield from wording.describe_packages(plan, "retry", _changes(plan, ""))
    yield from _refused(plan)
    yield from plan.away
    yield from _waits(plan, "would run")
    yield from wording.still_stopped(plan.stopped, plan.killing)
    yield from _sources(plan)
    yield from wording.warnings(plan.request.options.warnings)


def report(plan: RetryPlan) -> Iterator[str]:
    """Describe the packages that will run again."""
    yield from wording.report_packages(plan, "retry", "retried", _changes(plan, "d"))
    yield from wording.unchanged(plan)
    yield from _refused(plan)
    yield from plan.away
    yield from _waits(plan, "will run")
    yield from wording.still_stopped(plan.stopped, plan.killing)
    yield from _sources(plan)
    yield from wording.warnings(plan.request.options.warnings)


def _refused(plan: RetryPlan) -> Iterator[str]:
    for why, number in plan.refused.items():
        yield f"not retried: {count(number, 'package')}, because {why}"


def _waits(plan: RetryPlan, will_run: str) -> Iterator[str]:
    """Say which packages have to run before these can start, and which will not run after them."""
    yield from wording.makers(plan.makers, will_run, plan.request.target.job)
    yield from filter(None, [plan.dropped_readers])
    if plan.ended_before:
        yield waits_for(plan.ended_before, plan.packages)


def _sources(plan: RetryPlan) -> Iterator[str]:
    yield from wording.changed_sources(plan.sources)
    for name, readers in plan.mixed:
        yield earlier_readers.sentence(name, readers)
    for job in plan.edited:
        yield wording.changed_job_file(job, "a retry runs the job")


def _changes(plan: RetryPlan, d: str) -> str:
    """Say what changes with the packages; `d` is the end of verbs in the past."""
    options: RetryOptions = plan.request.options
    changes = [*options.descriptions, *write_pairs(options.parameters)]
    changed = f" with {listed(changes)}" if changes else ""
    changed += " from scratch" if options.from_scratch else ""
    releases = sum(job.is_held_by_d0ctl for job in plan.stopped)
    also = [f"release{d} {'the job' if releases == 1 else count(releases, 'job')}"] * bool(releases)
    also += [f"resume{d} node `{name}`, which d0ctl drained for the job" for name in plan.resumed]
    return f"{changed}, and {listed(also)}" if also else changed


ACTION = Action(
    name="retry",
    help="Retry failed packages, optionally with changed resources.",
    more_help="Canceled packages, and those in cooloff, are retried only if selected by path or "
    "state.",
    example="reco001:failed --memory 8GB",
    past="retried",
    options=RetryOptions,
    prepare=prepare,
    plan=plan_retry,
    act=retry_failed,
    describe=describe,
    report=report,
    starts_packages=True,
    key="R",
    title="retry: run failed packages again",
    ways=(
        Way("use the files that earlier attempts kept"),
        Way("start from scratch", frozenset({"--from-scratch"})),
    ),
)
