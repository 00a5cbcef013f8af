"""update: correct a submitted job, by its job file as it is now or by another one."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from d0ctl.actions import undo, wording
from d0ctl.actions.action import MOST_SHOWN, Action, Author, Plan, Request, Way
from d0ctl.actions.new_requests import describe_change
from d0ctl.actions.option import Options, ValueType, flag, pairs, value, values, write_pairs
from d0ctl.actions.selection import is_whole_job, jobs_of
from d0ctl.errors import BadUsage, Refused
from d0ctl.jobfile.spec import JobSpec, has_file
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction import correct, corrected_spec, planning
from d0ctl.store.jobs.correction.changed_requests import RequestChange, changed_requests
from d0ctl.store.jobs.correction.comparison import Place
from d0ctl.store.jobs.correction.planning import Outline, Reading
from d0ctl.store.jobs.correction.texts import has_text, keep_text
from d0ctl.store.jobs.submission.submit import text_of
from d0ctl.store.nodes import fitting
from d0ctl.store.nodes.fitting import Misfit
from d0ctl.store.tasks.content_follower import has_task
from d0ctl.store.views import selection
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count


@dataclass(frozen=True, slots=True)
class UpdateOptions(Options):
    """Which file corrects a job, and whether packages run again."""

    file: str | None = value(
        "--file", "FILE", "The corrected job file (default: the one it was submitted from).",
        example="FILE",
    )  # fmt: skip
    parameters: Mapping[str, str] = values(
        "--set", "KEY=VALUE", "Parameter of the job; may be repeated.", none=dict,
        type=ValueType(pairs, write_pairs), example="KEY=VALUE", log=write_pairs,
    )  # fmt: skip
    again: bool = flag("--again", "Rerun packages that ran with another definition.")
    accept: bool = flag("--accept", "Accept results that are out of date as they are.")
    previous: bool = flag("--previous", "Go back to the job file before the last update.")
    hold: bool = flag("--hold", "Keep it from being scheduled.")
    spec: JobSpec | None = None
    """What the job file says; `prepare` reads it."""
    before: Reading | None = None
    """The job before the change; `prepare` reads it, so that other writers need not wait."""


HELD = "hold: no -> yes"
"""The setting that `--hold` changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlan(Plan):
    """What a job file would change in a job."""

    job: int
    name: str
    outline: Outline
    settings: tuple[str, ...]
    """The settings of the job as a whole that change."""
    misfits: tuple[Misfit, ...]
    has_text: bool
    """Whether the job has this job file already."""
    requests: Counter[tuple[RequestChange, ...]]
    """The requests that change, and of how many packages."""
    is_blocked: bool
    """Whether waiting packages of the job wait for files that will never be made."""


def prepare(store: Store, request: Request[UpdateOptions], now: float) -> Request[UpdateOptions]:
    """Read the job file, with the parameters of the submission and those given now.

    Raises BadUsage, NotFound or Refused, and BadJobFile with every fault.
    """
    options = request.options
    if options.spec is not None:
        return request
    job = _job(store, request)
    if has_task(store, job.id):
        raise Refused(f"the packages of job `{job.name}` are made by its task, not by a job file",
                      hint=f"d0ctl task why {job.name}")  # fmt: skip
    spec = corrected_spec.read(store, job, options.file, options.previous, options.parameters)
    before = planning.read_before(store, job.id, spec, accept=options.accept)
    return replace(request, options=replace(options, spec=spec, before=before))


def _job(store: Store, request: Request[UpdateOptions]) -> JobSummary:
    jobs, brief, options = jobs_of(store, request.target), request.target.brief, request.options
    whole = f"d0ctl update {jobs[0].name}"
    if len(jobs) > 1:
        raise BadUsage(f"`{brief}` is not one job, but `update` takes just one", hint=whole)
    if options.again and options.accept:
        raise BadUsage("--again and --accept exclude each other", hint="d0ctl update --help")
    is_part = not is_whole_job(request.target)
    if is_part and not (options.again or options.accept):
        raise BadUsage(f"`{brief}` is a part of a job: `update` takes one only with `--again`, "
                       "to run its outdated packages again, or `--accept`", hint=whole)  # fmt: skip
    if is_part and options.parameters:
        raise BadUsage("`--set` changes the parameters of a whole job, not of a part", hint=whole)
    return jobs[0]


def plan(store: Store, request: Request[UpdateOptions], now: float) -> UpdatePlan:
    """Compare the job with what its job file says. Raises Refused."""
    options, job = request.options, _job(store, request)
    spec = options.spec
    assert spec is not None
    part = None if is_whole_job(request.target) else selection.ids(store, request.target, now=now)
    outline = planning.plan(store, job.id, spec, again=options.again, accept=options.accept,
                            part=part, before=options.before)  # fmt: skip
    comparison = outline.found
    settings = (*_settings(job, spec), *[HELD] * (options.hold and not job.hold))
    changed = {*outline.written, *outline.again, *outline.remade, *outline.accepted}
    changed |= comparison.restored.keys()
    packages = len(changed) + len(comparison.added) + len(comparison.removed)
    return UpdatePlan(
        request=request, job=job.id, name=job.name, outline=outline, settings=settings,
        packages=packages, misfits=tuple(fitting.misfits_of_spec(store, spec, now=now)),
        is_empty=not (packages or settings or comparison.outdated or comparison.edited)
        and _is_same(store, job, spec),
        has_text=has_text(store, job.id, spec),
        requests=changed_requests(store, spec, outline), is_blocked=job.blocked,
    )  # fmt: skip


def _settings(job: JobSummary, spec: JobSpec) -> Iterator[str]:
    for difference, before, after in (
        ("title", job.title, spec.title),
        ("priority", job.priority, spec.priority),
        ("max-running", job.max_running, spec.max_running),
        ("max-failures", job.max_failures, spec.max_failures),
    ):
        if before != after:
            yield f"{difference}: {before or 'none'} -> {after or 'none'}"


def _is_same(store: Store, job: JobSummary, spec: JobSpec) -> bool:
    return (known := text_of(store, job.id)) is not None and known.text == spec.text


def update(store: Store, plan: UpdatePlan, by: Author) -> None:
    """Change the rows of the job."""
    spec = plan.request.options.spec
    keep_text(store, plan.job, spec)
    correct.correct(store, plan.job, spec, plan.outline, actor=by.actor,
                    note=by.note_or("updated"), now=by.now)  # fmt: skip
    if plan.request.options.hold:
        lifecycle.hold_job(store, plan.job, actor=by.actor, note=by.note, now=by.now)


def describe(plan: UpdatePlan) -> Iterator[str]:
    """Say what would happen to which packages."""
    yield f"would update `{plan.name}`" + (": nothing to change" if plan.is_empty else "")
    yield from _said(plan, named=True)


def report(plan: UpdatePlan) -> Iterator[str]:
    """Say what happened to which packages."""
    yield _unchanged(plan.name, plan) if plan.is_empty else f"updated `{plan.name}`"
    yield from _said(plan, named=False)


def _unchanged(name: str, plan: UpdatePlan) -> str:
    spec = plan.request.options.spec
    if has_file(spec.source):
        return f"`{name}` already matches its job file"
    return f"`{name}` is as it was submitted; it has no job file"


def _said(plan: UpdatePlan, *, named: bool) -> Iterator[str]:
    outline, found, job = plan.outline, plan.outline.found, plan.name
    yield from plan.settings
    old = (*found.outdated, *outline.accepted)
    edited = sorted({name for key in old for name in found.edited.get(key, ())})
    if edited:
        yield "changed since packages read them:"
        yield from wording.few(edited, len(edited))
    rewritten = [package for key, package in found.rewritten.items() if key not in outline.again]
    accepts, acceptable = plan.request.options.accept, count(len(outline.acceptable), "package")
    stale = {key: package for key, package in found.outdated.items()
             if key not in outline.again and key not in found.rewritten}  # fmt: skip
    asked = outline.again - outline.renewed.keys()
    made_again = {**outline.remade, **outline.renewed}
    groups: list[tuple[str, Collection[Place]]] = [
        ("added", found.added),
        ("restored, in the job file again", found.restored.values()),
        ("removed, no longer in the job file", found.removed),
        ("changed, with the new definition from now on", rewritten),
        ("to run again", [found.outdated[key] for key in found.outdated if key in asked]),
        ("to run again, because their outputs were removed", made_again.values()),
        ("whose results are accepted", outline.accepted.values()),
        ("left running as submitted", found.busy.values()),
        (
            "out of date, run with another recipe or other inputs",
            [package for key, package in stale.items() if key not in found.earlier],
        ),
        (
            "out of date, run with files that were changed or dropped since",
            [package for key, package in stale.items() if key in found.earlier],
        ),
    ]
    for change, places in groups:
        if places:
            yield f"{count(len(places), 'package')} {change}: {_by_phase(plan, places)}"
            if named:
                yield from wording.few(list(_paths(job, places)), len(places))
    yield from _requests(plan)
    again, stays = outline.readers & asked, outline.readers - outline.again
    for which, readers in (("to run again", again), ("out of date", stays)):
        if readers:
            read = count(len(readers), "package that has", "packages that have")
            yield f"{which}, too: {read} read their files"
    yield from wording.readers(outline.elsewhere, "once these have changed", " of other jobs")
    if asked and made_again:
        yield f"in all: {count(len(asked | made_again.keys()), 'package')} to run again"
    if stale:
        more = wording.and_removed(outline.lacking)
        yield f"to run what is out of date{more}: d0ctl update {job} --again"
        if accepts and is_whole_job(plan.request.target):
            yield "results are accepted only if inputs and outputs have the same names"
        elif outline.acceptable and not accepts:
            yield f"to accept the results of {acceptable}: d0ctl update {job} --accept"
    yield from wording.still_reading(found.reading, job)
    if any(package.phase == Phase.FAILED for package in rewritten):
        yield f"to run the failed ones: d0ctl retry '{job}:failed'"
    if found.unlisted:
        yield f"{count(len(found.unlisted), 'package')} successful, but no longer in the job file"
    if stay := found.other_dispositions - outline.written:
        ran = count(len(stay), "package that has run", "packages that have run")
        change = "d0ctl file set-disposition FILE DISPOSITION"
        yield f"files of {ran} keep their dispositions: {change}"
    moved = outline.remade.keys() - found.unlisted - stale.keys() | outline.readers
    yield f"unchanged: {count(found.unchanged - len(moved), 'package')}"
    for line in fitting.lines(plan.misfits):
        yield f"no node can take it yet: {line}"
    yield from wording.warnings(plan.request.options.spec.warnings)


def _requests(plan: UpdatePlan) -> Iterator[str]:
    """Say which requests change, also those that a retry or an edit had set."""
    for changes, number in plan.requests.most_common(wording.MOST_NAMED):
        yield f"{count(number, 'package')}: {', '.join(map(describe_change, changes))}"


def _by_phase(plan: UpdatePlan, places: Collection[Place]) -> str:
    """Count packages by their phase before the update."""
    phases = Counter(package.phase or "new" for package in places)
    return wording.by_phase({
        "blocked" if phase == Phase.WAITING and plan.is_blocked else phase: phases[phase]
        for phase in ("new", *Phase) if phase in phases
    })  # fmt: skip


def _paths(job: str, places: Iterable[Place]) -> Iterator[str]:
    for package, _ in zip(places, range(MOST_SHOWN), strict=False):
        yield f"{job}/{package.path}"


def _undo(plan: UpdatePlan) -> str | None:
    if plan.is_empty:
        return None
    back = [] if plan.has_text else [undo.command("update", [plan.name], "--previous")]
    release = [undo.command("release", [plan.name])] if HELD in plan.settings else []
    return " && ".join(back + release) or None


ACTION = Action(
    name="update",
    help="Correct a submitted job.",
    more_help="Packages that have not started get the new definition, and packages that have run "
    "stay. Lines are added or removed. --dry-run shows all changes. With --again or --accept, "
    "name a part, as reco001/3, for only its packages.",
    example="reco001 --dry-run",
    exit_status="0 done, 2 bad usage or a fault in the job file, 3 no such job, 4 refused",
    past="updated",
    options=UpdateOptions,
    prepare=prepare,
    plan=plan,
    act=update,
    undo=_undo,
    describe=describe,
    report=report,
    level="job",
    starts_packages=True,
    question="update it?",
    key="W",
    title="update: correct it by its job file",
    ways=(
        Way("leave what has run"),
        Way("run outdated packages again", frozenset({"--again"})),
        Way("accept outdated results", frozenset({"--accept"})),
        Way("go back to the job file before", frozenset({"--previous"})),
        Way("leave what has run, and hold it", frozenset({"--hold"})),
    ),
)
