"""A control of a home, whose turns a test takes."""

from collections.abc import Iterator

import pytest

from d0ctl.config import Home
from d0ctl.daemon import loop
from d0ctl.daemon.control import Control


@pytest.fixture
def control(home: Home) -> Iterator[Control]:
    """All that a daemon has, which does only what a test makes it do."""
    with loop.driving(home, None) as control:
        yield control
