"""A backup in another home, while the daemon of the first one works: only one drives the nodes."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store import open_store
from tests.support.rows import value
from tests.support.site import Site
from tests.support.waiting import wait_until

JOB = "job: night\nstages: [{{lines: [{{packages: [{{run: '{run}', outputs: a}}]}}]}}]"


@pytest.fixture
def backup(site: Site) -> Iterator[Path]:
    """A backup of a site whose daemon has since launched a package."""
    site.add("farm")
    site.alone()
    daemon = site.start_daemon()
    path = site.folder / "saved.db"
    site.ok("backup", path)
    site.ok("submit", site.write(JOB.format(run=f"{site.gate('end')}; touch a")))
    site.wait_phase("night/1/1/1", "running")
    yield path
    site.stop(daemon)


def test_the_daemon_of_a_restored_home_does_not_start_beside_another(
    site: Site, backup: Path
) -> None:
    other = site.folder / "other"
    stop = f"d0ctl --home {site.home.root} daemon stop"

    restored = site.d0ctl("--home", other, "restore", backup, "--yes")
    refused = site.d0ctl("--home", other, "daemon", "start")
    site.open("end")
    site.ok("wait", "night")

    assert restored.code == 0, restored
    ends, *warnings = restored.err.splitlines()
    assert ends.startswith("the backup ends at ")
    assert warnings == [
        "1 running package was launched after the backup: "
        "its node ends it at the next contact, and deletes its logs and files",
        f"a daemon of this site runs in the home `{site.home.root}`: only one can work",
        "without a daemon, this home shows the backup, and the nodes delete nothing; to change "
        "over to this home:",
        stop,
    ]
    only = f"to change over to this home, and not before: {stop}"
    assert (refused.code, refused.err.splitlines()[1]) == (4, only)
    assert f"from another home: `{site.home.root}`" in refused.err
    assert site.attempts() == [("farm", "successful", None)]


def test_a_rehearsed_restore_says_which_packages_would_end(site: Site, backup: Path) -> None:
    done = site.d0ctl("restore", backup, "--dry-run")
    site.open("end")

    assert done.code == 4
    assert done.err.splitlines() == ["d0ctl: a daemon is running in this home", "d0ctl daemon stop"]
    lost, ended = done.out.splitlines()[3:]
    assert lost.endswith("and lacks what came later: 1 job with 1 package (night) and 1 action")
    assert ended == (
        "1 running package was launched after the backup: "
        "its node ends it at the next contact, and deletes its logs and files"
    )


def test_the_daemon_of_a_restored_home_removes_attempts_that_it_ended(
    site: Site, backup: Path
) -> None:
    folders = site.base("farm") / "attempts"
    site.ok("daemon", "stop")
    site.ok("restore", backup, "--yes")
    assert list(folders.iterdir())

    site.start_daemon()

    wait_until(lambda: not list(folders.iterdir()))
    assert site.d0ctl("doctor", "--nodes").code == 0


def test_the_daemon_of_a_restored_home_removes_inputs_that_were_sent_after_the_backup(
    site: Site,
) -> None:
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.ok("backup", site.folder / "saved.db")
    reads = f"job: reads\nstages: [{{lines: [{{run: '{site.gate('end')}', inputs: gains.txt}}]}}]"
    file = site.write(reads)
    (file.parent / "gains.txt").write_text("1")
    site.ok("submit", file)
    site.wait_phase("reads/1/1/1", "running")
    cache = site.base("farm") / "cache/in"
    assert list(cache.rglob("gains.txt"))
    site.ok("daemon", "stop")
    site.ok("restore", site.folder / "saved.db", "--yes")
    assert "gains.txt" in site.d0ctl("doctor", "--nodes").out

    site.start_daemon()

    wait_until(lambda: not list(cache.iterdir()), what="the input is removed")
    assert site.d0ctl("doctor", "--nodes").code == 0


def test_a_package_that_began_after_the_backup_is_shown_as_running_by_the_restored_home(
    site: Site,
) -> None:
    site.add("farm", cpus=1)
    site.alone()
    site.start_daemon()
    runs = [*["true"] * 6, *(site.gate(name) for name in "ab")]
    lines = ", ".join(f"{{packages: [{{run: '{run}'}}]}}" for run in runs)
    site.ok("submit", site.write(f"job: night\nstages: [{{lines: [{lines}]}}]"))
    site.wait_phase("night/1/7/1", "running")
    site.wait_phase("night/1/8/1", "starting")
    site.ok("backup", site.folder / "saved.db")
    site.open("a")
    site.wait_phase("night/1/8/1", "running")
    site.ok("daemon", "stop")
    site.ok("restore", site.folder / "saved.db", "--yes")
    assert site.phases()["night/1/8/1"] == "starting"

    site.start_daemon()

    site.wait_phase("night/1/8/1", "running")
    assert "running farm" in " ".join(site.ok("status", "night").split())
    site.open("b")
    site.ok("wait", "night")


def test_files_that_were_purged_after_the_backup_were_not_removed_by_a_stranger(
    site: Site,
) -> None:
    site.add("farm")
    site.alone()
    site.start_daemon()
    make = f"{{lines: [{{run: '{site.gate('make')}; echo 1 > part', outputs: part}}]}}"
    read = "{lines: [{run: 'cp part all', inputs: part, outputs: all}]}"
    site.ok("submit", site.write(f"job: night\nstages: [{make}, {read}]"))
    site.ok("hold", "night/2/1/1")
    site.open("make")
    site.wait_phase("night/1/1/1", "done")
    site.ok("backup", site.folder / "saved.db")
    cache = site.base("farm") / "cache"
    assert list(cache.rglob("part"))
    site.ok("release", "night/2/1/1")
    wait_until(lambda: not list(cache.rglob("part")), what="the file is purged")
    site.ok("daemon", "stop")
    site.ok("restore", site.folder / "saved.db", "--yes")

    site.start_daemon()

    said = "1 copy was missing or changed after a backup was restored, such as "
    wait_until(lambda: said in site.ok("why", "--node", "farm"))
    assert "but not by d0ctl" not in site.ok("why", "--node", "farm")


def test_a_home_that_takes_over_as_it_is_printed_has_the_files_of_this_machines_node(
    site: Site,
) -> None:
    first = site.start_daemon()
    keep = "[{file: part, result: no, disposition: retain-indef}]"
    line = f"{{run: 'echo 1 > part', outputs: {keep}}}"
    site.ok("submit", site.write(f"job: night\nstages: [{{lines: [{line}]}}]"))
    site.wait_phase("night/1/1/1", "done")
    site.stop(first)
    site.ok("backup", site.folder / "saved.db")
    other = ("--home", site.folder / "other")

    printed = site.ok(*other, "restore", site.folder / "saved.db", "--yes").splitlines()
    for line in printed:
        if line.startswith("cp "):
            subprocess.run(line, shell=True, check=True)
    began = time.time()
    site.ok(*other, "daemon", "start")
    try:
        with open_store(Home(site.folder / "other"), read_only=True) as store:
            wait_until(lambda: (value(store, "node", "surveyed") or 0.0) > began)
        listed, found = site.ok(*other, "file", "list", "night"), site.d0ctl(*other, "doctor")
    finally:
        site.ok(*other, "daemon", "stop")

    assert "on localhost" in listed
    assert found.code == 0
