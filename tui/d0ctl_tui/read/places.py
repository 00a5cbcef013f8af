"""Visited rows of the tree, and the way to a typed path."""

import time
from collections import deque

from d0ctl import select
from d0ctl.errors import D0Error
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl_tui.read.outline import Path
from d0ctl_tui.read.tree_source import Source

REMEMBERED = 40


class Places:
    """The jump list."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.been: deque[str] = deque(maxlen=REMEMBERED)

    def remember(self, selector: str) -> None:
        """Add a visited row, the latest last, each once."""
        if selector in self.been:
            self.been.remove(selector)
        self.been.append(selector)

    def resolve(self, selector: str) -> Path:
        """Return the row of a path. Raises NotFound or BadUsage."""
        wanted = select.parse(selector)
        found: list[Path | D0Error] = []
        error = self.source.ask(lambda store: _resolve(self.source, store, wanted, found), None)
        del error
        if not found:
            raise D0Error(self.source.error or f"`{selector}` can't be looked up")
        if isinstance(found[0], D0Error):
            raise found[0]
        return self.source.shown(found[0])


def _resolve(
    source: Source, store: Store, wanted: select.Selector, found: list[Path | D0Error]
) -> None:
    try:
        found.append(_path(source, store, wanted))
    except D0Error as error:
        found.append(error)


def _path(source: Source, store: Store, wanted: select.Selector) -> Path:
    job = browse.job(store, wanted.job)
    if job.id not in source.jobs:
        source.job_list = source.job_list.showing_all
        source.jobs = source.job_list.ids(store, source.at or time.time())
    path: Path = (source.jobs.index(job.id),)
    if wanted.depth > 1:
        stage = browse.stage(store, job, wanted)
        path = (*path, stage.seq - 1)
        if wanted.depth > 2:
            browse.line(store, job, stage, wanted.line.first)
            path = (*path, wanted.line.first - 1)
        if wanted.depth > 3:
            browse.package(store, wanted)
            path = (*path, wanted.package.first - 1)
    return path
