"""A job on its way in: by short transactions, visible whole or not at all."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from d0ctl.errors import Refused
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store, as_json
from d0ctl.store.files.copies import lose
from d0ctl.store.jobs import results
from d0ctl.store.jobs.intake import Intake
from d0ctl.store.jobs.removal import remove_rows, sweep
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes.fitting import misfits_of_job, refuse
from d0ctl.store.nodes.holder import holder


def submit(
    store: Store,
    spec: JobSpec,
    *,
    now: float,
    actor: str,
    name: str | None = None,
    hold: bool = False,
    note: str | None = None,
    force: bool = True,
    progress: Callable[[int], None] | None = None,
    moved: Callable[[Path], None] | None = None,
) -> str:
    """Make a job's rows and then show it; the name it got.

    Older files in the way of its results are moved aside, and `moved` is called with their folder.

    Raises Refused when the name is in use, and without `force` when it asks for what no node can
    ever give. A crash leaves rows that nobody sees and
    that `sweep` removes.
    """
    sweep(store, now=now)
    job, chosen = _begin(store, spec, name=name, hold=hold, actor=actor, now=now)
    intake = Intake(store, job, now)
    try:
        with _without_collector():
            for seq, stage in enumerate(spec.stages, start=1):
                intake.whole_stage(seq, stage, progress)
            intake.late_inputs()
            intake.results()
        if not force:
            refuse(misfits_of_job(store, job, now=now))
        with store.writing():
            lose(store, [(file, 0) for file in intake.absent], now=now)
            keep_action(
                store,
                now=now,
                actor=actor,
                verb="submit",
                target=chosen,
                note=note,
                packages=intake.packages,
            )
            store.change("show_job", job=job)
            aside = results.move_aside(store.home, chosen)
    except BaseException:
        remove_rows(store, job, now=now)
        raise
    if aside is not None and moved is not None:
        moved(aside)
    return chosen


@contextmanager
def _without_collector() -> Iterator[None]:
    """Spare python its search for cycles among millions of rows, of which none is in one."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _begin(
    store: Store, spec: JobSpec, *, name: str | None, hold: bool, actor: str, now: float
) -> tuple[int, str]:
    """The job's row, under its own name or the next free number of its stem."""
    held = hold or spec.hold
    with store.writing():
        if name is None and spec.named:
            name = spec.name
        if name is None:
            name = _free_name(store, spec.name)
        elif name in {row[0] for row in store.rows("job_names_like", pattern=name)}:
            raise Refused(
                f"there is a job `{name}` already", hint=f"--as {_free_name(store, name)}"
            )
        job = store.value(
            "make_job",
            name=name,
            title=spec.title,
            originator=spec.originator,
            priority=spec.priority,
            hold=int(held),
            hold_actor=actor if held else None,
            hold_note="held at submission" if held else None,
            hold_since=now if held else None,
            submitter=holder(),
            now=now,
            parameters=as_json(spec.parameters) or "{}",
            policy=as_json(spec.policy) or "{}",
            directory=spec.directory,
            source=spec.source,
            mail=spec.mail,
            most_alike=spec.max_alike_failures,
        )
    return int(job), name


def _free_name(store: Store, stem: str) -> str:
    taken = {row[0] for row in store.rows("job_names_like", pattern=f"{stem}-[0-9]*")}
    number = 1
    while f"{stem}-{number:03d}" in taken:
        number += 1
    return f"{stem}-{number:03d}"
