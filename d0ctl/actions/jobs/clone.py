"""clone: submit a job again, with other parameters, or a part of it as a job of its own."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote

from msgspec.structs import replace as changed

from d0ctl.actions import wording
from d0ctl.actions.action import Request
from d0ctl.actions.jobs import submit
from d0ctl.actions.jobs._home_warnings import of_home
from d0ctl.actions.jobs.submit import SubmitOptions, SubmitPlan, is_name
from d0ctl.actions.selection import is_whole_job, jobs_of
from d0ctl.errors import BadJobFile, BadUsage, Refused
from d0ctl.jobfile.spec import JobSpec
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.files import mixed_inputs
from d0ctl.store.jobs.correction.texts import differs_on_disk, is_changed_on_disk
from d0ctl.store.jobs.submission.submit import JobText, free_name, text_of
from d0ctl.store.nodes import fitting
from d0ctl.store.views import browse, left_out, selection
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.units import count


def read_again(store: Store, request: Request[SubmitOptions]) -> JobSpec:
    """Read the job file of the job again, with its parameters and the given ones.

    A part of a job becomes a job of its own. Raises BadUsage, NotFound or Refused, and BadJobFile
    with every fault.
    """
    from d0ctl.jobfile import reader  # imports yaml, which most actions do not need

    target, options = request.target, request.options
    _refuse_second_name(store, target)
    jobs = jobs_of(store, target)
    if len(jobs) > 1:
        raise BadUsage(f"`{target.brief}` is not one job, but `clone` takes one, or a part of one",
                       hint=f"d0ctl clone {jobs[0].name}")  # fmt: skip
    name = jobs[0].name
    if is_whole_job(target):
        job_file = text_of(store, jobs[0].id)
        if job_file is None:
            raise Refused(f"job `{name}` was not made from a job file, so it can't be cloned")
        values = {**job_file.parameters, **options.parameters}
        try:
            spec = reader.read_text(job_file.text, job_file.source, job_file.directory, values,
                                    known_names(store), submitter=request.originator)  # fmt: skip
        except BadJobFile as error:
            if not differs_on_disk(store, jobs[0].id):
                raise
            raise error.noted(_edited(name, job_file)) from error
    elif options.parameters:
        raise BadUsage("--set takes a whole job", hint=f"d0ctl clone {name}")
    else:
        folder = Path(browse.directory(store, jobs[0].id))
        spec = reader.read_text(_part(store, target, name), "-", folder, {}, known_names(store),
                                is_seen=False, submitter=request.originator)  # fmt: skip
        spec = changed(spec, warnings=tuple(f"{target.brief}: warning: {text}"
                                            for text in spec.warnings))  # fmt: skip
    warnings = [*spec.warnings, *of_home(store, spec, target.brief)]
    if not is_whole_job(target):
        warnings += _outdated(store, target)
    elif dropped := left_out.dropped_among(store, jobs[0].id, _lines(spec)):
        are, them = ("line of `{}` is", "it") if dropped == 1 else ("lines of `{}` are", "them")
        lines = f"{dropped:,} {are.format(name)}"
        warnings.append(f"{lines} dropped, but not in the clone, which runs {them} again")
    if is_changed_on_disk(store, jobs[0].id) and (known := text_of(store, jobs[0].id)):
        warnings.insert(0, _edited(name, known))
    spec = changed(spec, warnings=tuple(warnings))
    if options.name is not None:
        return spec
    stem = re.sub(r"-[0-9]{3,}$", "", name)
    return changed(spec, name=free_name(store, stem), named=True)


def _edited(name: str, job_file: JobText) -> str:
    return (f"the job file of `{name}` was changed since, and a clone is of the job as it was "
            f"submitted or updated; to submit the file: d0ctl submit {quote(job_file.source)} "
            "--as NAME")  # fmt: skip


def _lines(spec: JobSpec) -> set[tuple[str, str]]:
    return {(stage.name, line.name) for stage in spec.stages for line in stage.lines}


def _refuse_second_name(store: Store, target: Selector) -> None:
    """Raise BadUsage if the name of the new job follows that of the old one, as in `cp`."""
    source, *others = target.parts
    if len(others) != 1 or not others[0].names_jobs:
        return
    name = others[0].job
    if is_name(name) and browse.has_job(store, source.job) and not browse.has_job(store, name):
        raise BadUsage(f"`clone` takes one job or part of a job, and there is no job `{name}`",
                       hint=f"to name the new job so: d0ctl clone {quote(str(source))} --as {name}"
                       )  # fmt: skip


def _outdated(store: Store, target: Selector) -> Iterator[str]:
    """Warn that packages of a part ran with another recipe or other inputs than the job has now."""
    selected = selection.choose(store, target, now=0.0)
    if outdated := left_out.outdated(selected).by_recipe:
        packages = count(outdated, "package")
        are, have = ("is", "its") if outdated == 1 else ("are", "their")
        part = target.job if mixed_inputs.would_mix(selected) else target.brief
        again = f"d0ctl update {quote(part)} --again"
        yield (f"{packages} of `{target.brief}` {are} out of date, and the copy has {have} former "
               f"recipe and inputs, not those that the job has now; first: `{again}`")  # fmt: skip


def _part(store: Store, target: Selector, name: str) -> str:
    """Return the job file of a part of a job; files of the rest of the job become `JOB:NAME`."""
    from d0ctl.store.views.job_files import definition, job_file_text

    rows = definition.read(store, name)
    assert rows is not None
    selected = selection.choose(store, target, now=0.0)
    ids = {row.id for row in selection.packages(selected)}
    return job_file_text.text(definition.part(rows, ids))


def describe(plan: SubmitPlan) -> Iterator[str]:
    """Say what would be submitted, with the warnings of the job file."""
    yield from submit.describe(plan)
    yield from wording.warnings(plan.warnings)


def report(plan: SubmitPlan) -> Iterator[str]:
    """Say what was submitted, with the warnings of the job file."""
    yield from submit.report(plan)
    yield from fitting.not_taken(plan.misfits)
    yield from wording.warnings(plan.warnings)


ACTION = replace(
    submit.ACTION,
    name="clone",
    help="Submit a job again, with other parameters, or a part of it.",
    more_help="Its job file is read again as it was when the job was submitted. A stage, line or "
    "package becomes a job of its own, which reads the files that the rest of the job makes.",
    example="reco001 --set run=4712 --as reco002",
    exit_status="0 done, 2 bad usage or a fault in its job file, 3 no such job, 4 refused",
    prepare=submit.preparing(read_again),
    describe=describe,
    report=report,
    level="job",
    may_be_first=False,
    starts_packages=True,
    key="A",
    title="clone: submit it again",
    part_ways=(),
)
