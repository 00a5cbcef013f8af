"""What a glob beside a job file finds, and where it ends."""

import glob
from pathlib import Path

import pytest

from d0ctl.jobfile import local_files
from d0ctl.jobfile.local_files import TooWideError, matching

PATTERNS = [
    "*", "*.raw", "raw/*", "raw/[ab].raw", "raw/[!a].raw", "**/*.raw", "**/deep/*", "*/", "./*.raw",
    ".*", "**/.*", "raw/a.raw", "none/*", "*/deep/?.raw", "raw//b.raw", "[", "**/",
]  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree with hidden files and folders in it."""
    for name in ("a.raw", ".hidden", "raw/a.raw", "raw/b.raw", "raw/deep/c.raw", ".git/x.raw", "["):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_glob_finds_the_same_files_as_python(tree: Path, pattern: str) -> None:
    found = {name.replace("//", "/") for name in matching(pattern, str(tree))}
    expected = glob.glob(pattern, root_dir=tree, recursive=True)  # noqa: PTH207

    assert found == {name.replace("//", "/") for name in expected if name}


def test_an_absolute_glob_gives_absolute_names(tree: Path) -> None:
    assert matching(f"{tree}/raw/*.raw", "/") == [f"{tree}/raw/a.raw", f"{tree}/raw/b.raw"]


def test_a_glob_does_not_follow_links_in_a_circle(tree: Path) -> None:
    (tree / "raw" / "up").symlink_to(tree)

    assert matching("**/c.raw", str(tree)) == ["raw/deep/c.raw"]


def test_a_glob_ends_at_its_bounds(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, pytest.raises(TooWideError, match="too many directory"):
        patch.setattr(local_files, "MAX_ENTRIES", 5)
        matching("**/*", str(tree))

    for number in range(2000):
        (tree / f"{number}.x").touch()
    monkeypatch.setattr(local_files, "MAX_SEARCH_S", -1)
    with pytest.raises(TooWideError, match="too long"):
        matching("*.none", str(tree))
