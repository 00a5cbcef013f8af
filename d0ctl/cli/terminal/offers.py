"""What TAB offers: jobs, stages and nodes from the database; nothing if there is none."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from d0ctl.cli import session
from d0ctl.errors import D0Error
from d0ctl.store.connection import Store
from d0ctl.store.views import names

MOST = 100
"""How many names are offered."""

Offer = Callable[[str], list[str]]
"""Completes the beginning of a word."""


def selectors(incomplete: str) -> list[str]:
    """Job names, and after a `/` the stages of that job by number."""
    job, slash, _ = incomplete.partition("/")
    if not slash:
        return job_names(incomplete)
    stages = _read(lambda store: names.stages(store, job))
    return _beginning(incomplete, (f"{job}/{stage}" for stage in stages))


def job_names(incomplete: str) -> list[str]:
    """Return names of jobs."""
    return _beginning(incomplete, _read(names.jobs))


def node_names(incomplete: str) -> list[str]:
    """Return names of nodes."""
    return _beginning(incomplete, _read(names.nodes))


def states(incomplete: str) -> list[str]:
    """Return names of statuses and phases."""
    from d0ctl.model import Phase, Status

    return _beginning(incomplete, dict.fromkeys([*map(str, Status), *map(str, Phase)]))


def reasons(incomplete: str) -> list[str]:
    """Reasons of failure."""
    from d0ctl.model import Reason

    return _beginning(incomplete, map(str, Reason))


def ends(incomplete: str) -> list[str]:
    """What `wait --until` waits for."""
    return _beginning(incomplete, ("done", "failed", "any"))


def _beginning(incomplete: str, words: Iterable[object]) -> list[str]:
    return [word for word in map(str, words) if word.startswith(incomplete)][:MOST]


def _read(look: Callable[[Store], Sequence[object]]) -> Sequence[object]:
    """Read from the store; return nothing if it can't be read: a shell must not see errors."""
    try:
        with session.reader() as store:
            return look(store)
    except D0Error:
        return []


OFFERS: Mapping[str, Offer] = {
    offer.__name__: offer for offer in (selectors, job_names, node_names, states, reasons, ends)
}
