"""A site for each test, and the promise that nothing of it stays behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.site import Site
from tests.support.homes import make_home


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Site]:
    """A user with d0ctl and no home yet; no process of it outlives the test."""
    site = Site(tmp_path / "site")
    try:
        yield site
    finally:
        site.end()


@pytest.fixture
def site(newcomer: Site) -> Site:
    """A user whose home is as the first use makes it."""
    make_home(newcomer.home)
    return newcomer
