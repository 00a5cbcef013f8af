"""A drop-box with a key that the test knows."""

from functools import partial

import pytest

from d0ctl.config import Home
from d0ctl.dropbox import DropBox
from d0ctl_wrapper.protocol import message
from tests.dropbox.dropped import KEY


@pytest.fixture
def box(home: Home) -> DropBox:
    """A drop-box with a key that the test knows."""
    return DropBox(home.dropbox, lambda: partial(message.token, KEY))
