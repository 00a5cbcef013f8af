"""A home of its own for each test of the Python interface."""

from pathlib import Path

import pytest

from tests.support.homes import equip_nodes, make_home


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, beside a home whose nodes have the wrapper."""
    equip_nodes(make_home(tmp_path / "home"))
    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work
