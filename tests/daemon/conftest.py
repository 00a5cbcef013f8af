"""A control of a home, whose turns a test takes."""

from collections.abc import Iterator

import pytest

from d0ctl import daemon
from d0ctl.agents.control import Control
from d0ctl.config import Home


@pytest.fixture
def control(home: Home) -> Iterator[Control]:
    """All that a daemon has, which does only what a test makes it do."""
    with daemon.driving(home, None) as control:
        yield control
