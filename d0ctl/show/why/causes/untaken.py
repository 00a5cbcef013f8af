"""Packages that no node takes now, beside others of their job that run."""

from d0ctl.model import Phase, by_status
from d0ctl.schedule.node_state import serves
from d0ctl.show.why.causes import inputs_away
from d0ctl.show.why.common import MOST, Explanation, GroupPart
from d0ctl.show.why.subject import NO_NODE
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import JobStanding, Production
from d0ctl.units import count


def add(
    store: Store, site: Production, part: GroupPart, explanation: Explanation, now: float
) -> None:
    """Name packages whose inputs are out of reach, and one of the ready ones that no node takes."""
    if any(view.node.state == "down" for view in site.nodes):
        inputs_away.add_first(store, part, explanation, now)
    job = next((job for job in site.jobs if job.id == part.job.id), None)
    if job is None or job.standing.stands_still or job.standing.unfit:
        return  # what stops it is said
    if not any(view.node.takes for view in site.nodes):
        return  # so is that no node takes anything
    if not by_status(part.counts)["launched"] or not (number := _unserved(site, job)):
        return
    for row in part.sample([Phase.READY], MOST):
        command = f"d0ctl why {row.path}"
        if part.explain(row.path).reason == NO_NODE and command not in explanation.commands:
            is_all = part.path == part.job.name and number > 1
            which = (f"{count(number, 'ready package')}, such as `{row.path}`" if is_all
                     else f"`{row.path}`, which is ready")  # fmt: skip
            explanation.facts.append(f"no node that takes packages now can take {which}")
            explanation.commands.append(command)
            return


def _unserved(site: Production, job: JobStanding) -> int:
    """Return how many ready packages of a job only nodes could take that take nothing now."""
    nodes = [view.node for view in site.nodes]
    return sum(of.ready for of in job.work.requirements
               if not any(serves(node, of) for node in nodes))  # fmt: skip
