"""What `status` and `why` say while no daemon runs, and just after one has started."""

import time

from d0ctl.actions import apply, request
from d0ctl.actions.action import NodeName
from d0ctl.model import Address
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.views import browse
from tests.cli.conftest import Type
from tests.cli.test_pause import say
from tests.support.building import job, line, package
from tests.support.site import Site


def test_packages_that_may_wait_on_a_node_are_not_said_to_continue_or_to_begin_at_a_time(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in range(3)]), name="late"))
    site.launch("late/1/1/1")
    site.send("late/1/2/1")

    whole, waits = d0ctl("why", "late").stdout, d0ctl("why", "late/1/2/1").stdout
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    driven = d0ctl("why", "late/1/2/1").stdout

    assert whole.startswith("1 package continues in job `late`, but no daemon is running")
    assert "no daemon is running: if it waits there for a slot, it begins when one runs" in waits
    assert (
        "d0ctl daemon start" in waits and "begins in" not in waits and "begins about" not in waits
    )
    assert "no daemon is running" not in driven


def test_suspended_packages_are_not_said_to_continue(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in range(3)]), name="late"))
    say(site, site.launch("late/1/1/1"), "suspended", 2)

    alone = d0ctl("why", "late").stdout
    site.launch("late/1/2/1")
    beside = d0ctl("why", "late").stdout

    rest = "no daemon is running, so nothing new starts"
    assert alone.startswith(f"1 package is suspended in job `late`, and {rest}")
    assert beside.startswith(f"1 package continues in job `late`, but {rest}")


def test_a_drain_is_not_blamed_while_other_nodes_are_being_contacted(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("x"))]), name="late"))
    registry.add(site.store, Address("far", "ssh", "far"), cpus=1)
    drain = request("node drain", NodeName("localhost"))
    apply(site.store, drain, actor="me", note="control host", now=time.time())
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())

    starting = d0ctl("status").stdout
    site.up("far")
    with site.store.writing():
        contact.down(site.store, registry.named(site.store, "far").id, "no route", now=time.time())
    down = d0ctl("status").stdout

    assert "control host" not in starting and "node resume" not in starting
    assert "0 of 2 nodes up: `far` down" in down and "control host" in down


def test_jobs_beside_the_one_of_a_run_stand_still(site: Site, d0ctl: Type) -> None:
    for name in ("own", "other", "held"):
        site.submit(job(("a", [line(package("x"))]), name=name))
    d0ctl("hold", "held", "--yes")
    site.up()
    with site.store.writing():
        for lease in ("node 1", leases.job_lease(browse.job(site.store, "own").id)):
            leases.take_lease(site.store, lease, now=time.time())

    said = "no daemon is running, and the `run` of another job starts none of its packages"
    checked = d0ctl("status", "--check")
    assert (checked.exit_code, checked.stdout) == (
        1,
        f"failures: `other`: {said}; `held` is held\n",
    )
    explained = d0ctl("why", "other").stdout
    assert explained.startswith(f"job `other` stands still: {said}\n  $ d0ctl daemon start\n")
    assert "no daemon is running" in d0ctl("why", "other/1/1/1").stdout
    assert "no daemon is running" in d0ctl("eta", "other").stdout
    part = d0ctl("status", "other/1", "--check")
    assert (part.exit_code, said in part.stdout) == (5, True)
    assert "no daemon" not in d0ctl("why", "own").stdout + d0ctl("why", "own/1/1/1").stdout
    assert d0ctl("status", "own", "--check").exit_code == 0
