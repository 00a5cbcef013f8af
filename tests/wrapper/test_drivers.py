"""Relays of two daemons on one node: only one of them serves it."""

from tests.support.waiting import PATIENCE_S
from tests.wrapper.client import binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.test_death import states


def test_the_relay_of_another_daemon_is_left_alone_while_that_is_in_contact(
    connect: Connect,
) -> None:
    first = connect(driver="desk /home/emmy")
    first.wait("hello")
    first.launch(launch(1, binary("sleep", "300")))
    first.started(1)

    second = connect(driver="lab /home/emmy")

    assert second.wait("driven")["driver"] == "desk /home/emmy"
    assert second.process.wait(PATIENCE_S) == 1
    first.close()
    assert states(connect(driver="lab /home/emmy")) == {1: "running"}


def test_a_daemon_takes_over_from_its_own_relay(connect: Connect) -> None:
    first = connect(driver="désk /home/emmy")
    first.wait("hello")

    assert states(connect(driver="désk /home/emmy")) == {}
    assert first.process.wait(PATIENCE_S) == 0


def test_a_daemon_of_an_older_home_is_refused_once_a_restored_one_was_there(
    connect: Connect,
) -> None:
    old = connect(driver="lab /home/emmy")
    old.wait("hello")
    old.close()
    new = connect(driver="desk /home/emmy", restored=1700000000.5)
    new.wait("hello")
    new.launch(launch(1, binary("sleep", "300")))
    new.started(1)
    new.close()

    refused = connect(driver="lab /home/emmy")

    assert refused.wait("superseded")["driver"] == "desk /home/emmy"
    assert refused.process.wait(PATIENCE_S) == 1
    for restored in (1700000000.5, 1700000001.0):
        later = connect(driver="desk /home/emmy", restored=restored)
        assert states(later) == {1: "running"}
        later.close()
