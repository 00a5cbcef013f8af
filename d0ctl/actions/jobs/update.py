"""update: correct a submitted job, by its job file as it is now or by another one."""

from collections.abc import Iterator
from dataclasses import replace

from msgspec.structs import replace as spec_with

from d0ctl.actions import undo
from d0ctl.actions.action import Action, Author, Request, Way
from d0ctl.actions.jobs._home_warnings import of_memory
from d0ctl.actions.jobs._update_plan import UpdateOptions as UpdateOptions
from d0ctl.actions.jobs._update_plan import UpdatePlan as UpdatePlan
from d0ctl.actions.jobs._update_plan import said
from d0ctl.actions.retryable import stay_dropped
from d0ctl.actions.selection import is_whole_job, jobs_of
from d0ctl.errors import BadJobFile, BadUsage, Refused
from d0ctl.jobfile.spec import JobSpec, has_file
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import results
from d0ctl.store.jobs.correction import correct, corrected_spec, planning
from d0ctl.store.jobs.correction.changed_requests import change_keys, changed_requests
from d0ctl.store.jobs.correction.comparison import Comparison
from d0ctl.store.jobs.correction.texts import (
    ChangedStage,
    followers,
    has_text,
    is_taken_back,
    keep_text,
    parameter_texts,
    reads_gone,
    renamed,
)
from d0ctl.store.jobs.submission.submit import text_of
from d0ctl.store.nodes import fitting
from d0ctl.store.tasks.content_follower import has_task
from d0ctl.store.views import left_out, selection
from d0ctl.store.views.shapes import JobSummary

HELD = "hold: no -> yes"
"""The setting that `--hold` changes."""


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
    try:
        spec = corrected_spec.read(store, job, options.file, options.previous, options.parameters,
                                   follows_job=options.follows_job)  # fmt: skip
    except BadJobFile as error:
        if not (options.follows_job and is_taken_back(store, job.id)):
            raise
        raise error.noted(f"this is the job file as `--previous` left it; `d0ctl update {job.name}`"
                          " takes the file as it is now") from error  # fmt: skip
    warnings = (*spec.warnings, *of_memory(store, spec, spec.source))
    spec = spec_with(spec, warnings=warnings)
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
    settings = (*_settings(store, job, spec), *[HELD] * (options.hold and not job.hold))
    touched = {
        *(outline.written - comparison.complete),
        *outline.again,
        *outline.remade,
        *outline.accepted,
    }
    touched |= comparison.restored.keys()
    again = {*outline.again, *outline.remade}
    changed = results.changed(store, job.id, planning.declared_results(spec), again)
    is_new = not has_text(store, job.id, spec)
    other = comparison.other["guards"].union(comparison.other["requests"] if is_new else ())
    other_keys = frozenset(other - outline.written)
    packages = len(touched) + len(comparison.added) + len(comparison.removed)
    changes_nothing = not (
        packages or settings or comparison.outdated or comparison.edited or other_keys
        or changed.files or left_out.outdated_packages(store, job.id).packages
    ) and _is_same(store, job, spec)  # fmt: skip
    following = followers(store, job.id, job.name, _changed_stages(outline))
    renamed_stages = renamed(store, job.id, job.name, _renamed(comparison, spec))
    return UpdatePlan(
        request=request, job=job.id, name=job.name, outline=outline, settings=settings,
        packages=packages, misfits=tuple(fitting.misfits_of_spec(store, spec, now=now)),
        is_empty=changes_nothing and not left_out.ahead_of(store, job.id),
        changes_nothing=changes_nothing,
        has_text=not is_new, other_keys=other_keys,
        requests=changed_requests(store, spec, outline, other_keys), is_blocked=job.blocked,
        retried=left_out.retry_parameters_of(
            store.select(comparison.outdated.keys() - comparison.earlier)
        ),
        is_taken_back=not (options.previous or options.file) and is_taken_back(store, job.id),
        results=changed, names_other=_names_other(store, job, spec),
        reads_gone=reads_gone(store, job.id),
        followers=following, renamed=renamed_stages,
        dropped=_dropped(store, comparison) if part is None else "",
    )  # fmt: skip


def _changed_stages(outline: planning.Outline) -> dict[int, ChangedStage]:
    """Return the stages that get or lose lines, or whose packages make files of other names, by
    their numbers.
    """
    changed, known = outline.again | outline.written, outline.found.other_lines
    found = {key: ChangedStage() for key in known}
    return found | {
        stage.seq: ChangedStage(stage.old.name if stage.old else "", stage.other_files())
        for stage in outline.found.stages
        if stage.seq in known or stage.makes_others(changed)
    }


def _settings(store: Store, job: JobSummary, spec: JobSpec) -> Iterator[str]:
    for difference, before, after in (
        ("title", job.title, spec.title),
        ("priority", job.priority, spec.priority),
        ("max-running", job.max_running, spec.max_running),
        ("max-failures", job.max_failures, spec.max_failures),
    ):
        if before != after:
            yield f"{difference}: {before or 'none'} -> {after or 'none'}"
    known = text_of(store, job.id)
    old, new = known.parameters if known else {}, parameter_texts(spec)
    for name in sorted(old.keys() | new.keys()):
        if known and old.get(name) != new.get(name):
            yield f"parameter {name}: {old.get(name, 'none')} -> {new.get(name, 'none')}"


def _renamed(comparison: Comparison, spec: JobSpec) -> Iterator[tuple[int, str, str]]:
    for stage, of in zip(comparison.stages, spec.stages, strict=True):
        if stage.old is not None and stage.old.name != of.name:
            yield stage.seq, stage.old.name, of.name


def _dropped(store: Store, comparison: Comparison) -> str:
    return stay_dropped(store, [line for stage in comparison.stages for line in stage.stay_dropped])


def _is_same(store: Store, job: JobSummary, spec: JobSpec) -> bool:
    return (known := text_of(store, job.id)) is not None and known.text == spec.text


def _names_other(store: Store, job: JobSummary, spec: JobSpec) -> bool:
    from d0ctl.jobfile.source import is_named_anew  # imports yaml, which most actions do not need

    known = text_of(store, job.id)
    return is_named_anew(spec, job.name, known.text if known else "")


def update(store: Store, plan: UpdatePlan, by: Author) -> None:
    """Change the rows of the job."""
    spec = plan.request.options.spec
    keep_text(store, plan.job, spec, is_back=plan.request.options.previous)
    others = {*plan.followers, *(reader for stage in plan.renamed for reader in stage.readers)}
    correct.correct(store, plan.job, spec, plan.outline, others, actor=by.actor,
                    note=by.note_or("updated"), now=by.now)  # fmt: skip
    change_keys(store, spec, plan.outline.found, plan.other_keys)
    if plan.request.options.hold:
        lifecycle.hold_job(store, plan.job, actor=by.actor, note=by.note, now=by.now)


def describe(plan: UpdatePlan) -> Iterator[str]:
    """Say what would happen to which packages."""
    same = ": nothing to change" if plan.is_empty else ": it reads the same files as before"
    yield f"would update `{plan.name}`" + same * plan.changes_nothing
    yield from said(plan, named=True)


def report(plan: UpdatePlan) -> Iterator[str]:
    """Say what happened to which packages."""
    yield _unchanged(plan.name, plan) if plan.changes_nothing else f"updated `{plan.name}`"
    yield from said(plan, named=False)


def _unchanged(name: str, plan: UpdatePlan) -> str:
    options, spec = plan.request.options, plan.request.options.spec
    if not plan.is_empty:
        return f"`{name}` reads the same files as before"
    if plan.is_taken_back and options.follows_job:
        return f"nothing to change in `{name}`"
    if has_file(spec.source):
        return f"`{name}` already matches its job file {spec.source}"
    return f"`{name}` is as it was submitted; it has no job file"


def _undo(plan: UpdatePlan) -> str | None:
    if plan.is_empty:
        return None
    back = (
        []
        if plan.has_text or plan.reads_gone
        else [undo.command("update", [plan.name], "--previous")]
    )
    release = [undo.command("release", [plan.name])] if HELD in plan.settings else []
    return " && ".join(back + release) or None


OF_PARTS = (
    Way("run outdated packages again", frozenset({"--again"})),
    Way("accept outdated results", frozenset({"--accept"})),
)
"""The ways that are also for parts of a job."""

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
        *OF_PARTS,
        Way("go back to the job file before", frozenset({"--previous"})),
        Way("leave what has run, and hold it", frozenset({"--hold"})),
    ),
    part_ways=OF_PARTS,
)
