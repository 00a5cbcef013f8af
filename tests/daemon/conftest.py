"""A desk of a home, whose turns a test takes."""

from collections.abc import Iterator

import pytest

from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.drive import driving


@pytest.fixture
def desk(home: Home) -> Iterator[Desk]:
    """All that a daemon has, which does only what a test makes it do."""
    with driving(home, None) as desk:
        yield desk
