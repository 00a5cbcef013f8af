"""When nodes list their files again."""

import time

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.steps import inventory
from tests.daemon.contact import listed, turn, turn_until


def test_a_shorter_interval_counts_for_the_next_inventory(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory, "AGAIN_S", 1.0)
    turn_until(desk, lambda: listed(desk))
    (node,) = desk.inventory_due
    assert desk.inventory_due[node] > time.monotonic() + 3000
    with desk.store.writing():
        desk.store.change("keep_setting", name="defaults", value='{"inventory-every": 60}')

    turn(desk)

    assert desk.inventory_due[node] < time.monotonic() + 60
