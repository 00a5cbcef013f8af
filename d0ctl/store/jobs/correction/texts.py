"""The job file of a job, and the one that it had before its last correction."""

import json
import zlib
from pathlib import Path

from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.submit import JobText, text_of


def previous_text(store: Store, job: int) -> JobText | None:
    """Return the job file that a job had before; None if it was not corrected."""
    packed = store.value("previous_job_text", job=job)
    if packed is None:
        return None
    known = json.loads(zlib.decompress(packed))
    return JobText(known["text"], Path(known["directory"]), known["source"], known["parameters"])


def has_text(store: Store, job: int, spec: JobSpec) -> bool:
    """Return whether a job has this job file with these parameters already."""
    texts = parameter_texts(spec)
    return text_of(store, job) == JobText(spec.text, Path(spec.directory), spec.source, texts)


def parameter_texts(spec: JobSpec) -> dict[str, str]:
    """Return the parameters of a job file that are texts, as `--set` has them."""
    return {name: value for name, value in spec.parameters.items() if isinstance(value, str)}


def keep_text(store: Store, job: int, spec: JobSpec) -> None:
    """Record the new job file of a job and the previous one; the row of the job is left alone."""
    if has_text(store, job, spec):
        return
    before = text_of(store, job)
    known = before and {**before._asdict(), "directory": str(before.directory)}
    store.change(
        "correct_job_text",
        job=job,
        text=zlib.compress(spec.text.encode()),
        previous=known and zlib.compress(json.dumps(known).encode()),
    )


def is_changed_on_disk(store: Store, job: int) -> bool:
    """Return whether the job file of a job was changed after the job was submitted or updated."""
    known = text_of(store, job)
    if known is None or not known.has_file:
        return False
    path = Path(known.source)
    try:
        if not path.is_file():
            return False
        data = path.read_bytes()
    except (OSError, ValueError):
        return False
    return data.decode("utf-8-sig", errors="replace") != known.text
