"""What most tests begin with: a home of their own, and the store in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from d0ctl.config import Home
from d0ctl.store import Store, open_store
from tests.support.homes import make_home
from tests.support.session import Session

# How long examples take says how busy the machine is, and nothing of the code.
settings.register_profile("untimed", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home with the node `localhost`."""
    return make_home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """The store of that home."""
    with open_store(home) as store:
        yield store


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A site at work; no process of it outlives the test."""
    session = Session(tmp_path)
    yield session
    session.close()
