"""A home to look at, and a look that does not wait between its looks."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from d0ctl.doctor.examine import examine
from d0ctl.doctor.finding import Finding
from tests.support.site import Site

Found = Callable[[], list[Finding]]


@pytest.fixture
def found(site: Site, monkeypatch: pytest.MonkeyPatch) -> Found:
    """What a look finds, with nothing going on."""
    monkeypatch.setattr("d0ctl.doctor.examine.AGAIN_S", 0.0)
    return lambda: examine(site.store).findings


def damage(site: Site, *statements: str) -> None:
    """Change the database in a way that d0ctl never does, as another program."""
    with closing(sqlite3.connect(site.store.home.database, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
