"""The next try of a node that is down: when it is, and that a person can have it at once."""

import time
from contextlib import closing

import pytest
from msgspec.structs import replace

from d0ctl.actions import meeting
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import Loop
from d0ctl.daemon.steps.monitor import assign_couriers
from d0ctl.errors import NodeUnreachable
from d0ctl.model import Node
from d0ctl.nodes import courier
from d0ctl.store.nodes import contact, registry
from d0ctl.store.nodes.site import site_name
from tests.daemon.contact import Stub, turn_until
from tests.daemon.couriers import Links
from tests.support.site.packages import FACTS

WAIT_S = 3600.0


def localhost(desk: Desk) -> Node:
    """The row of the node of this machine."""
    return registry.named(desk.store, "localhost")


def test_a_node_that_fails_a_check_is_down_for_its_present_cause(
    desk: Desk, links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courier, "FIRST_WAIT_S", WAIT_S)
    links.ready.put(NodeUnreachable("connection refused"))
    Loop(desk).work([assign_couriers])
    turn_until(desk, lambda: localhost(desk).state == "down")
    links.ready.put(NodeUnreachable("its host key has changed"))
    away = replace(localhost(desk), kind="ssh", destination="nobody@127.0.0.1:1")

    with closing(meeting.check(desk.home, away, site_name(desk.store))) as findings:
        assert next(findings).ok is False
    turn_until(desk, lambda: localhost(desk).last_error == "its host key has changed")

    assert localhost(desk).state == "down"


def test_the_answer_to_a_check_is_the_last_contact_of_a_node_that_nobody_drives(
    desk: Desk,
) -> None:
    with desk.store.writing():
        contact.up(desk.store, localhost(desk).id, FACTS, now=1.0)
        contact.unknown(desk.store, localhost(desk).id, now=2.0)

    with closing(meeting.check(desk.home, localhost(desk), site_name(desk.store))) as findings:
        assert next(findings).ok

    assert (localhost(desk).contact or 0.0) > 2.0


def test_a_node_that_answers_a_check_is_tried_at_once(
    desk: Desk, links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courier, "FIRST_WAIT_S", WAIT_S)
    links.ready.put(NodeUnreachable("no route"))
    Loop(desk).work([assign_couriers])
    turn_until(desk, lambda: localhost(desk).state == "down")
    planned = (localhost(desk).next_try or 0.0) - time.time()
    links.ready.put(Stub())

    with closing(meeting.check(desk.home, localhost(desk), site_name(desk.store))) as findings:
        assert next(findings).ok
    turn_until(desk, lambda: localhost(desk).state == "up")

    assert WAIT_S - 60 < planned <= WAIT_S
