"""The job file that corrects a job: as it is now, another one, or one that the job had."""

from collections.abc import Mapping
from pathlib import Path

from d0ctl.errors import BadJobFile, BadUsage, Refused
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit
from d0ctl.store.jobs.correction import counterparts
from d0ctl.store.jobs.correction.texts import has_text, is_taken_back, previous_text
from d0ctl.store.jobs.scripts import Position
from d0ctl.store.jobs.submission.submit import JobText, text_of
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.store.views.shapes import JobSummary, StageSummary


def read(
    store: Store,
    job: JobSummary,
    file: str | None,
    previous: bool,
    parameters: Mapping[str, str],
    *,
    follows_job: bool,
) -> JobSpec:
    """Read it with the parameters of the submission and those given now.

    A job from a command, from Python or from stdin has no file: its stored text is read again. So
    it is if what `follows_job` runs or accepts packages only, and the file was taken back.
    Raises BadUsage or Refused, and BadJobFile with every fault.
    """
    from d0ctl.jobfile import reader  # imports yaml, which most actions do not need
    from d0ctl.jobfile.source import with_priority

    if previous and file is not None:
        raise BadUsage("--previous and --file exclude each other", hint=f"d0ctl history {job.name}")
    known = text_of(store, job.id)
    stored = _previous(store, job) if previous else known
    values = {**(_set(stored) if stored else {}), **parameters}
    names = known_names(store, job.id)
    is_stored = previous or (stored is not None and not stored.has_file)
    is_stored |= follows_job and is_taken_back(store, job.id)
    if stored is not None and file is None and is_stored:
        try:
            spec = reader.read_text(stored.text, stored.source, stored.directory, values, names,
                                    is_seen=stored.has_file)  # fmt: skip
        except BadJobFile as error:
            if not previous:
                raise
            raise Refused(f"the job file before the last update can't be taken again: {error}",
                          hint=f"d0ctl history {job.name}") from error  # fmt: skip
    else:
        spec = reader.read(_path(job, file, stored), values, names)
    spec = with_priority(spec, job.priority, known.text if known else "")
    return counterparts.with_own_priorities(store, job.id, spec, lambda: (
        spec if has_text(store, job.id, spec) else _known_spec(store, job, known)
    ))  # fmt: skip


def lacks_line(store: Store, job: JobSummary, stage: StageSummary, line: int, since: float) -> bool:
    """Return whether an update since then took a job file that does not have a line."""
    last, known = audit.on_job_since(store, job.name, ["update"], 0), text_of(store, job.id)
    if last is None or last.at < since or known is None:
        return False
    spec = _known_spec(store, job, known)
    if spec is None:
        return False
    asked = Position(0, stage.seq, line, 1, stage.name)
    return not counterparts.in_own(store, job.id, spec, [asked])


def _known_spec(store: Store, job: JobSummary, known: JobText | None) -> JobSpec | None:
    """Read the job file that a job has; None if it has none, or one that has faults now."""
    if known is None:
        return None
    from d0ctl.jobfile import reader  # late, as above

    names = known_names(store, job.id)
    try:
        return reader.read_text(known.text, known.source, known.directory, known.parameters, names,
                                is_seen=known.has_file)  # fmt: skip
    except BadJobFile:
        return None


def _previous(store: Store, job: JobSummary) -> JobText:
    """Return the job file before the last update. Raises Refused if there is none."""
    if (previous := previous_text(store, job.id)) is not None:
        return previous
    if audit.on_job_since(store, job.name, ["update"], 0) is None:
        raise Refused(f"job `{job.name}` was not updated, so it has no previous job file",
                      hint=f"d0ctl history {job.name}")  # fmt: skip
    raise Refused(f"the updates of job `{job.name}` did not change its job file, so it has no "
                  "previous one", hint="if a file that it reads was changed, change it back, then "
                  f"`d0ctl update {job.name} --again`")  # fmt: skip


def _path(job: JobSummary, file: str | None, known: JobText | None) -> Path:
    """Return the path of the job file. Raises Refused if it is not known or does not exist."""
    if file is not None:
        return Path(file)
    hint = f"d0ctl update {job.name} --file FILE"
    if known is None:
        raise Refused(f"job `{job.name}` was not submitted from a job file", hint=hint)
    if not Path(known.source).exists():
        raise Refused(f"the job file of `{job.name}` does not exist: {known.source}", hint=hint)
    return Path(known.source)


def _set(known: JobText) -> dict[str, str]:
    """Return the parameters that a job has and its job file lacks."""
    from d0ctl.jobfile.source import own_parameters

    own = own_parameters(known.text)
    return {name: text for name, text in known.parameters.items() if own.get(name) != text}
