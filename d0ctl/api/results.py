"""The finished final outputs of a selection."""

import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from d0ctl.actions.selection import jobs_of
from d0ctl.select import Selector
from d0ctl.show.job_end import remarks_on
from d0ctl.show.lists import results_unlisted
from d0ctl.store.connection import Store
from d0ctl.store.files.selected_files import local_path, pages, select_results
from d0ctl.store.views import selection
from d0ctl.store.views.shapes import JobSummary


def warn(store: Store, jobs: Sequence[JobSummary], stacklevel: int) -> None:
    """Issue as Python warnings what results lack, what is out of date, and what is mixed."""
    for remark in [remark for job in jobs for remark in remarks_on(store, job)]:
        warnings.warn(remark, stacklevel=stacklevel)


def warn_of_ended(store: Store, wanted: Selector) -> None:
    """Warn as `d0ctl wait` and `d0ctl run` do at the end of jobs."""
    warn(store, jobs_of(store, wanted), stacklevel=5)


def paths_of(store: Store, wanted: Selector, name: str) -> list[Path]:
    """Return where they are on this machine, by a name with wildcards; warn of mixed results."""
    makers = None
    if not wanted.names_jobs:
        selected = selection.choose(store, wanted, now=time.time(), lenient=True)
        makers = {package.path for package in selection.packages(selected)}
    jobs = jobs_of(store, wanted)
    warn(store, jobs, stacklevel=4)
    rows = (row for job in jobs for row in pages(select_results(store, job.name, name), 0))
    own = [row for row in rows if not row.dropped and (makers is None or row.maker in makers)]
    for remark in results_unlisted(own):
        warnings.warn(remark, stacklevel=3)
    return [Path(path) for row in own if (path := local_path(store.home, row)) is not None]
