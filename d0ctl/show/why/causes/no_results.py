"""Why a job has no results: its files are not kept, or not copied to results/."""

from shlex import quote

from d0ctl.model import Group
from d0ctl.store.connection import Store
from d0ctl.store.jobs.submission.submit import text_of
from d0ctl.store.views import file_locations, left_out
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count


def not_kept(store: Store, job: JobSummary) -> list[str]:
    """Say which files of a successful job without results are not kept, by its last package."""
    found = left_out.not_kept(store, job.id) if job.status == Group.SUCCESSFUL else None
    if found is None or file_locations.results(store, job.id):
        return []
    more = left_out.count_not_kept(store, job.id) - 1
    at_least = "at least " if job.packages > left_out.MOST_COUNTED else ""
    others = f"; likewise of {at_least}{count(more, 'more package')}" if more > 0 else ""
    return [f"`{found[0]}`: {found[1]}{others}"]


def not_copied(store: Store, job: JobSummary) -> list[str]:
    """Say which outputs are no results because of their dispositions, and how they become some."""
    found = left_out.not_copied(store, job.id)
    if found is None:
        return []
    more = f", and {count(found.files - 1, 'more file')} like it" if found.files > 1 else ""
    text, name = text_of(store, job.id), quote(job.name)
    has_file = text is not None and text.has_file
    file, option = ("the job file", "") if has_file else (f"`d0ctl export {name}`", " --file FILE")
    add = f": add that to {file}, then `d0ctl update {name}{option}`"
    return [f"no package reads `{found.name}`, but as it has a disposition, it is copied to "
            f"results/ only with `result: yes`{more}{'' if store.home.archive else add}"
            ]  # fmt: skip
