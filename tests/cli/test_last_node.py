"""A node that d0ctl drained while no other node takes packages."""

import time

from d0ctl.doctor import admin_work
from d0ctl.model import Address
from d0ctl.store.nodes import leases, registry
from tests.cli.conftest import Type
from tests.cli.test_bad_nodes import fail_on_hole
from tests.support.building import production
from tests.support.site import Site


def test_its_packages_are_not_said_to_be_tried_elsewhere(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=30))
    registry.add(site.store, Address("hole", "ssh", "hole"), cpus=1)
    for name in ("localhost", "hole"):
        site.up(name, machine_id=name)
    for number in range(1, 8):
        site.finish(f"prod/1/{number}/1")
    for number in range(8, 11):
        fail_on_hole(site, f"prod/1/{number}/1")
    leases.take_lease(site.store, "daemon", now=time.time())
    alone = "no other node takes packages now: if the packages are the cause, resume this one\n"
    assert alone not in d0ctl("why", "hole").stdout

    d0ctl("node", "drain", "localhost")

    status = d0ctl("status").stdout
    assert "tried elsewhere now" not in status and "d0ctl why hole" in status
    (finding,) = admin_work.faulty_nodes(site.store)
    assert finding.advice == "d0ctl why --node hole"
    answer = d0ctl("why", "hole").stdout
    assert alone in answer and answer.count("$ d0ctl node resume hole\n") == 1
