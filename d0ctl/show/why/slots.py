"""Which packages use the slots that a job waits for."""

from d0ctl.model import Phase, by_status
from d0ctl.select import parse
from d0ctl.show.why.common import MOST
from d0ctl.show.why.package import package
from d0ctl.store.connection import Store
from d0ctl.store.views import browse


def taken(store: Store, name: str, now: float) -> str | None:
    """Say who uses the slots that the job needs.

    None if it has slots itself, or waits for something else.
    """
    job = browse.job(store, name)
    if by_status(job.counts)["launched"] or job.counts.get("assigned"):
        return None
    for row in browse.in_phases(store, job.id, [Phase.READY], 1):
        explanation = package(store, browse.package(store, parse(row.path)), now)
        if "is_no_node_free" in explanation.details:
            return f"`{name}` waits for a free slot: {'; '.join(explanation.facts[:MOST])}"
    return None
