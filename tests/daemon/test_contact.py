"""What passes between the loop, its couriers and real relays, at the worst moments."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from d0ctl import daemon
from d0ctl.agents.control import Control
from d0ctl.agents.oversee import look_after
from d0ctl.config import Home
from d0ctl.store import Store
from tests.support.jobs import job, phases, simple, submitted
from tests.support.waiting import wait_until

PATIENCE_S = 60.0


@pytest.fixture
def control(home: Home) -> Iterator[Control]:
    """All that a daemon has, which does only what a test makes it do."""
    with daemon.driving(home, None) as control:
        yield control


def turn(control: Control) -> None:
    """A whole turn of the daemon, the slow steps included."""
    control.slow_done = 0.0
    control.wake.set()
    daemon._turn(control, threading.Event())


def turn_until(control: Control, condition: Callable[[], object]) -> None:
    """Turn after turn until something is true."""

    def is_true() -> object:
        turn(control)
        return condition()

    wait_until(is_true, PATIENCE_S)


def outcomes(store: Store) -> list[str | None]:
    """How each attempt ended, in their order."""
    return [row[0] for row in store.connection.execute("select outcome from attempt order by id")]


def reach_localhost(control: Control) -> None:
    """Let the courier shake hands with a relay, and leave what it reports unheard."""
    with control.store.writing():
        control.store.connection.execute("update node set state = 'up'")
        control.afterwards = []
        look_after(control, 0.0)
    for action in control.afterwards:
        action()
    wait_until(lambda: not control.mailbox.empty(), PATIENCE_S)


def test_what_a_relay_listed_is_never_held_against_later_launches(
    control: Control, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    submitted(control.store, job("job", [simple(f"while [ ! -e {gate} ]; do sleep 0.05; done")]))
    reach_localhost(control)
    daemon._work(control, ())
    if outcomes(control.store):
        wait_until(lambda: any(control.dropbox.new.iterdir()), PATIENCE_S)
    turn(control)
    turn(control)
    assert outcomes(control.store) in ([], [None])
    gate.touch()
    turn_until(control, lambda: set(phases(control.store).values()) == {"done"})
    assert outcomes(control.store) == ["successful"]
