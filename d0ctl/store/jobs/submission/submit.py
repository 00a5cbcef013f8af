"""The submission of a job: by short transactions, visible whole or not at all."""

import json
import zlib
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from d0ctl.errors import Refused
from d0ctl.jobfile.collector import without_collector
from d0ctl.jobfile.spec import JobSpec, has_file
from d0ctl.schedule.estimates import NO_SIZES, Range, guess
from d0ctl.store.attempts.history import estimates
from d0ctl.store.connection import Store, as_json
from d0ctl.store.files.copies import lose
from d0ctl.store.jobs import results
from d0ctl.store.jobs.removal import remove_rows, sweep
from d0ctl.store.jobs.submission.insertion import Insertion
from d0ctl.store.jobs.submission.intake import Intake
from d0ctl.store.jobs.submission.urgency import Urgency, urgency
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes.fitting import misfits_of_job, refuse
from d0ctl.store.nodes.holder import holder
from d0ctl.store.views.job_files import eta


def submit(
    store: Store,
    spec: JobSpec,
    *,
    now: float,
    actor: str,
    name: str | None = None,
    hold: bool = False,
    note: str | None = None,
    options: str = "",
    force: bool = True,
    progress: Callable[[int], None] | None = None,
    moved: Callable[[Path], None] | None = None,
) -> str:
    """Make a job's rows and then show it; return its final name.

    Older files in the way of its results are moved aside, and `moved` is called with their folder.
    The history records `options` with the note.

    Raises Refused if the name is in use, and without `force` if it requests what no node can
    ever offer. A crash leaves rows that nobody sees and
    that `sweep` removes.
    """
    sweep(store, now=now)
    job, final_name = _begin(store, spec, name=name, hold=hold, note=note, actor=actor, now=now)
    insertion = Insertion(store, job)
    try:
        with without_collector():
            _insert(insertion, spec, now, progress)
        if not force:
            refuse(misfits_of_job(store, job, now=now))
        with store.writing():
            lose(store, [(file, 0) for file in insertion.absent], now=now)
            keep_action(
                store,
                now=now,
                actor=actor,
                verb="submit",
                target=final_name,
                note="; ".join(filter(None, (note, options))) or None,
                packages=insertion.packages,
            )
            store.change("show_job", job=job)
            eta.keep_first(store, job, now=now)
            aside = results.move_aside(store.home, final_name)
    except BaseException:
        remove_rows(store, job, now=now)
        raise
    if aside is not None and moved is not None:
        moved(aside)
    return final_name


def _insert(
    insertion: Insertion, spec: JobSpec, now: float, progress: Callable[[int], None] | None
) -> None:
    """Insert the rows of all stages."""
    store, job = insertion.store, insertion.job
    with store.writing():
        store.empty("incoming_requirement")
        stages = [
            int(
                store.value(
                    "make_stage",
                    job=job,
                    seq=seq,
                    name=stage.name,
                    require=stage.require,
                    max_running=stage.max_running,
                    final=int(stage.final),
                )
            )
            for seq, stage in enumerate(spec.stages, start=1)
        ]

    expected = urgency(store, spec)
    intake = Intake(job, stages, spec.packages, now, insertion.reserve, expected)
    insertion.insert_all(intake.chunks(spec.stages), progress)
    with store.writing():
        for seq, (stage, of) in enumerate(zip(stages, spec.stages, strict=True), start=1):
            store.change("count_lines", stage=stage, lines=insertion.lines[stage])
            expect(store, stage, intake.work.get(stage, 0.0), expected.ranges.get(seq))
            estimates.expect_sizes(store, stage, expected.sizes.get(seq, NO_SIZES))
            for before in of.after:
                store.change("order_stage", job=job, seq=seq, after=before)
            if of.final:
                store.change("order_final", job=job, seq=seq)


def expect(store: Store, stage: int, work: float, took: Range | None) -> None:
    """Record the CPU seconds that a stage is expected to take, and the range of its run times."""
    whole = took if took is not None and took.middle else guess(1.0)
    store.change("expect_of_stage", stage=stage, work=work, is_timed=int(took is not None),
                 low=whole.low / whole.middle, high=whole.high / whole.middle)  # fmt: skip


def expect_anew(
    store: Store,
    job: int,
    stages: Sequence[int],
    changed: Container[int],
    expected: Urgency,
    newest: int,
) -> None:
    """Estimate the changed stages as at submission: runs by other definitions no longer count.

    The requirements up to `newest` were made before.
    """
    again = {seq for seq, stage in enumerate(stages, 1) if stage in changed}
    estimates.settle_drifts(store, job, again, newest)
    work = {row["stage_id"]: row["work"] for row in store.rows("work_of_stages", job=job)}
    for seq, stage in enumerate(stages, 1):
        if stage in changed:
            store.change("forget_runs_of_stage", stage=stage)
            expect(store, stage, work.get(stage, 0.0), expected.ranges.get(seq))


def _begin(
    store: Store,
    spec: JobSpec,
    *,
    name: str | None,
    hold: bool,
    note: str | None,
    actor: str,
    now: float,
) -> tuple[int, str]:
    """Return the job's row, under its own name or the next free number of its stem."""
    held = hold or spec.hold
    with store.writing():
        if name is None and spec.named:
            name = spec.name
        if name is None:
            name = free_name(store, spec.name)
        elif name in {row[0] for row in store.rows("job_names_like", pattern=name)}:
            raise Refused(f"job `{name}` already exists", hint=f"--as {free_name(store, name)}")
        job = store.value(
            "make_job",
            name=name,
            hold=int(held),
            hold_actor=actor if held else None,
            hold_note=(note or "held at submission") if held else None,
            hold_since=now if held else None,
            submitter=holder(),
            now=now,
            **job_columns(spec),
        )
        if spec.text:
            store.change("keep_job_text", job=job, text=zlib.compress(spec.text.encode()))
    return int(job), name


def job_columns(spec: JobSpec) -> dict[str, Any]:
    """Return the job file's settings for the job as a whole, by column."""
    return {
        "title": spec.title,
        "originator": spec.originator,
        "priority": spec.priority,
        "parameters": as_json(spec.parameters) or "{}",
        "policy": as_json(spec.policy) or "{}",
        "directory": spec.directory,
        "source": spec.source,
        "mail": spec.mail,
        "most_alike": spec.max_alike_failures,
        "max_running": spec.max_running,
        "max_failures": spec.max_failures,
    }


def free_name(store: Store, stem: str) -> str:
    """Return the next name that is not taken: STEM-001, STEM-002."""
    taken = {row[0] for row in store.rows("job_names_like", pattern=f"{stem}-[0-9]*")}
    number = 1
    while f"{stem}-{number:03d}" in taken:
        number += 1
    return f"{stem}-{number:03d}"


def last_from(store: Store, source: str) -> str | None:
    """Return the name of the last job from a job file; None if there is none."""
    name = store.value("last_job_of_source", source=source)
    return None if name is None else str(name)


class JobText(NamedTuple):
    """A job file with everything needed to read it again."""

    text: str
    directory: Path
    source: str
    parameters: Mapping[str, str]
    """The text values of parameters, including those of `--set`."""

    @property
    def has_file(self) -> bool:
        """Whether it was read from a file."""
        return has_file(self.source)


def text_of(store: Store, job: int) -> JobText | None:
    """Return the job file of a job as it was submitted; None if it was not made from one."""
    row = store.row("job_text", job=job)
    if row is None or row["text"] is None:
        return None
    values = json.loads(row["parameters"])
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    text = zlib.decompress(row["text"]).decode()
    return JobText(text, Path(row["directory"]), row["source"], texts)
