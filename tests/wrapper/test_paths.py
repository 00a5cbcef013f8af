"""Names from outside, joined to folders of d0ctl."""

import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from d0ctl_wrapper.protocol.paths import inside

PARTS = st.sampled_from(["a", "b", ".", "..", "", "out", "loop", "dead", "-rf", "ü\n", "x\0"])

NAMES = st.lists(PARTS, max_size=6).map("/".join)


def folders(root: Path) -> tuple[Path, Path]:
    """A folder of d0ctl, with links into it and out of it, and a foreign folder."""
    ours, theirs = root / "ours", root / "theirs"
    (ours / "a").mkdir(parents=True)
    (theirs / "b").mkdir(parents=True)
    (ours / "out").symlink_to(theirs)
    (ours / "a/out").symlink_to("../../theirs")
    (ours / "loop").symlink_to("loop")
    (ours / "b").symlink_to("a")
    (ours / "dead").symlink_to(theirs / "nothing/there")
    return ours, theirs


def everything(folder: Path) -> dict[str, tuple[int, int]]:
    """The contents of a folder, by its inode and time of change."""
    found = [Path(place, name) for place, dirs, names in os.walk(folder) for name in dirs + names]
    return {str(path): (path.lstat().st_ino, path.lstat().st_mtime_ns) for path in found}


@settings(max_examples=400, deadline=None)
@given(name=NAMES, is_absolute=st.booleans(), is_in_ours=st.booleans())
@example(name="out/b", is_absolute=False, is_in_ours=False)
@example(name="a/../../theirs/b", is_absolute=False, is_in_ours=False)
def test_no_name_leads_to_a_file_outside_of_the_folder(
    name: str, is_absolute: bool, is_in_ours: bool
) -> None:
    with tempfile.TemporaryDirectory() as root:
        ours, theirs = folders(Path(root))
        before = everything(theirs)
        start = f"{ours}/" if is_in_ours else f"{theirs}/"
        text = start + name if is_absolute else name

        try:
            path = Path(os.fsdecode(inside(os.fsencode(ours), text)))
        except ValueError:
            return
        aside = ours / "aside"
        aside.write_text("written")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            aside.rename(path)
        except OSError:
            return

        assert everything(theirs) == before
        assert path.resolve().is_relative_to(ours.resolve())
        assert stat.S_ISREG(path.lstat().st_mode)


@pytest.mark.parametrize("name", ["x", "a/x", "new/folder/x", "b/x", "out", "..x", "a/.x", " "])
def test_a_name_that_stays_in_its_folder_is_joined_to_it(tmp_path: Path, name: str) -> None:
    ours, _ = folders(tmp_path)

    assert inside(os.fsencode(ours), name) == os.fsencode(f"{ours}/{name}")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "/", "//", "a/.", "../x", "a/../x", "/etc/x", "out/x", "a/out/x", "a\0b"],
)
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    ours, _ = folders(tmp_path)

    with pytest.raises(ValueError, match="is not inside"):
        inside(os.fsencode(ours), name)


def test_an_absolute_name_may_lead_into_the_folder(tmp_path: Path) -> None:
    ours, _ = folders(tmp_path)

    assert inside(os.fsencode(ours), f"{ours}/a/x") == os.fsencode(f"{ours}/a/x")


def test_a_folder_may_itself_be_a_link(tmp_path: Path) -> None:
    ours, _ = folders(tmp_path)
    (tmp_path / "home").symlink_to(ours)

    assert inside(os.fsencode(tmp_path / "home"), "a/x") == os.fsencode(tmp_path / "home/a/x")
