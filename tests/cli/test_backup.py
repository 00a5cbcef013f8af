"""Backups: made while others write, taken back whole, and never mixing two pasts."""

import os
import resource
import sqlite3
import threading
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store import open_store
from d0ctl.store.attempts.launching import launches
from d0ctl.store.backup import GENERATION_BITS
from d0ctl.store.clusters import pilots
from d0ctl.store.locks import daemon_lock
from d0ctl.store.nodes import contact, leases
from tests.cli.conftest import Type
from tests.support.homes import faults
from tests.support.jobs import NOW, job, submitted
from tests.support.rows import read, spoil, value
from tests.support.site import Site


def generation(home: Home) -> int:
    with open_store(home, read_only=True) as store:
        return int(store.value("generation"))


def test_a_backup_is_restored_completely(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    site.submit(job("before"))
    home = site.store.home
    assert d0ctl("backup", str(tmp_path / "saved.db")).exit_code == 0
    site.submit(job("after"))
    site.store.close()

    done = d0ctl("restore", str(tmp_path / "saved.db"), "--yes")

    assert done.exit_code == 0, done.stderr
    with open_store(home) as store:
        assert [row["name"] for row in store.rows("jobs", pattern="*")] == ["before"]
        assert faults(store) == {}
    (former,) = home.root.glob("d0ctl.db.before-*")
    kept = sqlite3.connect(former).execute("select name from job order by id").fetchall()
    assert kept == [("before",), ("after",)]
    assert former.stat().st_mode & 0o077 == 0


def test_a_backup_made_while_others_submit_shows_only_whole_jobs(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    stop = threading.Event()

    def write() -> None:
        with open_store(site.store.home) as store:
            number = 0
            while not stop.is_set():
                number += 1
                submitted(store, job(f"job{number}"))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        done = d0ctl("backup", str(tmp_path / "saved.db"))
    finally:
        stop.set()
        writer.join()

    assert done.exit_code == 0, done.stderr
    copy = sqlite3.connect(tmp_path / "saved.db")
    assert copy.execute("pragma integrity_check").fetchone()[0] == "ok"
    shown_in_part = "select name from job where visible and id not in (select job_id from package)"
    assert copy.execute(shown_in_part).fetchall() == []


def test_a_restored_home_uses_no_id_twice(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    home = site.store.home
    d0ctl("backup", str(tmp_path / "saved.db"))
    site.store.close()
    d0ctl("restore", str(tmp_path / "saved.db"), "--yes")
    assert generation(home) == 2

    with open_store(home) as store:
        submitted(store, job("new"))
        assert value(store, "job", "id") == (2 << GENERATION_BITS) + 1
        with store.writing():
            batch = pilots.submit(store, 1, "lab", 1, now=NOW)
        assert batch == f"d0ctl-lab-{(2 << GENERATION_BITS) + 1}"


def test_a_node_removes_attempts_that_the_backup_does_not_have(site: Site) -> None:
    store = site.store
    with store.writing():
        contact.up(store, 1, {"boot_id": "b", "cpus": 2, "base": "/b"}, now=NOW)
        found = launches.reconcile(store, 1, {7: "running", 8: "ended", 9: "dead"}, now=NOW)

    assert found.kill == [7]
    assert read(store, "purge", "node_id", "attempt_id", by="attempt_id") == [(1, 8), (1, 9)]


def test_restoring_creates_a_missing_home(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    site.submit(job("before"))
    d0ctl("backup", str(tmp_path / "saved.db"))
    other = tmp_path / "other"

    done = d0ctl("--home", str(other), "restore", str(tmp_path / "saved.db"))

    assert done.exit_code == 0, done.stderr
    assert "before" in d0ctl("--home", str(other), "status").stdout


def test_a_database_in_use_by_a_daemon_is_not_replaced(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    d0ctl("backup", str(tmp_path / "saved.db"))
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=NOW)

    done = d0ctl("restore", str(tmp_path / "saved.db"), "--yes")

    assert done.exit_code == 4
    assert "drives packages by this database" in done.stderr
    assert "d0ctl daemon stop" in done.stderr
    assert generation(site.store.home) == 1


def test_a_broken_database_is_replaced(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    site.submit(job("before"))
    d0ctl("backup", str(tmp_path / "saved.db"))
    site.store.close()
    site.store.home.database.write_bytes(b"not a database at all" * 1000)

    done = d0ctl("restore", str(tmp_path / "saved.db"), "--yes")

    assert done.exit_code == 0, done.stderr
    assert "before" in d0ctl("status").stdout


def test_a_file_that_is_no_backup_is_refused(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    sqlite3.connect(tmp_path / "other.db").execute("create table site (x)").connection.close()

    for name, code in (("text", 2), ("other.db", 2), ("nowhere", 3)):
        done = d0ctl("restore", str(tmp_path / name))
        assert done.exit_code == code
        assert done.stderr.splitlines()[1:] == ["d0ctl restore --help"] * (code == 2)
    assert d0ctl("backup", str(tmp_path / "text")).exit_code == 4


def test_a_device_is_refused_as_the_file_of_a_backup(site: Site, d0ctl: Type) -> None:
    done = d0ctl("backup", "/dev/full")

    assert done.exit_code == 4
    assert done.stderr.startswith(
        "d0ctl: `/dev/full` is not a regular file, so no backup can be written to it\n"
    )
    assert "/dev/full-2" not in done.stderr


def test_no_hint_says_to_remove_the_file_that_a_backup_would_overwrite(
    site: Site, d0ctl: Type, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "d0ctl-2.db").touch()

    onto_itself = d0ctl("backup", str(home.database))
    onto_folder = d0ctl("backup", str(tmp_path))

    assert (onto_itself.exit_code, onto_folder.exit_code) == (4, 4)
    assert "already exists\nd0ctl backup " in onto_itself.stderr
    assert not Path(onto_itself.stderr.split()[-1]).exists()
    assert onto_folder.stderr.split()[-1] == str(tmp_path / "d0ctl-backup.db")
    assert d0ctl("backup", str(tmp_path / "no/such/folder")).exit_code == 3


def test_a_damaged_database_is_not_backed_up(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    home = site.store.home
    site.store.close()
    spoil(home.database, "note")

    done = d0ctl("backup", str(tmp_path / "saved.db"))

    assert done.exit_code == 5
    assert f"the database `{home.database}` is damaged, so there is no backup: " in done.stderr
    assert done.stderr.splitlines()[1].startswith("d0ctl doctor")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_daemon_does_not_start_on_a_damaged_database(site: Site, d0ctl: Type) -> None:
    home = site.store.home
    site.store.close()
    spoil(home.database, "note")

    done = d0ctl("daemon", "start")

    assert done.exit_code == 5
    assert f"did not start: the database `{home.database}` is damaged: " in done.stderr
    assert done.stderr.splitlines()[1].startswith(f"d0ctl --home {home.root} restore FILE")
    assert not d0ctl("daemon", "status", "--json").stdout.count('"running": true')


def test_a_failed_backup_leaves_no_file(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        done = d0ctl("backup", str(folder / "saved.db"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert done.exit_code == 5, done.stderr
    assert "can't copy the database" in done.stderr
    assert list(folder.iterdir()) == []


def test_the_backup_of_another_site_is_restored_only_on_request(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    other = Home(tmp_path / "other")
    with open_store(other, create=True) as store:
        theirs = store.value("site")
        submitted(store, job("foreign"))
    d0ctl("--home", str(other.root), "backup", str(tmp_path / "theirs.db"))
    ours = site.store.value("site")
    site.store.close()

    refused = d0ctl("restore", str(tmp_path / "theirs.db"), "--yes")

    assert refused.exit_code == 4
    first, second = refused.stderr.splitlines()
    assert first == (
        f"d0ctl: `{tmp_path}/theirs.db` is a backup of site {theirs},"
        f" and this home is of site {ours}"
    )
    assert "--other-site" in second and "site.key" in second
    assert d0ctl("restore", str(tmp_path / "theirs.db"), "--yes", "--other-site").exit_code == 0
    assert "foreign" in d0ctl("status").stdout


def test_a_home_that_lost_its_database_remembers_its_site(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    home = site.store.home
    (home.nodes / str(site.store.value("site"))).mkdir()
    d0ctl("backup", str(tmp_path / "ours.db"))
    site.store.close()
    with open_store(Home(tmp_path / "other"), create=True):
        pass
    d0ctl("--home", str(tmp_path / "other"), "backup", str(tmp_path / "theirs.db"))
    home.database.unlink()

    assert d0ctl("restore", str(tmp_path / "theirs.db")).exit_code == 4
    assert d0ctl("restore", str(tmp_path / "ours.db")).exit_code == 0


def test_files_of_other_programs_and_pipes_are_refused_as_backups(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    alien = sqlite3.connect(tmp_path / "alien.db")
    alien.executescript(
        "create table site (id, name, generation); insert into site values (1, 'x', 1);"
        " create table package (phase);"
    )
    alien.close()

    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "alien.db"):
        done = d0ctl("restore", str(path), "--yes")
        assert done.exit_code == 2, done.stderr
        assert f"d0ctl: `{path}` is no" in done.stderr
        assert done.stderr.splitlines()[1:] == ["d0ctl restore --help"]


@pytest.mark.parametrize("option", ["--yes", "--dry-run"])
def test_a_backup_is_not_restored_while_a_daemon_is_ending(
    site: Site, d0ctl: Type, tmp_path: Path, option: str
) -> None:
    d0ctl("backup", str(tmp_path / "saved.db"))
    with daemon_lock(site.store.home) as is_taken:
        assert is_taken()
        done = d0ctl("restore", str(tmp_path / "saved.db"), option)

    assert done.exit_code == 4
    assert done.stderr == "d0ctl: a daemon is running in this home\nd0ctl daemon stop\n"


def test_a_dry_run_says_what_stays_and_any_restore_when_the_backup_ends(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    saved, home = tmp_path / "saved.db", tmp_path / "new"
    d0ctl("backup", str(saved))

    said = d0ctl("restore", str(saved), "--dry-run").stdout
    assert said.startswith(f"would replace `{site.store.home.database}` by `{saved}`\n")
    assert "results, archives and keys would stay as they are\nthe backup ends at " in said
    said = d0ctl("--home", str(home), "restore", str(saved), "--dry-run").stdout
    assert said.startswith(f"would copy `{saved}` to `{home}/")
    new = d0ctl("--home", str(home), "restore", str(saved))
    assert new.stderr.startswith("the backup ends at ")
