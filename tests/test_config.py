"""The home: where it is, who may enter it, and on which disks it may lie."""

import stat
from pathlib import Path

import pytest

from d0ctl import access
from d0ctl.access import file_system, refuse_network_disk
from d0ctl.config import Home, find_home
from d0ctl.errors import DatabaseUnavailable
from d0ctl.store import open_store


def test_the_option_wins_then_the_variable_then_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("D0CTL_HOME", raising=False)
    assert find_home().root == tmp_path / "data" / "d0ctl"

    monkeypatch.setenv("D0CTL_HOME", str(tmp_path / "named"))
    assert find_home().root == tmp_path / "named"

    assert find_home(tmp_path / "asked").root == tmp_path / "asked"


def test_without_any_of_them_it_is_below_the_users_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "D0CTL_HOME"):
        monkeypatch.delenv(name, raising=False)

    assert find_home().root == tmp_path / ".local" / "share" / "d0ctl"


def test_its_path_has_no_dots_unless_they_lead_out_of_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    (tmp_path / "here").mkdir()

    assert find_home(tmp_path / "here" / ".." / "home").root == tmp_path / "home"
    assert find_home(tmp_path / "link" / "home").root == tmp_path / "link" / "home"
    assert find_home(tmp_path / "link" / ".." / "home").root == tmp_path / "link" / ".." / "home"


def test_only_its_owner_may_enter_a_home(home: Home) -> None:
    for path in [home.root, home.dropbox / "new", home.results, home.cache]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in [home.key, home.database]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_making_a_home_again_changes_nothing(home: Home) -> None:
    key = home.site_key()

    home.create()

    assert home.site_key() == key
    assert len(key) == 32


def test_a_home_that_can_not_be_made_says_what_to_type(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DatabaseUnavailable) as refused:
        Home(tmp_path / "file" / "home").create()

    assert "export D0CTL_HOME=" in (refused.value.hint or "")


def test_there_is_no_database_before_the_first_use(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="there is no home"):
        open_store(Home(tmp_path))


def test_a_file_that_is_no_database_is_reported_as_such(home: Home) -> None:
    home.database.write_bytes(b"this is not SQLite" * 100)

    with pytest.raises(DatabaseUnavailable, match="can't use the database"):
        open_store(home)


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/local ext4 rw 0 0
server:/with\\040space /mnt/with\\040space cifs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/d0ctl", "ext4"),
        ("/home/me/.local/share/d0ctl", "nfs4"),
        ("/home/local/me", "ext4"),
        ("/homeless", "ext4"),
        ("/mnt/with space/d0ctl", "cifs"),
    ],
)
def test_the_longest_mount_point_tells_the_file_system(
    tmp_path: Path, path: str, kind: str
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)

    assert file_system(Path(path), mounts) == kind


def test_where_mounts_can_not_be_read_nothing_is_refused(tmp_path: Path) -> None:
    assert file_system(tmp_path, tmp_path / "nothing") == ""


def test_a_network_disk_is_refused_with_the_line_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "file_system", lambda path: "nfs4")

    with pytest.raises(DatabaseUnavailable, match=r"network disk \(nfs4\)") as refused:
        refuse_network_disk(tmp_path)

    assert (refused.value.hint or "").startswith("export D0CTL_HOME=/")
