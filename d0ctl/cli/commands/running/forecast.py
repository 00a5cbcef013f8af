"""What a job would do, as `validate` and a dry run of `submit` or `run` print it."""

import time
from collections.abc import Collection
from shlex import quote

from d0ctl.actions.jobs.submit import SubmitRequest
from d0ctl.cli import action_command, changing
from d0ctl.cli.terminal.output import emit, sheet, show
from d0ctl.jobfile.preview import LinePreview, Preview
from d0ctl.jobfile.spec import JobSpec
from d0ctl.show.cards import preview as preview_texts
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission import urgency
from d0ctl.store.nodes import fitting
from d0ctl.store.views.job_files import forecast

MOST_LISTED = 20
"""Up to how many packages a dry run lists the lines."""


def show_all(spec: JobSpec, *, listing: bool, graph: bool) -> None:
    """Print the graph of stages, and each stage with its lines."""
    preview = Preview(spec, listing=listing)
    with changing.rehearsal() as store:
        if graph:
            page = sheet()
            preview_texts.graph(page, preview)
            show(page)
            emit("")
        if listing:
            _stages(store, preview)
            _lines(store, preview)
            emit("")


def plan(spec: JobSpec) -> list[dict[str, object]]:
    """Return what each stage would do and its lines, as a document."""
    preview = Preview(spec, listing=True)
    with changing.rehearsal() as store:
        fits = fitting.fits_of_spec(store, spec, now=time.time())
        earlier = _run_times(store, spec)
    return [
        {
            "number": stage.number, "name": stage.name, "packages": stage.packages,
            "change": stage.change or None, "after": list(stage.after),
            "final": stage.is_final, "results": stage.results,
            "nodes": preview_texts.reasons([fit for fit in fits if fit.stage == stage.name]),
            "seconds": preview_texts.seconds(stage, earlier),
            "lines": [_planned(line) for line in preview.lines(stage)],
        }
        for stage in preview.stages
    ]  # fmt: skip


def _planned(line: LinePreview) -> dict[str, object]:
    reads = [{**source._asdict(), "files": files} for source, files in line.reads.items()]
    return {**line._asdict(), "reads": reads}


def show_submission(request: SubmitRequest, spec: JobSpec) -> None:
    """Print the plan of a submission, what each stage does, and the job's lines if they are few."""
    action_command.carry_out(request)
    preview = Preview(spec, listing=spec.packages <= MOST_LISTED)
    emit("")
    with changing.rehearsal() as store:
        _stages(store, preview)
        _lines(store, preview)
    if spec.packages > MOST_LISTED and request.target.text is None:
        emit(f"each line with its files: d0ctl validate {quote(request.target.brief)} --list")


def _stages(store: Store, preview: Preview) -> None:
    page = sheet()
    fits = fitting.fits_of_spec(store, preview.job, now=time.time())
    preview_texts.overview(page, preview, fits, _run_times(store, preview.job))
    show(page)
    emit("")


def _run_times(store: Store, spec: JobSpec) -> forecast.RunTimes:
    """Return the run times by the last jobs of a job file, and of other stages those that d0ctl
    has learned, also from jobs that are archived."""
    earlier = forecast.run_times(store, spec.source)
    learned = dict(urgency.learned_seconds(store, spec))
    return earlier._replace(seconds={**learned, **earlier.seconds})


def _lines(store: Store, preview: Preview) -> None:
    def absent(job: str, names: Collection[str]) -> forecast.Absent:
        return forecast.absent(store, job, names)

    for stage in preview.stages:
        page = sheet()
        page.table([preview_texts.line(line, absent) for line in preview.lines(stage)], indent=0)
        show(page)
