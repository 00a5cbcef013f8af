"""Content that is made once for an installation."""

import sys
from pathlib import Path

import pytest

from d0ctl.made_once import made_once


class Maker:
    """Makes the next letter each time."""

    def __init__(self) -> None:
        self.letters = iter([b"a", b"b", b"c"])

    def __call__(self) -> bytes:
        return next(self.letters)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where compiled modules are kept."""
    kept = tmp_path / "kept"
    monkeypatch.setattr(sys, "pycache_prefix", str(kept))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return kept


def files(folder: Path) -> list[Path]:
    """The files in a folder and below it."""
    return [path for path in folder.rglob("*") if path.is_file()]


def test_content_is_made_once_for_a_basis(folder: Path) -> None:
    make = Maker()

    assert [made_once("letter", b"1", make) for _ in range(2)] == [b"a", b"a"]
    assert [made_once("letter", b"2", make) for _ in range(2)] == [b"b", b"b"]
    assert len(files(folder)) == 1


@pytest.mark.parametrize("damaged", [b"", b"too short", b"x" * 40])
def test_a_damaged_file_is_made_again(folder: Path, damaged: bytes) -> None:
    make = Maker()
    made_once("letter", b"1", make)
    (file,) = files(folder)
    file.write_bytes(damaged)

    assert [made_once("letter", b"1", make) for _ in range(2)] == [b"b", b"b"]


def test_where_nothing_can_be_kept_it_is_made_each_time(folder: Path) -> None:
    folder.touch()
    make = Maker()

    assert [made_once("letter", b"1", make) for _ in range(2)] == [b"a", b"b"]


def test_nothing_is_kept_if_python_keeps_no_compiled_modules(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    assert made_once("letter", b"1", Maker()) == b"a"
    assert files(folder) == []
