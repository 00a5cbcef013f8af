"""`status --check` at a site with drained or full nodes, or with files that do not arrive."""

import time

from d0ctl.model import Address
from d0ctl.store.nodes import leases, registry
from tests.cli.conftest import Type
from tests.support.building import job, line, package, production
from tests.support.rows import change, insert, value
from tests.support.site import Site


def test_drained_nodes_are_named_beside_those_that_work(site: Site, d0ctl: Type) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.submit(production())
    site.up()
    for name in ("farm01", "farm02"):
        registry.add(site.store, Address(name, "ssh", name), cpus=2)
        site.up(name)
        d0ctl("node", "drain", name)

    text = "moving: 1 job; nodes `farm01` and `farm02` drained\n"
    assert d0ctl("status", "-q").stdout == text


def test_drained_nodes_are_named_while_packages_still_run_if_all_are_drained(
    site: Site, d0ctl: Type
) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.submit(production())
    site.up()
    registry.add(site.store, Address("farm01", "ssh", "farm01"), cpus=2)
    site.up("farm01")
    site.launch("prod/1/1/1")
    for name in ("localhost", "farm01"):
        d0ctl("node", "drain", name)

    text = "moving: 1 job; nodes `localhost` and `farm01` drained\n"
    assert d0ctl("status", "-q").stdout == text


def test_a_node_with_a_full_disk_is_named_beside_one_that_works(site: Site, d0ctl: Type) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.submit(production())
    site.up()
    registry.add(site.store, Address("farm01", "ssh", "farm01"), cpus=2)
    site.up("farm01", disk_free=1_400_000, disk_total=63_000_000)

    assert d0ctl("status", "-q").stdout == "moving: 1 job; disk of `farm01` full\n"


def test_a_job_for_a_node_with_a_full_disk_is_not_said_to_lack_one_that_is_up(
    site: Site, d0ctl: Type
) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.submit(job(("make", [line(package("a", nodes=("farm01",)))]), name="prod"))
    site.up()
    registry.add(site.store, Address("farm01", "ssh", "farm01"), cpus=2)
    site.up("farm01", disk_free=1_400_000, disk_total=63_000_000)

    text = "stands still: `prod`: no node that takes packages now can take its 1 package; "
    assert d0ctl("status", "-q").stdout == f"{text}disk of `farm01` full\n"


def test_files_that_can_not_be_transferred_need_a_person(site: Site, d0ctl: Type) -> None:
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())
    site.submit(production())
    site.up()
    file = value(site.store, "file", "id", name="gen-1")
    insert(site.store, "transfer", file_id=file, cluster_id=1, wanted=1.0, tries=2, last_error="no")
    before = d0ctl("status", "-q")
    change(site.store, "transfer", tries=3)

    check, status = d0ctl("status", "-q"), d0ctl("status")

    text = "`prod`: 1 file can't be transferred: no"
    assert (before.exit_code, before.stdout) == (0, "moving: 1 job\n")
    assert (check.exit_code, check.stdout) == (1, f"failures: {text}\n")
    assert text in status.stdout and "d0ctl why prod" in status.stdout


def test_why_of_a_job_names_what_keeps_its_results_from_being_copied(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "package", {"phase": "running"}, phase="transferring")
        file = value(site.store, "file", "id", name="gen-1")
        insert(site.store, "transfer", file_id=file, cluster_id=1, wanted=1.0, tries=3, result=1,
               last_error="the disk is full")  # fmt: skip

    for part in ("prod", "prod/1", "prod/1/1"):
        text = "- file `gen-1` is being copied, 3 tries so far: the disk is full\n"
        assert text in d0ctl("why", part).stdout
    assert d0ctl("status", "prod").stdout.count("the disk is full") == 1
