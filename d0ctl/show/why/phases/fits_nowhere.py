"""Waiting packages that no node can take, also once their inputs exist."""

from d0ctl.show.why.common import MOST, Explanation, GroupPart
from d0ctl.show.why.phases.free_slots import close_matches
from d0ctl.show.why.subject import Subject
from d0ctl.store.connection import Store
from d0ctl.store.nodes import fitting, registry
from d0ctl.store.nodes.catalogue import requirement_of_package


def add(store: Store, part: GroupPart, explanation: Explanation, now: float) -> None:
    """Add what no node can take of the waiting packages of a job, a stage or a line."""
    found = fitting.misfits_waiting(store, part.job.id, *map(int, part.path.split("/")[1:]),
                                    now=now)  # fmt: skip
    texts = fitting.not_taken([*found.values()])
    explanation.facts += [text for text in texts if text not in explanation.facts]
    explanation.commands += [f"d0ctl why {path}" for path in [*found][:MOST]]


def of_package(subject: Subject) -> None:
    """Add that no node can take a waiting package, and with which requests one could."""
    store, package = subject.store, subject.package.id
    if found := fitting.misfits_of_package(store, package, now=subject.now):
        subject.explanation.facts += fitting.not_taken(found)
        close_matches(subject, registry.capacities(store), requirement_of_package(store, package))
