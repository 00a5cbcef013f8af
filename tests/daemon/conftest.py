"""A desk of a home, whose turns a test takes."""

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.drive import driving
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes import courier as couriers
from d0ctl.nodes import link
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import Report
from d0ctl.nodes.transports.transport import Address
from tests.daemon.couriers import Links
from tests.daemon.field import Field
from tests.support.site import Site


@pytest.fixture
def site(real_site: Site) -> Site:
    """A site for real processes."""
    return real_site


@pytest.fixture
def desk(home: Home) -> Iterator[Desk]:
    """All that a daemon has, which does only what a test makes it do."""
    with driving(home, None) as desk:
        yield desk


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> Links:
    """Stand in for the way to a node."""
    links = Links()
    monkeypatch.setattr(couriers, "open_link", links.open)
    monkeypatch.setattr(couriers, "FIRST_WAIT_S", 0.0)
    return links


@pytest.fixture
def reports() -> "queue.SimpleQueue[Report]":
    """The reports of the courier."""
    return queue.SimpleQueue()


@pytest.fixture
def courier(
    links: Links, reports: "queue.SimpleQueue[Report]", tmp_path: Path
) -> Iterator[Courier]:
    """A courier at work."""
    site = link.Site("site", tmp_path, tmp_path, tmp_path)
    courier = Courier(1, Address("n1"), site, deliver=lambda *_: None, report=reports.put)
    courier.start()
    yield courier
    links.ready.put(NodeUnreachable("the test is over"))
    courier.stop()


@pytest.fixture
def field(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Field]:
    """A daemon's hands in a home without any node."""
    with driving(home, None) as desk:
        field = Field(home, desk, monkeypatch)
        yield field
        field.end()
