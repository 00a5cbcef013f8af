"""Warnings of a job file that need the jobs and the earlier runs that a home knows."""

from collections.abc import Iterator

from d0ctl.actions import wording
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.files.remakes import remakes
from d0ctl.store.views.job_files.forecast import unmade
from d0ctl.units import size


def of_home(store: Store, spec: JobSpec, source: str) -> Iterator[str]:
    """Warn if packages of other jobs run again for files that this one reads, or do not run, and
    if earlier runs used more memory than the packages request.
    """
    found = remakes(store, spec.others) if spec.others else None
    if found is not None:
        yield f"{source}: warning: {wording.run_again(found)}"
    for absent in unmade(store, spec.others):
        yield f"{source}: warning: {wording.unmade(absent)}"
    yield from of_memory(store, spec, source)


def of_memory(store: Store, spec: JobSpec, source: str) -> Iterator[str]:
    """Warn if earlier runs used more memory than the packages request."""
    from d0ctl.store.jobs.submission.urgency import beyond_requests  # late: few actions submit

    for stage, memory, request in beyond_requests(store, spec):
        used = f"{size(memory.middle)} of memory ({size(memory.low)} to {size(memory.high)})"
        yield (f"{source}: warning: packages of `{stage}` request {size(request)} and use about "
               f"{used}")  # fmt: skip
