"""Nodes and mail that need a person are reported, not only what is broken in the home."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.store.mail import mail_queue
from d0ctl.store.nodes import contact, registry
from tests.doctor.conftest import Found
from tests.doctor.planting import only
from tests.support.building import production
from tests.support.rows import change, insert, value
from tests.support.site import Site


def down(site: Site, error: str) -> None:
    """The node `far` stops answering."""
    with site.store.writing():
        contact.down(site.store, registry.named(site.store, "far").id, error, now=time.time())


@pytest.fixture
def far(site: Site) -> int:
    """A node with that name."""
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    return registry.named(site.store, "far").id


def test_a_node_that_is_down_is_reported_if_packages_are_on_it(
    site: Site, found: Found, far: int
) -> None:
    site.submit(production())
    down(site, "connection refused")
    assert found() == []

    site.launch("prod/1/1/1", "far")
    down(site, "connection refused")

    assert (only(found).check, only(found).subject) == ("node", "far")
    assert only(found).detail == "is down with 1 package: connection refused"
    assert only(found).advice == "d0ctl node check far"


def test_a_node_with_another_host_key_is_reported(site: Site, found: Found, far: int) -> None:
    down(site, "the host key of `far` has changed: it is SHA256:x")

    assert only(found).detail == "is down: the host key of `far` has changed: it is SHA256:x"


def test_a_node_that_d0ctl_drained_is_reported(site: Site, found: Found, far: int) -> None:
    site.submit(production())
    with site.store.writing():
        insert(site.store, "bad_node", node_id=far, job_id=1, stage_id=1, since=5.0, began=1.0,
               evidence="{}", next_try=9e9)  # fmt: skip

    nodes = [(finding.detail, finding.advice) for finding in found() if finding.check == "node"]
    detail = "was drained by d0ctl: packages failed there in a row"
    assert nodes == [(detail, "d0ctl why --node far")]


def test_a_node_with_a_wrong_clock_is_reported_while_it_is_in_contact(
    site: Site, found: Found, far: int
) -> None:
    with site.store.writing():
        contact.up(site.store, far, {"time": 1e9 - 7200.0}, now=1e9)

    assert (only(found).check, only(found).subject) == ("clock", "far")
    assert only(found).detail == "is 2 h 00 min behind the clock of this machine"
    down(site, "connection refused")
    assert found() == []


def test_files_that_three_tries_could_not_transfer_are_reported(site: Site, found: Found) -> None:
    site.submit(production())
    file = value(site.store, "file", "id", name="gen-1")
    insert(site.store, "transfer", file_id=file, cluster_id=1, wanted=1.0, tries=2, last_error="no")
    assert found() == []

    change(site.store, "transfer", tries=3)

    assert (only(found).check, only(found).subject) == ("transfer", "prod")
    assert only(found).detail == "1 file can't be transferred: no"
    assert only(found).advice == "d0ctl why prod"


def test_mail_that_could_not_be_sent_is_reported(site: Site, found: Found) -> None:
    with site.store.writing():
        mail_queue.post(site.store, "eve@lab.example", "<1>", "x", "y", now=1.0)
    assert found() == []

    with site.store.writing():
        mail_queue.not_sent(site.store, 1, "connection refused", not_before=2.0)

    assert (only(found).check, only(found).subject) == ("mail", "1 message")
    assert only(found).detail == "undelivered: connection refused"
