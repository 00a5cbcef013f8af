"""What TAB offers: jobs, stages and nodes out of the database; nothing where there is none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from d0ctl.cli import session
from d0ctl.errors import D0Error
from d0ctl.store.connection import Store

MOST = 100
"""How many names are offered."""


@contextmanager
def _quietly(context: typer.Context) -> Iterator[Store | None]:
    """The store, or None where it can't be read: a shell must not hear of it."""
    asked = context.find_root().params.get("home")
    if asked is not None:
        session.settings.home = asked
    try:
        with session.reader() as store:
            yield store
    except D0Error:
        yield None


def selectors(context: typer.Context, incomplete: str) -> list[str]:
    """Job names, and after a `/` the stages of that job by number."""
    from d0ctl.store.views import browse

    with _quietly(context) as store:
        if store is None:
            return []
        job, slash, rest = incomplete.partition("/")
        if slash:
            return _stages(store, job, rest)
        return [name for name in browse.job_names(store) if name.startswith(incomplete)][:MOST]


def _stages(store: Store, job: str, rest: str) -> list[str]:
    from d0ctl.store.views import browse

    found = browse.jobs(store, job) if job in browse.job_names(store) else []
    if not found:
        return []
    names = [f"{job}/{stage.seq}" for stage in browse.stages(store, found[0])]
    return [name for name in names if name.startswith(f"{job}/{rest}")][:MOST]


def job_names(context: typer.Context, incomplete: str) -> list[str]:
    """Names of jobs."""
    from d0ctl.store.views import browse

    with _quietly(context) as store:
        names = browse.job_names(store) if store else []
    return [name for name in names if name.startswith(incomplete)][:MOST]


def node_names(context: typer.Context, incomplete: str) -> list[str]:
    """Names of nodes."""
    from d0ctl.store.nodes import registry

    with _quietly(context) as store:
        names = registry.names(store) if store else []
    return [name for name in names if name.startswith(incomplete)][:MOST]


def states(incomplete: str) -> list[str]:
    """Names of statuses and phases."""
    from d0ctl.model import Phase, Status

    names = dict.fromkeys([*map(str, Status), *map(str, Phase)])
    return [name for name in names if name.startswith(incomplete)]


def reasons(incomplete: str) -> list[str]:
    """Reasons of failure."""
    from d0ctl.model import Reason

    return [reason.value for reason in Reason if reason.startswith(incomplete)]


Completer = Callable[[typer.Context, str], list[str]]
