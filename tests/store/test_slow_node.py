"""A node that is ten times slower than it says: the others do the work, and it is named."""

import pytest

from d0ctl.store import Store
from d0ctl.store.views.job_files import eta
from tests.support.jobs import binary, job, package, phases, submitted
from tests.support.rows import read
from tests.support.site import Node, Site

PACKAGE_S = 100.0
"""What a package is expected to take; the clock of a site goes on by as much at each step."""

SLOW = 10


def turn(site: Site, node: Node, *, ends: bool) -> None:
    """Launch packages on the node, and let its running attempts end."""
    site.hand_out(node)
    site.order(node)
    if ends:
        for attempt, state in list(node.attempts.items()):
            if state == "running":
                node.end(attempt, "successful")
    site.deliver(node, node.spool)


@pytest.fixture
def site(store: Store) -> Site:
    """Three nodes, of which `farm2` is slow, and a job of forty packages."""
    made = Site.of(store, "farm1", "farm2", cpus=2)
    submitted(store, job("prod", [package(binary(runtime=PACKAGE_S)) for _ in range(40)]))
    return made


def test_the_other_nodes_do_the_work_and_the_slow_one_loses_nothing(
    store: Store, site: Site
) -> None:
    slow = site.node("farm2")
    others = [node for node in site.nodes.values() if node is not slow]

    for number in range(1, 4 * SLOW):
        site.schedule()
        for node in others:
            turn(site, node, ends=True)
        turn(site, slow, ends=number % SLOW == 0)
        if number == SLOW - 1:
            late = eta.stragglers(store, None, 99, now=site.now)
            assert {straggler.node for straggler in late} == {"farm2"}
        if set(phases(store).values()) == {"done"}:
            break

    assert set(phases(store).values()) == {"done"}
    nodes = [row[0] for row in read(store, "attempt", "node_name")]
    assert len(nodes) == 40, "none ran twice"
    assert nodes.count("farm2") <= 8
