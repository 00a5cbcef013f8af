"""Lines for groups of late outputs, made when the names of these are known."""

from d0ctl.errors import BadJobFile, Refused
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction import correct
from d0ctl.store.jobs.submission.submit import text_of
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.units import count

ACTOR = "d0ctl"
"""Who makes them, in the history of the job."""


def make_lines(store: Store, *, now: float) -> None:
    """Make the lines of jobs that have waited only for the names; hold a job that has a fault."""
    for job in store.rows("jobs_with_open_lines"):
        try:
            _make(store, job["id"], job["name"], now)
        except (BadJobFile, Refused) as error:
            fault = error.faults[0] if isinstance(error, BadJobFile) else str(error)
            note = f"its groups of late outputs can't be made: {fault}"
            lifecycle.hold_job(store, job["id"], actor=ACTOR, note=note, now=now)


def _make(store: Store, job: int, name: str, now: float) -> None:
    """Read the job file of a job again, and correct the stages that depend on the groups."""
    from d0ctl.jobfile import reader  # imports yaml, which a daemon seldom needs

    known = text_of(store, job)
    assert known is not None
    spec = reader.read_text(
        known.text, known.source, known.directory, known.parameters, known_names(store, job)
    )
    outline = correct.plan(store, job, spec, only_late=True)
    if not outline.written:
        raise Refused("their names are not known")
    lines = outline.found.added_lines
    note = f"the names of late outputs are known: {count(lines, 'line')} more"
    correct.correct(store, job, spec, outline, actor=ACTOR, note=note, now=now)
    packages = len(outline.written) + len(outline.found.added)
    lifecycle.keep_action(store, verb="group", target=name, actor=ACTOR, note=note,
                          packages=packages, now=now)  # fmt: skip
