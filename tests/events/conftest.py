"""A desk in a home that takes events, and whose turns a test takes."""

from collections.abc import Iterator

import pytest

from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.drive import driving
from d0ctl.events import event_file


@pytest.fixture
def desk(home: Home) -> Iterator[Desk]:
    """All that a daemon has, with a key for events."""
    with driving(home, None) as desk:
        event_file.make_key(home)
        yield desk
