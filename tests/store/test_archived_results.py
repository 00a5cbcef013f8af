"""Which file in results/ is that of an archived job, if later jobs had its name."""

import hashlib
import os
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store.files import archived_results

ARCHIVED = 1000.0


@pytest.fixture
def archive(tmp_path: Path) -> Home:
    """A home opened on an archive that was written at this time."""
    home = Home(tmp_path, archive="old")
    home.archives.mkdir()
    home.database.touch()
    os.utime(home.database, (ARCHIVED, ARCHIVED))
    return home


def write(home: Home, folder: str, text: str, at: float) -> Path:
    """Write a result of this name at some time."""
    path = home.results / folder / "r.txt"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    os.utime(path, (at, at))
    return path


def find(home: Home, text: str) -> Path | None:
    checksum = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    return archived_results.path(home, "fix", "r.txt", len(text), checksum)


def test_the_one_with_the_contents_is_found_whatever_its_number_and_time(archive: Home) -> None:
    write(archive, "fix", "late", 1100)
    write(archive, "fix.1", "same", 900)
    write(archive, "fix.old", "mine", 900)
    path = write(archive, "fix.3", "mine", 1200)

    assert find(archive, "mine") == path
    assert find(archive, "else") is None


def test_of_two_with_the_same_contents_the_one_written_before_the_archive_is_taken(
    archive: Home,
) -> None:
    later = write(archive, "fix", "mine", 1100)
    assert find(archive, "mine") == later, "a copied home has new times"
    path = write(archive, "fix.1", "mine", 900)

    assert find(archive, "mine") == path


def test_of_those_that_are_too_large_to_read_the_last_before_the_archive_is_taken(
    archive: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archived_results, "MOST_READ", 3)
    write(archive, "fix", "late", 1100)
    write(archive, "fix.1", "next", 1050)
    path = write(archive, "fix.2", "mine", 900)
    write(archive, "fix.3", "before", 950)
    write(archive, "fix.4", "same", 800)

    assert find(archive, "mine") == path


def test_no_folder_is_read_if_that_of_the_job_has_the_file(
    archive: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(archive, "fix", "mine", 900)
    monkeypatch.setattr(Path, "glob", None)

    assert find(archive, "mine") == path
