"""The daemon and its home: one daemon in each, and no work on a database that is not in place."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.daemon import background
from d0ctl.daemon.background import only_daemon, status
from d0ctl.daemon.drive import driving
from d0ctl.daemon.loop import Loop
from d0ctl.doctor.home import home_files
from d0ctl.errors import DatabaseUnavailable, Refused
from d0ctl.show.outcome import standstill_reason
from d0ctl.store import Store, open_store
from d0ctl.store.jobs import removal
from d0ctl.store.nodes import standstill
from d0ctl_wrapper.protocol import message
from tests.support.homes import make_home
from tests.support.jobs import job, simple
from tests.support.rows import count, spoil
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, wait_until

ROOT = Path(__file__).resolve().parents[2]


HOLDS_THE_LOCK_OF_ITS_END = """
import os, signal, sys
from d0ctl.__main__ import main
from d0ctl.daemon import drive

def drive_all(home, stop):
    with stop._cond:  # as for a moment in each wait
        os.kill(os.getpid(), signal.SIGTERM)
    stop.wait()

drive.drive_all = drive_all
sys.argv = ["d0ctl", "daemon", "run"]
main()
"""


def gated(site: Site) -> None:
    """A job with one package that waits for its gate, once it runs."""
    site.submit(job("one", [simple(site.ran("a", site.gate("a")))]))
    wait_until(lambda: site.runs()["a"])


def test_a_second_daemon_is_refused_and_the_first_continues(site: Site) -> None:
    first = site.start_daemon()
    second = site.begin_daemon()
    gated(site)

    assert second.wait(PATIENCE_S) == 4
    assert (
        f"d0ctl: a daemon is already running in the home `{site.home.root}`: process {first.pid}\n"
        "d0ctl daemon status\n" in site.log()
    )
    site.open("a")
    site.wait_phase("one/1/1/1", "done")
    assert site.faults() == {}


def test_the_next_daemon_starts_after_one_that_was_killed(site: Site) -> None:
    first = site.start_daemon()
    gated(site)

    site.crash(first)
    site.open("a")
    second = site.start_daemon()

    site.wait_phase("one/1/1/1", "done")
    assert status(site.home)["pid"] == second.pid
    assert site.runs() == {"a": 1}


def test_a_daemon_ends_if_it_is_stopped_just_when_it_begins_to_wait(site: Site) -> None:
    program = [sys.executable, "-c", HOLDS_THE_LOCK_OF_ITS_END]

    subprocess.run(program, env=site.environment, check=True, timeout=PATIENCE_S)


def test_a_daemon_stops_if_its_database_is_moved(site: Site) -> None:
    process = site.start_daemon()
    gated(site)
    for ending in ("", "-wal"):
        path = site.home.root / f"d0ctl.db{ending}"
        path.rename(site.folder / path.name)

    assert process.wait(PATIENCE_S) == 5

    fault = f"the database `{site.home.database}` was moved or replaced while it was in use"
    assert f"d0ctl: {fault}\nput it back, or type d0ctl restore FILE; then " in site.log()
    assert site.log().count(f"ERROR {fault}\n") == 1
    for name in ("d0ctl.db", "d0ctl.db-wal"):
        (site.folder / name).rename(site.home.root / name)
    site.open("a")
    site.start_daemon()
    site.wait_phase("one/1/1/1", "done")
    assert site.runs() == {"a": 1}
    assert site.faults() == {}


def test_a_daemon_stops_if_another_database_is_put_in_the_place_of_its_own(
    site: Site,
) -> None:
    process = site.start_daemon()
    gated(site)
    other = make_home(site.folder / "other").database
    for ending in ("", "-wal", "-shm"):
        path = site.home.root / f"d0ctl.db{ending}"
        path.rename(site.folder / path.name)

    other.replace(site.home.database)

    assert process.wait(PATIENCE_S) == 5
    with open_store(site.home, read_only=True) as replaced:
        assert (count(replaced, "job"), count(replaced, "lease")) == (0, 0)


def test_a_run_stops_if_its_database_is_removed(site: Site) -> None:
    name = site.submit(job("one", [simple(site.ran("a", site.gate("a")))]))
    driver = site.start_driver(name)
    wait_until(lambda: site.runs()["a"])

    site.home.database.unlink()

    assert driver.wait(PATIENCE_S) == 1
    assert "DatabaseMoved: the database" in site.log()
    site.open("a")


def test_nothing_is_written_to_a_database_that_was_moved(home: Home, store: Store) -> None:
    home.database.rename(home.root / "moved.db")

    with pytest.raises(DatabaseUnavailable, match="was moved or replaced"), store.writing():
        raise AssertionError("the block ran")


def test_the_lock_of_a_daemon_outlives_all_files_of_the_home(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "HANDOVER_S", 0.1)
    copy = home.database.read_bytes()

    with only_daemon(home):
        for path in home.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        home.create()
        home.database.write_bytes(copy)
        with pytest.raises(Refused, match="a daemon is already running"), only_daemon(home):
            raise AssertionError("two daemons run")


@pytest.mark.parametrize("create", [True, False])
def test_a_home_that_has_lost_its_database_gets_no_new_one(home: Home, create: bool) -> None:
    with open_store(home) as store, store.writing():
        pass
    home.database.unlink()

    with pytest.raises(DatabaseUnavailable, match=r"d0ctl\.db` is gone") as refused:
        open_store(home, create=create)

    assert "d0ctl restore FILE" in (refused.value.hint or "")
    assert not home.database.exists()


@pytest.mark.parametrize("create", [True, False])
def test_a_database_of_no_bytes_is_refused(home: Home, create: bool) -> None:
    home.database.write_bytes(b"")

    with pytest.raises(DatabaseUnavailable, match="is empty: 0 bytes") as refused:
        open_store(home, create=create)

    assert "d0ctl restore FILE" in (refused.value.hint or "")
    assert home.database.stat().st_size == 0


FIRST_USE = """
import sys
from pathlib import Path
from tests.chaos import trap
from d0ctl.config import Home
from d0ctl.store import open_store
trap.lay(sys.argv[1], "call")
open_store(Home(Path(sys.argv[2])), create=True)
"""


@pytest.mark.parametrize(("count", "left"), [(1, ".site.key.*"), (2, ".d0ctl.db.*")])
def test_a_first_use_that_is_killed_leaves_no_half_of_a_database(
    tmp_path: Path, count: int, left: str
) -> None:
    fresh = Home(tmp_path / "fresh")
    order = {"point": "link", "count": count, "after": False}
    (tmp_path / "call-1.json").write_text(json.dumps(order))

    killed = subprocess.run([sys.executable, "-c", FIRST_USE, tmp_path, fresh.root], cwd=ROOT)

    assert killed.returncode == -signal.SIGKILL
    assert not fresh.database.exists()
    with open_store(fresh, create=True) as store:
        assert store.value("site")
    (aside,) = fresh.root.glob(left)
    os.utime(aside, (0, 0))
    assert str(aside) in [finding.subject for finding in home_files(fresh) if finding.heals]
    with open_store(fresh) as store:
        removal.sweep(store, now=time.time())
    assert not aside.exists()


def test_a_message_that_meets_a_damaged_page_is_kept(home: Home) -> None:
    spoil(home.database, "attempt")

    with driving(home, None) as desk:
        token = message.token(home.site_key(), 7)
        start = {"attempt": 7, "token": token, "seq": 1, "time": 5.0, "kind": "start", "pid": 3,
                 "boot_id": "b", "utc_offset": 0}  # fmt: skip
        desk.dropbox.deliver("n1", [message.text([start])])
        desk.wake.set()
        with pytest.raises(DatabaseUnavailable, match="disk image is malformed"):
            Loop(desk).turn(threading.Event())

    assert list((home.dropbox / "rejected").iterdir()) == []
    assert len(list((home.dropbox / "new").iterdir())) == 1


def test_a_run_ends_with_the_reason_if_this_machine_can_not_work_and_the_next_tries_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standstill, "LOCAL_PATIENCE_S", 0.5)
    name = site.submit(job("one", [simple("true")]))
    in_the_way = site.home.nodes / site.site_name() / "localhost" / "attempts"
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    in_the_way.touch()

    site.drive(name)

    assert site.phases() == {"one/1/1/1": "ready"}
    with open_store(site.home) as store:
        now = time.time()
        reason = standstill_reason(
            store, standstill.job_standing(store, site.id_of(name), now=now), now
        )
    assert reason is not None
    assert "`localhost` has been down for " in reason
    assert f"the relay cannot continue: [Errno 17] File exists: b'{in_the_way}'" in reason

    in_the_way.unlink()
    site.drive(name)

    assert site.phases() == {"one/1/1/1": "done"}


def test_a_driver_reads_at_once_the_messages_that_came_before_it(tmp_path: Path) -> None:
    with driving(make_home(tmp_path), None) as desk:
        assert desk.wake.is_set()


def test_a_daemon_that_could_not_start_again_is_not_stopped(site: Site) -> None:
    site.ok("daemon", "start")
    site.home.key.rename(site.home.key.with_suffix(".aside"))

    refused = site.d0ctl("daemon", "restart")

    assert refused.code == 5 and "site.key` is missing" in refused.err
    assert "running for" in site.ok("daemon", "status")
    site.ok("daemon", "stop")


def test_a_restarted_daemon_is_a_new_process(site: Site) -> None:
    first = site.start_daemon()

    said = site.ok("daemon", "restart")
    try:
        answer = site.json("daemon", "status")
    finally:
        site.ok("daemon", "stop")

    assert said.splitlines()[0] == "the daemon has stopped; running packages continue"
    assert said.splitlines()[1] == f"the daemon is running: pid {answer['pid']}"
    assert answer["pid"] != first.pid
    assert not answer["outdated"]
