"""What a restored home lacks: later jobs and changes; in a new home, keys and contact."""

import re
import shutil
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store import open_store
from d0ctl.store.clusters.other_homes import marked_as_driver, refuse_second_driver, take_over
from d0ctl.store.files import moved_home
from d0ctl.store.nodes import contact
from d0ctl.store.nodes.site import site_name, successor
from d0ctl.store.views import awaited
from tests.cli.conftest import Type
from tests.support.jobs import NOW, job
from tests.support.rows import change, value
from tests.support.site import Site


def test_no_node_of_a_restored_home_is_connected_before_a_daemon_runs(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    with site.store.writing():
        contact.up(site.store, 1, {"boot_id": "b", "cpus": 2, "base": "/b"}, now=NOW)
    assert "not connected" not in d0ctl("node", "list").stdout
    d0ctl("backup", str(tmp_path / "saved.db"))
    other = ("--home", str(tmp_path / "other"))
    d0ctl(*other, "restore", str(tmp_path / "saved.db"))

    assert "not connected" in d0ctl(*other, "node", "list").stdout


def test_a_rehearsed_restore_says_what_would_be_lost(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    for name in ("kept", "removed"):
        site.submit(job(name))
    d0ctl("backup", str(tmp_path / "saved.db"))
    unchanged = d0ctl("restore", str(tmp_path / "saved.db"), "--dry-run")
    assert d0ctl("remove", "removed", "--yes").exit_code == 0
    assert d0ctl("hold", "kept/1/1/1").exit_code == 0
    site.submit(job("new"))

    done = d0ctl("restore", str(tmp_path / "saved.db"), "--dry-run")

    assert unchanged.stdout.splitlines()[3].endswith(", and lacks nothing")
    assert done.exit_code == 0, done.stderr
    ends, returned = done.stdout.splitlines()[3:]
    assert ends.endswith(
        ", and lacks what came later: 1 job with 1 package (new), "
        "changes of 1 package of another job and 3 actions"
    )
    assert returned == "only the backup has 1 job: removed"


def test_attempts_after_a_second_restore_have_other_ids_than_those_after_the_first(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job())
    saved = str(tmp_path / "saved.db")
    d0ctl("backup", saved)
    newest = []
    for _ in ("first", "second", "third"):
        assert d0ctl("restore", saved, "--yes").exit_code == 0
        with open_store(site.store.home) as store:
            newest.append(value(store, "sqlite_sequence", "seq", name="attempt"))
            newest.append(value(store, "site", "generation"))

    assert len(set(newest[::2])) == len(set(newest[1::2])) == 3
    assert newest[::2] == sorted(newest[::2])


def test_a_restore_counts_ended_packages_too_whose_logs_go(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    site.submit(job("later"))
    site.submit(job("last"))
    site.launch("later/1/1/1")
    site.end("later/1/1/1")

    ended = d0ctl("restore", saved, "--dry-run").stdout.splitlines()[-1]
    site.launch("last/1/1/1")
    both = d0ctl("restore", saved, "--dry-run").stdout.splitlines()[-1]

    assert ended == (
        "1 package was launched after the backup: "
        "its node deletes its logs and files at the next contact"
    )
    assert both == (
        "2 packages, 1 of them running, were launched after the backup: "
        "their nodes end them at the next contact, and delete their logs and files"
    )


def test_a_copied_home_whose_jobs_have_ended_says_that_it_is_a_copy(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    site.finish("before/1/1/1")
    moved_home.follow(site.store)
    d0ctl("backup", str(tmp_path / "saved.db"))
    d0ctl("--home", str(tmp_path / "copy"), "restore", str(tmp_path / "saved.db"))

    said = " ".join(d0ctl("--home", str(tmp_path / "copy"), "status").stdout.split())

    assert "that no daemon has driven: what came later is only there" in said
    assert "is a copy" not in d0ctl("status").stdout


def test_status_of_a_copied_home_asks_for_no_daemon(
    site: Site, d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaited, "NO_DAEMON_S", 0.0)
    site.submit(job("before"))
    moved_home.follow(site.store)
    d0ctl("backup", str(tmp_path / "saved.db"))
    copy, root = ("--home", str(tmp_path / "copy")), site.store.home.root
    d0ctl(*copy, "restore", str(tmp_path / "saved.db"))

    reach = re.search("is a copy of .* that no daemon", d0ctl(*copy, "status").stdout, re.DOTALL)
    change = d0ctl(*copy, "hold", "before").stderr
    assert "daemon start" not in change + d0ctl(*copy, "why", "localhost").stdout
    assert reach and reach[0] in d0ctl(*copy, "status").stdout
    d0ctl(*copy, "release", "before")
    assert d0ctl(*copy, "wait", "before").stderr.splitlines()[-1] == f"d0ctl --home {root} status"
    for command in (["status"], ["status", "before"], ["why", "before"]):
        said = " ".join(d0ctl(*copy, *command).stdout.split())
        assert f"this home is a copy of `{root}` of " in said
        assert "the nodes would delete what is newer" in said
        assert f"d0ctl --home {root} status" in said
        assert "daemon start" not in said
    assert "daemon start" in d0ctl("status").stdout
    assert "is a copy of" in d0ctl(*copy, "doctor").stdout
    assert "daemon start" not in d0ctl(*copy, "doctor").stdout
    with open_store(Home(tmp_path / "copy")) as store:
        moved_home.follow(store)
    assert "daemon start" in d0ctl(*copy, "status").stdout


def test_an_archive_in_a_copied_home_is_as_old_as_the_copy(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("old"))
    site.finish("old/1/1/1")
    for table, column in (("job", "submitted"), ("event", "at"), ("action", "at")):
        change(site.store, table, **{column: 1.0})
    site.submit(job("before"))
    moved_home.follow(site.store)
    d0ctl("archive", "old", "--as", "a", "--yes")
    d0ctl("backup", str(tmp_path / "saved.db"))
    copy, root = Home(tmp_path / "copy"), site.store.home.root
    home = ("--home", str(copy.root))
    d0ctl(*home, "restore", str(tmp_path / "saved.db"))
    shutil.copytree(site.store.home.archives, copy.archives)

    reach = re.search("is a copy of .* that no daemon", d0ctl(*home, "status").stdout, re.DOTALL)
    archived = d0ctl(*home, "status", "--archive", "a")

    assert reach and reach[0] in archived.stdout
    assert f"d0ctl --home {root} status" in archived.stdout
    assert "is a copy of" not in d0ctl("status", "--archive", "a").stdout
    copy.database.write_text("damaged")
    damaged = d0ctl(*home, "status", "--archive", "a")
    assert (damaged.exit_code, "old" in damaged.stdout) == (0, True)


def test_a_restored_home_whose_first_home_was_moved_still_asks_for_care(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    moved_home.follow(site.store)
    d0ctl("backup", str(tmp_path / "saved.db"))
    copy, root = ("--home", str(tmp_path / "copy")), site.store.home.root
    d0ctl(*copy, "restore", str(tmp_path / "saved.db"))
    root.rename(moved := root.with_name("moved"))

    said = " ".join(d0ctl(*copy, "status").stdout.split())
    assert f"the home in use, `{root}`, is gone, and no daemon has driven this one" in said
    assert "which was restored from a backup of " in said
    assert "the nodes would delete what is newer" in said
    assert "daemon start   # if that home is lost, not moved" in d0ctl(*copy, "status").stdout
    assert "was moved from" not in d0ctl(*copy, "doctor").stdout
    assert "was restored from" not in d0ctl("--home", str(moved), "status").stdout


def test_a_home_that_took_over_is_no_copy_after_it_was_restored_once_more(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    saved, copy = str(tmp_path / "saved.db"), Home(tmp_path / "copy")
    with marked_as_driver(site.store.home, site_name(site.store)):
        take_over(site.store)
    d0ctl("backup", saved)
    d0ctl("--home", str(copy.root), "restore", saved)
    assert "no daemon has driven" in d0ctl("--home", str(copy.root), "status").stdout
    with open_store(copy) as store:
        take_over(store)

    d0ctl("--home", str(copy.root), "restore", saved, "--yes")

    said = d0ctl("--home", str(copy.root), "status").stdout
    assert "no daemon has driven" not in said and "daemon start" in said


def test_a_home_from_which_a_copy_took_over_drives_nothing_until_it_is_restored_itself(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    root, saved = site.store.home.root, str(tmp_path / "saved.db")
    with marked_as_driver(site.store.home, site_name(site.store)):
        take_over(site.store)
    d0ctl("backup", saved)
    copy = Home(tmp_path / "copy")
    d0ctl("--home", str(copy.root), "restore", saved)
    with open_store(copy) as store:
        take_over(store)

    refused = d0ctl("daemon", "start")
    assert refused.exit_code == 4
    assert f"home `{copy.root}` has taken over from this one" in refused.stderr
    assert f"d0ctl --home {copy.root} status" in refused.stderr
    for command in (["hold", "before"], ["clone", "before", "--dry-run"], ["wait", "before"]):
        assert f"home `{copy.root}` has taken over" in d0ctl(*command).stderr
    assert d0ctl("status", "before").exit_code == 0
    assert "daemon start" not in d0ctl("daemon", "status").stdout
    said = " ".join(d0ctl("status").stdout.split())
    assert f"home `{copy.root}` has taken over from this one" in said
    assert f"d0ctl --home {copy.root} status" in said and "daemon start" not in said
    assert "has driven the nodes since" in d0ctl("doctor").stdout

    copy.root.rename(aside := tmp_path / "aside")
    again = d0ctl("daemon", "start")
    assert (again.exit_code, ", and was moved or removed: " in again.stderr) == (4, True)
    said = " ".join(d0ctl("status").stdout.split())
    assert "has taken over from this one, which is older; it was moved or removed since" in said
    assert "daemon start" not in said
    aside.rename(copy.root)

    d0ctl("--home", str(copy.root), "backup", later := str(tmp_path / "later.db"))
    d0ctl("restore", later, "--yes")
    refuse_second_driver(site.store.home, site_name(site.store))
    assert successor(site.store.home) is None and root.exists()


def test_a_repeated_restore_into_another_home_compares_with_the_first_home_again(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    moved_home.follow(site.store)
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    site.submit(job("later"))
    site.launch("later/1/1/1")
    site.end("later/1/1/1")
    copy, root = ("--home", str(tmp_path / "copy")), site.store.home.root

    told = [d0ctl(*copy, "restore", saved, "--yes") for _ in ("first", "again")]

    for answer in told:
        assert "lacks what came later: 1 job with 1 package (later)" in answer.stderr
        assert "1 package was launched after the backup" in answer.stderr
        assert f"the home in use is `{root}`" in answer.stderr
        assert f"to change over from `{root}`, and not to only look" in answer.stdout


@pytest.mark.parametrize("left", ["results/before", "nodes/{site}/localhost"])
def test_a_folder_with_a_part_of_a_site_and_no_database_waits_for_a_restore(
    site: Site, d0ctl: Type, tmp_path: Path, left: str
) -> None:
    site.submit(job("before"))
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    new = Home(tmp_path / "new")
    new.root.mkdir(mode=0o700)
    (new.root / left.format(site=site_name(site.store))).mkdir(parents=True)
    new.key.write_bytes(site.store.home.site_key())
    new.key.chmod(0o600)
    home = ("--home", str(new.root))

    told = [d0ctl(*home, *words) for words in (["status"], ["daemon", "start"])]

    for answer in told:
        assert answer.exit_code == 5
        assert f"the database `{new.database}` is gone" in answer.stderr
        assert "restore FILE" in answer.stderr
    assert d0ctl(*home, "restore", saved, "--yes").exit_code == 0
    assert "before" in d0ctl(*home, "status").stdout


def test_doctor_of_a_copy_without_results_says_how_to_copy_them(
    home: Home, d0ctl: Type, tmp_path: Path
) -> None:
    (file := tmp_path / "x.yaml").write_text("stages: [{lines: [{run: echo > x, outputs: x}]}]")
    d0ctl("run", str(file))
    shutil.copytree(
        home.root, copy := tmp_path / "copy", ignore=shutil.ignore_patterns("results", "nodes")
    )
    said = d0ctl("--home", str(copy), "doctor").stdout
    missing = f"✘ results: {copy}/results: is missing, and 1 file was delivered there: "
    assert f"{missing}cp -a {home.results} {copy}\n" in said and "set-status" not in said
