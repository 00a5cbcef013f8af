"""clone: submit a job once more, with other parameters."""

import re
from dataclasses import replace

from msgspec.structs import replace as changed

from d0ctl.actions.action import Request
from d0ctl.actions.jobs import submit
from d0ctl.actions.jobs.submit import SubmitOptions
from d0ctl.actions.selection import is_whole_job, jobs_of
from d0ctl.errors import BadUsage, Refused
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.submit import free_name, text_of
from d0ctl.store.views.job_files.known_names import known_names


def read_again(store: Store, request: Request[SubmitOptions]) -> JobSpec:
    """Read the job file of the job again, with its parameters and those that are given.

    Raises BadUsage, NotFound or Refused, and BadJobFile with every fault.
    """
    from d0ctl.jobfile import reader  # imports yaml, which most actions do not need

    jobs = jobs_of(store, request.target)
    if not is_whole_job(request.target) or len(jobs) > 1:
        raise BadUsage(f"`{request.target.brief}` is not one job, and `clone` takes just one",
                       hint=f"d0ctl clone {jobs[0].name}")  # fmt: skip
    found = text_of(store, jobs[0].id)
    if found is None:
        raise Refused(f"job `{jobs[0].name}` was not made from a job file, so it can't be cloned")
    values = {**found.parameters, **request.options.parameters}
    spec = reader.read_text(found.text, found.source, found.directory, values, known_names(store))
    if request.options.name is not None:
        return spec
    stem = re.sub(r"-[0-9]{3,}$", "", jobs[0].name)
    return changed(spec, name=free_name(store, stem), named=True)


ACTION = replace(
    submit.ACTION,
    name="clone",
    help="Submit a job once more, with other parameters.",
    more_help="Its job file is read again as it was when the job was submitted.",
    example="reco001 --set run=4712 --as reco002",
    exit_status="0 done, 2 bad usage or a fault in its job file, 3 no such job, 4 refused",
    prepare=submit.preparing(read_again),
    level="job",
    may_be_first=False,
    starts_packages=True,
    key="A",
    title="submit it once more",
)
