"""A home of its own for each test, and d0ctl as it is typed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from d0ctl.cli.app import app
from d0ctl.config import Home
from d0ctl.store import open_store
from tests.cli.building import Site
from tests.support.homes import make_home

Type = Callable[..., Result]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home that does not exist yet."""
    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    return Home(tmp_path / "home")


@pytest.fixture
def usual_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The home of a user who names none; it does not exist yet."""
    monkeypatch.delenv("D0CTL_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return Home(tmp_path / "data" / "d0ctl")


@pytest.fixture
def site(home: Home) -> Iterator[Site]:
    """A home with its node, and hands to move packages in it."""
    with open_store(make_home(home.root)) as store:
        yield Site(store)


@pytest.fixture
def d0ctl() -> Type:
    """Type a command; what came of it."""
    return type_in


def type_in(*words: str, **more: str | bytes) -> Result:
    """Type a command; what came of it."""
    result = CliRunner().invoke(app, list(words), prog_name="d0ctl", **more)  # type: ignore[arg-type]
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
