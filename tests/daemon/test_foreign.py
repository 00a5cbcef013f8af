"""A node is believed only of its own attempts, even if it can sign messages of all."""

import json

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import Loop
from d0ctl.daemon.steps.apply_messages import MOST_REFUSED
from tests.daemon.contact import start_message, turn
from tests.daemon.couriers import outcomes
from tests.daemon.test_refused import launched, torn_end
from tests.support.jobs import NOW
from tests.support.messages import end_message


def signed(desk: Desk, attempt: int) -> str:
    """The end message of an attempt that went well, with its true token."""
    end = end_message(attempt, "successful")
    token = json.loads(start_message(desk, attempt))["token"]
    return json.dumps({**end, "token": token, "time": NOW}) + "\n"


def test_an_end_message_signed_by_another_node_is_rejected(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    (attempt,) = launched(desk, 1)

    desk.dropbox.deliver("thief", [signed(desk, attempt)])
    turn(desk)

    assert outcomes(desk.store) == [None]
    assert f"node thief sent messages for attempts of other nodes: [{attempt}]" in caplog.text
    assert not list(desk.dropbox.new.iterdir())

    desk.dropbox.deliver("localhost", [signed(desk, attempt)])
    turn(desk)

    assert outcomes(desk.store) == ["successful"]


def test_a_torn_end_that_another_node_has_signed_fails_no_attempt(desk: Desk) -> None:
    (attempt,) = launched(desk, 1)

    for _ in range(MOST_REFUSED + 1):
        desk.dropbox.deliver("thief", [torn_end(desk, attempt)])
        turn(desk)

    assert desk.refused_ends == {}
    assert outcomes(desk.store) == [None]


def test_messages_that_are_applied_one_by_one_keep_their_sender(desk: Desk) -> None:
    (attempt,) = launched(desk, 1)
    desk.dropbox.deliver("thief", [signed(desk, attempt)])

    Loop(desk)._leave_out(desk.dropbox.collect())

    assert outcomes(desk.store) == [None]
