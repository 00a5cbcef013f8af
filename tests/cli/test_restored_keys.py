"""What `restore` into a new home says to copy there, and the path that the history has of it."""

import re
import subprocess
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store.files import moved_home
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.jobs import job
from tests.support.site import Site


def test_a_restored_home_gets_no_key_that_signed_none_of_its_attempts(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    site.launch("before/1/1/1")
    d0ctl("backup", str(tmp_path / "saved.db"))
    other = Home(tmp_path / "other")

    done = d0ctl("--home", str(other.root), "restore", str(tmp_path / "saved.db"))

    assert done.exit_code == 0, done.stderr
    assert not other.key.exists()
    assert f"cp -p OLD_HOME/site.key OLD_HOME/known_hosts {other.root}/\n" in done.stdout
    started = d0ctl("--home", str(other.root), "daemon", "start")
    assert started.exit_code == 5
    assert f"`{other.key}` is missing" in started.stderr
    assert started.stderr.splitlines()[1].startswith("copy `site.key` and `known_hosts` from ")
    other.key.write_bytes(site.store.home.key.read_bytes())
    assert other.site_key() == site.store.home.site_key()
    again = d0ctl("--home", str(other.root), "restore", str(tmp_path / "saved.db"), "--yes")
    assert "OLD_HOME" not in again.stdout


def test_the_command_that_copies_the_keys_to_a_restored_home_works_as_it_is_printed(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    site.launch("before/1/1/1")
    moved_home.follow(site.store)
    d0ctl("backup", str(tmp_path / "saved.db"))
    other = Home(tmp_path / "other home")

    done = d0ctl("--home", str(other.root), "restore", str(tmp_path / "saved.db")).stdout

    [copying] = [line for line in done.splitlines() if line.startswith("cp -p ")]
    subprocess.run(copying, shell=True, check=True)
    assert other.site_key() == site.store.home.site_key()


def test_the_printed_commands_copy_all_that_a_backup_lacks_and_the_first_home_has(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    site.launch("before/1/1/1")
    home = site.store.home
    (home.archives / "old.db").parent.mkdir()
    (home.archives / "old.db").write_text("archive")
    moved_home.follow(site.store)
    d0ctl("backup", str(tmp_path / "saved.db"))
    with_own_files, without = Home(tmp_path / "with own files"), Home(tmp_path / "without")
    plain = d0ctl("--home", str(without.root), "restore", str(tmp_path / "saved.db")).stdout
    d0ctl("site", "rotate-key")
    d0ctl("event", "key")
    home.site_file.write_text("nodes: {}\n")
    home.results.rename(tmp_path / "results on another disk")
    home.results.symlink_to(tmp_path / "results on another disk")
    (home.results / "job").write_text("result")
    home.templates.mkdir()
    (home.templates / "run.yaml").write_text("program: run\n")

    done = d0ctl("--home", str(with_own_files.root), "restore", str(tmp_path / "saved.db")).stdout
    for line in [line for line in done.splitlines() if line.startswith("cp -p")]:
        subprocess.run(line, shell=True, check=True)

    assert not {"site.yaml", "templates", "event.key", "previous"} & set(
        re.findall(r"[\w.]+", plain)
    )
    assert "archives" in plain and "OLD_HOME" not in plain
    for name in ("site.key", "site.key.previous", "event.key", "site.yaml", "templates/run.yaml",
                 "archive/old.db", "results/job"):  # fmt: skip
        assert (with_own_files.root / name).read_bytes() == (home.root / name).read_bytes(), name


def test_a_restore_without_attempts_says_what_else_the_new_home_lacks(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    home = site.store.home
    home.known_hosts.write_text("farm ssh-ed25519 AAAA\n")
    moved_home.follow(site.store)
    d0ctl("backup", str(tmp_path / "saved.db"))
    other = Home(tmp_path / "other")

    done = d0ctl("--home", str(other.root), "restore", str(tmp_path / "saved.db")).stdout
    for line in [line for line in done.splitlines() if line.startswith("cp -p")]:
        subprocess.run(line, shell=True, check=True)
    again = d0ctl("--home", str(other.root), "restore", str(tmp_path / "saved.db"), "--yes").stdout
    empty = d0ctl("--home", str(other.root), "status").stdout

    assert other.key.exists() and other.site_key() != home.site_key()
    assert other.known_hosts.read_text() == home.known_hosts.read_text()
    assert f"cp -pHr {home.root}/results " in done
    assert "known_hosts" not in again
    assert empty.startswith("no jobs; this home is a copy of") and "d0ctl run" not in empty


@pytest.mark.usefixtures("site")
def test_the_history_has_the_absolute_path_of_a_restored_backup(
    d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    d0ctl("backup", "saved.db")
    d0ctl("restore", "saved.db", "--yes")

    newest = document(d0ctl("history", "--json").stdout)["actions"][0]

    assert (newest["verb"], newest["target"]) == ("restore", str(tmp_path / "saved.db"))
