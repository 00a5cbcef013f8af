"""What is wrong around the database is planted by hand, and told."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.doctor import leases
from d0ctl.doctor.finding import Finding
from d0ctl.doctor.look import examine
from d0ctl.nodes.carry import checksum_of
from d0ctl.store import open_store
from d0ctl.store.files import copies
from d0ctl.store.jobs.removal import sweep
from d0ctl.store.jobs.unneeded_files import STRAY_S
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import holder, start_time
from d0ctl.store.nodes.leases import take_lease
from d0ctl_wrapper.protocol import stamp
from tests.cli.building import Site, production
from tests.doctor.conftest import Found, damage
from tests.support.waiting import wait_until

DAY = 86_400.0


@pytest.fixture
def home(site: Site) -> Home:
    """The home that is looked at."""
    return site.store.home


def only(found: Found) -> Finding:
    """The one thing that is wrong."""
    (one,) = found()
    return one


def old(path: Path, seconds: float, text: str = "?") -> Path:
    """A file that has been there for so long."""
    path.write_text(text)
    os.utime(path, (time.time() - seconds,) * 2)
    return path


@pytest.mark.parametrize(
    ("name", "mode", "detail", "advice"),
    [("", 0o755, "others may enter", "chmod 700 "),
     ("logs", 0o750, "others may enter", "chmod 700 "),
     ("d0ctl.db", 0o644, "others may read", "chmod 600 "),
     ("results", 0o500, "you may not use it", "chmod 700 ")],
)  # fmt: skip
def test_modes_are_told_with_the_command_that_sets_them(
    home: Home, found: Found, name: str, mode: int, detail: str, advice: str
) -> None:
    path = home.root / name if name else home.root
    path.chmod(mode)

    one = only(found)

    assert (one.check, one.subject, one.detail) == ("home", str(path), detail)
    assert one.advice == f"{advice}{path}"


def test_a_key_that_others_may_read_is_told_with_the_way_to_a_new_one(
    home: Home, found: Found
) -> None:
    home.key.chmod(0o640)

    one = only(found)

    assert one.detail == "others may read it, and forge messages with it"
    assert one.advice == (
        f"chmod 600 {home.key}; once nothing is launched: head -c 32 /dev/urandom > {home.key}"
    )


def test_a_folder_above_the_home_in_which_others_may_write_is_told(
    home: Home, found: Found
) -> None:
    above = home.root.parent
    above.chmod(0o777)

    one = only(found)

    assert (one.subject, one.advice) == (str(above), f"chmod o-w {above}")
    assert one.detail == "others may put another home in the place of yours"
    above.chmod(0o1777)
    assert found() == []


def test_a_key_that_is_gone_or_cut_short_is_told(home: Home, found: Found) -> None:
    home.key.write_bytes(b"short")
    assert only(found).detail == "is too short to be a key"

    home.key.unlink()
    assert (only(found).subject, only(found).detail) == (str(home.key), "is missing")


def test_a_folder_that_is_gone_is_told(home: Home, found: Found) -> None:
    home.logs.rmdir()

    assert only(found).advice == f"mkdir -m 700 {home.logs}"


def test_what_a_killed_restore_left_is_told(home: Home, found: Found) -> None:
    left = old(home.root / ".restore.17", 2 * 3600)
    old(home.root / ".restore.18", 0)

    assert (only(found).subject, only(found).advice) == (str(left), f"rm {left}")


def test_a_first_use_leaves_nothing_that_others_may_read(tmp_path: Path) -> None:
    with open_store(Home(tmp_path / "first"), create=True) as store:
        registry.add_localhost(store)
        assert store.home.turn.exists()
        assert examine(store).findings == []


# the drop-box ------------------------------------------------------------------------------


def test_rejected_messages_are_counted_with_a_reason(home: Home, found: Found) -> None:
    rejected = home.dropbox / "rejected"
    old(rejected / "1.1.abc", 2 * 3600)
    old(rejected / "1.1.abc.reason", 0, "the token of attempt 1 is wrong\n")
    old(rejected / "2.1.abc", 0)

    one = only(found)

    assert one.detail == (
        "2 messages that could not be applied, the oldest 2.0 h ago: `1.1.abc`:"
        " the token of attempt 1 is wrong"
    )
    assert one.advice == f"read them, then rm {rejected}/*"


def test_messages_that_nobody_reads_are_told(site: Site, home: Home, found: Found) -> None:
    old(home.dropbox / "new" / "1.1", 300)
    old(home.dropbox / "new" / "1.2", 1)

    assert only(found).detail.startswith("1 file of messages unread, one for 30")
    assert only(found).heals

    with site.store.writing():
        take_lease(site.store, "daemon", now=time.time())
    assert not only(found).heals
    assert "daemon.log" in only(found).advice


def test_what_can_be_no_message_is_told(home: Home, found: Found) -> None:
    (home.dropbox / "new" / os.fsdecode(b"odd\xff")).mkdir()

    one = only(found)

    assert one.subject == f"{home.dropbox / 'new'}/odd\\xff"
    assert (one.detail, one.heals) == ("1 entry that can't be a message", True)


def test_leftovers_of_a_delivery_are_told_after_a_day(home: Home, found: Found) -> None:
    old(home.dropbox / "tmp" / "far.1.2.3.batch", DAY + 60)
    old(home.dropbox / "tmp" / "far.1.2.4.batch", 60)

    assert only(found).detail == "1 file that nobody finishes, such as `far.1.2.3.batch`"


def test_mail_that_was_read_by_another_program_is_told(home: Home, found: Found) -> None:
    (home.dropbox / "cur" / "1.1:2,S").touch()

    assert only(found).detail == "1 file that nobody reads, such as `1.1:2,S`"


def test_a_drop_box_that_is_gone_is_told(home: Home, found: Found) -> None:
    (home.dropbox / "cur").rmdir()

    assert only(found).advice == f"mkdir {home.dropbox / 'cur'}"


# leases ------------------------------------------------------------------------------------


def test_a_lease_of_a_process_that_is_gone_heals(site: Site, found: Found) -> None:
    site.submit(production())
    damage(site, f"insert into lease values ('node 1', '{holder()}x', 1)")

    one = only(found)

    assert (one.check, one.subject, one.heals) == ("lease", "node `localhost`", True)
    assert one.detail == f"is held by process {os.getpid()}, which is gone"


def test_nobody_misses_a_process_that_is_gone_when_all_is_done(site: Site, found: Found) -> None:
    damage(site, f"insert into lease values ('daemon', '{holder()}x', 1)")

    assert found() == []


def test_two_who_drive_at_once_are_told(site: Site, found: Found) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    boot, _, _ = holder().split()

    damage(
        site,
        f"insert into lease values ('daemon', '{holder()}', 1)",
        f"insert into lease values ('node 1', '{boot} {other.pid} {start_time(other.pid)}', 1)",
    )
    one = only(found)
    other.communicate()

    assert one.detail == (
        f"is held by process {other.pid}, and the daemon is process {os.getpid()}"
    )
    assert one.advice == f"kill {other.pid}"


def hold_turn(home: Home) -> subprocess.Popen[bytes]:
    """A process that has the turn to write."""
    script = (
        "import fcntl, os, sys\nturn = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)\n"
        "fcntl.flock(turn, fcntl.LOCK_EX)\nprint(flush=True)\ninput()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, home.turn], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    process.stdout.readline()
    return process


def test_a_stopped_process_that_has_the_turn_is_told(home: Home, found: Found) -> None:
    writer = hold_turn(home)
    writer.send_signal(signal.SIGSTOP)
    wait_until(lambda: leases._state(writer.pid) == "T")

    one = only(found)
    writer.send_signal(signal.SIGCONT)
    writer.communicate(b"\n")

    assert one.detail == f"process {writer.pid} keeps others from writing: it is stopped"
    assert one.advice == f"kill -CONT {writer.pid}"
    assert found() == []


def test_a_process_that_keeps_the_turn_and_writes_nothing_is_told(
    home: Home, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HELD_S", 0.1)
    writer = hold_turn(home)

    one = only(found)
    writer.communicate(b"\n")

    assert one.advice == f"kill {writer.pid}"


def test_who_looks_at_the_turn_does_not_take_it(
    site: Site, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HELD_S", 0.1)
    taken: list[int] = []
    monkeypatch.setattr(fcntl, "flock", lambda *words: taken.append(1))

    assert list(leases.stuck_writer(site.store)) == []
    assert taken == []


# results -----------------------------------------------------------------------------------


def test_what_no_job_delivered_is_told_unless_its_job_was_removed(
    site: Site, home: Home, found: Found
) -> None:
    site.submit(production())
    for folder in (home.results / "prod", home.results / "removed"):
        folder.mkdir()
        (folder / "mine.txt").touch()
        (folder / ".plot.png.123").touch()

    one = only(found)

    assert (one.check, one.subject) == ("results", str(home.results / "prod"))
    assert one.detail == "1 file that the job did not deliver, such as `mine.txt`"


def test_a_result_that_is_gone_is_told(site: Site, home: Home, found: Found) -> None:
    site.submit(production())
    path = home.results / "prod" / "plot.png"
    damage(
        site,
        "update file set present = 1 where name = 'plot.png'",
        f"insert into location (file_id, cluster_id, path, made) select id, 1, '{path}', 1"
        " from file where name = 'plot.png'",
    )

    assert (only(found).subject, only(found).detail) == (
        str(path),
        "was delivered, and is not there",
    )
    path.parent.mkdir()
    path.touch()
    assert found() == []


def test_files_in_transit_of_a_job_that_is_gone_heal(home: Home, found: Found) -> None:
    (home.cache / "77" / "5").mkdir(parents=True)

    assert (only(found).check, only(found).heals) == ("transit", True)


@pytest.fixture
def kept(site: Site, home: Home) -> Path:
    """A copy in the cache of the control host, as it was recorded."""
    site.submit(production("mc"))
    row = site.store.connection.execute("select id, job_id, name from file limit 1").fetchone()
    path = home.in_transit(row["job_id"], row["id"], row["name"])
    path.parent.mkdir(parents=True)
    path.write_text("some data")
    size, checksum = checksum_of(path)
    with site.store.writing():
        copies.arrive(
            site.store, file=row["id"], cluster=1, result=0, path=str(path), node=None, size=size,
            checksum=checksum, now=0.0, **stamp.of(path.stat()),
        )  # fmt: skip
    return path


def reported(site: Site, path: Path, *, checksums: bool = False) -> list[tuple[str, str]]:
    """What is said of a file, by the names of the rules."""
    found = examine(site.store, checksums=checksums).findings
    return [(one.check, one.detail) for one in found if one.subject == str(path)]


def test_a_copy_on_the_control_host_that_was_changed_is_told(
    site: Site, found: Found, kept: Path
) -> None:
    assert reported(site, kept, checksums=True) == []

    kept.write_text("any other")
    assert reported(site, kept) == [("copy", "was changed since it was put there")]

    kept.unlink()
    assert reported(site, kept) == [("copy", "is a copy that is not there")]


def test_the_contents_of_copies_on_the_control_host_are_read_when_that_is_asked(
    site: Site, found: Found, kept: Path
) -> None:
    status = kept.stat()
    kept.write_text("any other")
    os.utime(kept, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert reported(site, kept) == []
    assert reported(site, kept, checksums=True) == [
        ("contents", "has another checksum than it had")
    ]


def test_a_file_beside_a_copy_on_the_control_host_goes_at_the_next_start(
    site: Site, home: Home, found: Found, kept: Path
) -> None:
    young = old(kept.with_name("young"), 0)
    stray = old(kept.with_name("stray"), STRAY_S + 60)
    assert reported(site, stray) == [("orphan", "is no copy that the database knows")]
    assert reported(site, young) == []

    sweep(site.store, now=time.time())

    assert not stray.exists()
    assert kept.exists()
    assert young.exists()


# the daemon --------------------------------------------------------------------------------


def test_a_daemon_whose_turns_fail_is_told(site: Site, home: Home, found: Found) -> None:
    with site.store.writing():
        take_lease(site.store, "daemon", now=time.time())
    log = home.logs / "daemon.log"
    log.write_text(
        "2026-11-21 10:00:00,123 ERROR a turn failed and is tried again\n"
        "Traceback (most recent call last):\nKeyError: 7\n"
    )

    assert only(found).detail == "its turns fail, the last a moment ago"

    with log.open("a") as file:
        file.write("2026-11-21 10:00:01,123 INFO node 1 is up\n")
    assert found() == []
