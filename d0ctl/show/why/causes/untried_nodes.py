"""Nodes that could take a package, and on which it has not failed as it did last."""

from typing import NamedTuple

from d0ctl.show.why.stopped_job import in_quotes
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import requirement_of_package
from d0ctl.store.nodes.standstill import node_views
from d0ctl.store.views import one_package
from d0ctl.store.views.policies import of_package
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView


class Untried(NamedTuple):
    """What is said of these nodes, and whether one of them takes packages now."""

    fact: str
    takes: bool


def untried(store: Store, package: PackageView, last: AttemptView) -> Untried | None:
    """Return the untried nodes for a package whose policy tries others after such a failure.

    Nodes on which others of its stage failed alike are none, and attempts before an update of
    what it runs do not count. None if there are no such nodes.
    """
    if not last.reason or not of_package(store, package.id).rule(last.reason).elsewhere:
        return None
    tried = {
        attempt.node_name
        for attempt in one_package.attempts(store, package.id)
        if attempt.reason == last.reason and (attempt.ended or 0.0) > (package.redefined or 0.0)
    }
    tried |= {row.node_name for row in one_package.alike_by_node(store, package.stage_id, last)}
    requirement = requirement_of_package(store, package.id)
    views = [view for view in node_views(store)
             if view.name not in tried and view.node.misfit(requirement) is None]  # fmt: skip
    taking = [view.name for view in views if view.node.takes]
    if not views:
        return None
    names = taking or [view.name for view in views]
    have = "has" if len(names) == 1 else "have"
    can = "can take it now" if taking else f"take{'s' * (len(names) == 1)} no packages now"
    return Untried(f"{in_quotes(names)}, which {have} not been tried, {can}", bool(taking))
