"""Nodes that tests of the store share."""

import pytest

from d0ctl.store import Store


@pytest.fixture
def drained_localhost(store: Store) -> None:
    """Let this machine take no package."""
    with store.writing():
        store.connection.execute("update node set drained = 1")
