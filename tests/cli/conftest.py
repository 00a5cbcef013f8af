"""A home of its own for each test, and d0ctl as it is typed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from d0ctl.cli import session
from d0ctl.cli.app import app
from d0ctl.config import Home
from d0ctl.store import Store, open_store
from tests.cli.catalogue import TEXT
from tests.support import printed
from tests.support.archives import RECO, packed
from tests.support.homes import make_home

Type = Callable[..., Result]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home that does not exist yet; options of commands that others typed do not count."""
    for name, value in vars(session.Settings()).items():
        monkeypatch.setattr(session.settings, name, value)
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
def store(home: Home) -> Iterator[Store]:
    """The store of that home, which is made for it."""
    with open_store(make_home(home.root)) as store:
        yield store


@pytest.fixture
def d0ctl() -> Type:
    """Type a command; what came of it."""
    return type_in


def type_in(*words: str, **more: str | bytes) -> Result:
    """Type a command; what came of it."""
    result = CliRunner().invoke(app, list(words), prog_name="d0ctl", **more)  # type: ignore[arg-type]
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    printed.check(words, result.stdout)
    return result


@pytest.fixture
def site_file(tmp_path: Path) -> Path:
    """A site file of this machine, with an archive beside it."""
    packed(tmp_path / "reco.tar.gz", RECO)
    path = tmp_path / "lab.yaml"
    path.write_text(TEXT.format(folder=tmp_path))
    return path
