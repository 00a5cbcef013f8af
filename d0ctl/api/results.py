"""The finished final outputs of a selection."""

import time
import warnings
from pathlib import Path

from d0ctl.actions.selection import jobs_of
from d0ctl.actions.wording import earlier_readers
from d0ctl.select import Selector
from d0ctl.show.lists import MOST_READ, shortfalls
from d0ctl.show.why.phases.successful import outdated, read_from_outside
from d0ctl.store.connection import Store
from d0ctl.store.files.edited_files import done_with_earlier
from d0ctl.store.files.selected_files import local_path, pages, select_results
from d0ctl.store.views import selection
from d0ctl.store.views.left_out import short_packages
from d0ctl.store.views.shapes import JobSummary


def paths_of(store: Store, wanted: Selector, name: str) -> list[Path]:
    """Return where they are on this machine, by a name with wildcards; warn of mixed results."""
    makers = None
    if not wanted.names_jobs:
        selected = selection.choose(store, wanted, now=time.time(), lenient=True)
        makers = {package.path for package in selection.packages(selected)}
    jobs = jobs_of(store, wanted)
    for remark in [remark for job in jobs for remark in remarks_on(store, job)]:
        warnings.warn(remark, stacklevel=3)
    rows = (row for job in jobs for row in pages(select_results(store, job.name, name), 0))
    own = (row for row in rows if makers is None or row.maker in makers)
    return [Path(path) for row in own if (path := local_path(store.home, row)) is not None]


def remarks_on(store: Store, job: JobSummary) -> list[str]:
    """Say what its results lack, what is out of date, and which files from outside have changed."""
    found = done_with_earlier(store, job.id)
    return [
        *shortfalls(job.name, short_packages(store, job.id, MOST_READ)),
        *read_from_outside(store, job),
        *outdated(store, job),
        *(earlier_readers(job.name, name, number) for name, number in found.items()),
    ]
