"""Faults in the home are planted by hand, and reported."""

import os
import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.doctor.examine import examine
from d0ctl.doctor.home import RECENT_S, failing_turns
from d0ctl.store import Store, open_store
from d0ctl.store.jobs.removal import sweep
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.leases import take_lease
from tests.doctor.conftest import Found
from tests.doctor.planting import old, only
from tests.support.site import Site

DAY = 86_400.0


@pytest.mark.parametrize(
    ("name", "mode", "detail", "advice"),
    [("", 0o755, "other users can enter it", "chmod 700 "),
     ("logs", 0o750, "other users can enter it", "chmod 700 "),
     ("d0ctl.db", 0o644, "other users may read", "chmod 600 "),
     ("results", 0o500, "you may not use it", "chmod 700 ")],
)  # fmt: skip
def test_modes_are_reported_with_the_command_that_sets_them(
    home: Home, found: Found, name: str, mode: int, detail: str, advice: str
) -> None:
    path = home.root / name if name else home.root
    path.chmod(mode)

    finding = only(found)

    assert (finding.check, finding.subject, finding.detail) == ("home", str(path), detail)
    assert finding.advice == f"{advice}{path}"


def test_a_key_that_others_may_read_is_reported_with_the_way_to_a_new_one(
    home: Home, found: Found
) -> None:
    home.key.chmod(0o640)

    finding = only(found)

    assert finding.detail == "other users may read it, and forge messages with it"
    assert finding.advice == (f"chmod 600 {home.key}; d0ctl site rotate-key")


def test_a_folder_above_the_home_in_which_others_may_write_is_reported(
    home: Home, found: Found
) -> None:
    above = home.root.parent
    above.chmod(0o777)

    finding = only(found)

    assert (finding.subject, finding.advice) == (str(above), f"chmod o-w {above}")
    assert finding.detail == "other users can replace your home"
    above.chmod(0o1777)
    assert found() == []


def test_a_key_that_is_gone_or_cut_short_is_reported(home: Home, found: Found) -> None:
    home.key.write_bytes(b"short")
    assert only(found).detail == "is too short to be a key"

    home.key.unlink()
    assert (only(found).subject, only(found).detail) == (str(home.key), "is missing")


def test_a_folder_that_is_gone_is_reported(home: Home, found: Found) -> None:
    home.logs.rmdir()

    assert only(found).advice == f"mkdir -m 700 {home.logs}"


def test_leftovers_of_a_killed_restore_are_reported_and_removed_by_the_next_daemon(
    home: Home, store: Store, found: Found
) -> None:
    left = old(home.root / ".restore.17", 2 * 3600)
    lately = old(home.root / ".restore.18", 0)

    assert (only(found).subject, only(found).heals) == (str(left), True)

    sweep(store, now=time.time())
    assert not left.exists()
    assert lately.exists()


def test_a_first_use_leaves_nothing_that_others_may_read(tmp_path: Path) -> None:
    with open_store(Home(tmp_path / "first"), create=True) as store:
        registry.add_localhost(store)
        assert store.home.writer_lock.exists()
        assert examine(store).findings == []


def test_rejected_messages_are_counted_with_a_reason(home: Home, found: Found) -> None:
    rejected = home.dropbox / "rejected"
    old(rejected / "1.1.abc", 2 * 3600)
    old(rejected / "1.1.abc.reason", 0, "the token of attempt 1 is wrong\n")
    old(rejected / "2.1.abc", 0)
    old(rejected / "3.1.abc", 8 * DAY)

    finding = only(found)

    assert finding.detail == (
        "2 messages that could not be applied, the oldest 2 h 00 min ago: `1.1.abc`:"
        " the token of attempt 1 is wrong"
    )
    assert finding.advice == (
        "put back the `site.key` under which the attempts were launched; if it is lost: "
        f"d0ctl site rotate-key --lost; then rm {rejected}/*"
    )


def test_a_finding_about_rejected_messages_says_how_it_ends(home: Home, found: Found) -> None:
    rejected = home.dropbox / "rejected"
    old(rejected / "1.1.abc", 20)
    old(rejected / "1.1.abc.reason", 0, "the message ends too early\n")

    finding = only(found)

    assert "the oldest 2" in finding.detail and " s ago: " in finding.detail
    assert finding.advice == f"cat {rejected}/*.reason; then rm {rejected}/*"


def test_messages_that_nobody_reads_are_reported(site: Site, home: Home, found: Found) -> None:
    old(home.dropbox / "new" / "1.1", 300)
    old(home.dropbox / "new" / "1.2", 1)

    assert only(found).detail.startswith("1 file of messages unread, one for 30")
    assert only(found).heals

    with site.store.writing():
        take_lease(site.store, "daemon", now=time.time())
    assert not only(found).heals
    assert "daemon.log" in only(found).advice


def test_files_that_can_not_be_messages_are_reported(home: Home, found: Found) -> None:
    (home.dropbox / "new" / os.fsdecode(b"odd\xff")).mkdir()

    finding = only(found)

    assert finding.subject == f"{home.dropbox / 'new'}/odd\\xff"
    assert (finding.detail, finding.heals) == ("1 entry that can't be a message", True)


def test_leftovers_of_a_delivery_are_reported_after_a_day(home: Home, found: Found) -> None:
    old(home.dropbox / "tmp" / "far.1.2.3.batch", DAY + 60)
    old(home.dropbox / "tmp" / "far.1.2.4.batch", 60)

    assert only(found).detail == "1 unfinished file, such as `far.1.2.3.batch`"


def test_mail_that_was_read_by_another_program_is_reported(home: Home, found: Found) -> None:
    (home.dropbox / "cur" / "1.1:2,S").touch()

    assert only(found).detail == "1 file that d0ctl does not read, such as `1.1:2,S`"


def test_so_is_any_other_file_in_the_drop_box(home: Home, found: Found) -> None:
    (home.dropbox / "junk.json").touch()

    assert only(found).subject == str(home.dropbox)
    assert only(found).detail == "1 file that d0ctl does not read, such as `junk.json`"


def test_a_drop_box_that_is_gone_is_reported(home: Home, found: Found) -> None:
    (home.dropbox / "cur").rmdir()

    assert only(found).advice == f"mkdir {home.dropbox / 'cur'}"


def test_a_daemon_whose_turns_fail_is_reported(site: Site, home: Home, found: Found) -> None:
    with site.store.writing():
        take_lease(site.store, "daemon", now=time.time())
    log = home.logs / "daemon.log"
    log.write_text(
        "2026-11-21 10:00:00,123 ERROR a turn failed and is tried again\n"
        "Traceback (most recent call last):\nKeyError: 7\n"
    )

    assert only(found).detail == "its turns fail, the last one a moment ago"

    with log.open("a") as file:
        file.write("2026-11-21 10:00:01,123 INFO node 1 is up\n")
    assert found() == []


@pytest.mark.parametrize(("age", "findings"), [(RECENT_S - 1, 1), (RECENT_S, 0)])
def test_a_turn_that_failed_is_reported_for_a_limited_time(
    home: Home, age: float, findings: int
) -> None:
    log = home.logs / "daemon.log"
    log.write_text("2026-11-21 10:00:00,123 ERROR a turn failed and is tried again\n")
    os.utime(log, (1000, 1000))

    assert len(list(failing_turns(home, now=1000 + age))) == findings
