"""Leases and the turn: processes that are gone, stopped, or too many."""

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
from d0ctl.show.why.production import obstacles
from d0ctl.store.nodes import holder as holders
from d0ctl.store.nodes import standstill
from d0ctl.store.nodes.holder import began, boot_id, holder, is_outdated, start_time
from tests.doctor.conftest import Found, damage
from tests.doctor.planting import old, only
from tests.support.building import production
from tests.support.site import Site
from tests.support.waiting import wait_until


def test_a_lease_of_a_process_that_is_gone_heals(site: Site, found: Found) -> None:
    site.submit(production())
    damage(site, f"insert into lease values ('node 1', '{holder()}x', 1)")

    finding = only(found)

    assert (finding.check, finding.subject, finding.heals) == ("lease", "node `localhost`", True)
    assert finding.detail == f"is held by process {os.getpid()}, which is gone"


def test_beside_a_daemon_the_advice_is_to_start_another(site: Site, found: Found) -> None:
    left = old(site.store.home.dropbox / "tmp" / "half", 2 * 86_400)
    assert only(found).advice == "d0ctl daemon start"

    damage(site, f"insert into lease values ('daemon', '{holder()}', 1)")

    assert (only(found).subject, only(found).heals) == (str(left.parent), True)
    assert only(found).advice == "d0ctl daemon stop; d0ctl daemon start"


def test_a_missing_process_is_ignored_when_no_work_is_left(site: Site, found: Found) -> None:
    damage(site, f"insert into lease values ('daemon', '{holder()}x', 1)")

    assert found() == []


def test_two_simultaneous_drivers_are_reported(site: Site, found: Found) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    boot, _, _ = holder().split()

    damage(
        site,
        f"insert into lease values ('daemon', '{holder()}', 1)",
        f"insert into lease values ('node 1', '{boot} {other.pid} {start_time(other.pid)}', 1)",
    )
    finding = only(found)
    other.communicate()

    assert finding.detail == (
        f"is held by process {other.pid}, and the daemon is process {os.getpid()}"
    )
    assert finding.advice == f"kill {other.pid}"


def hold_turn(home: Home) -> subprocess.Popen[bytes]:
    """A process that has the turn to write."""
    script = (
        "import fcntl, os, sys\nturn = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)\n"
        "fcntl.flock(turn, fcntl.LOCK_EX)\nprint(flush=True)\ninput()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, home.writer_lock],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    return process


def test_a_stopped_process_with_the_writer_lock_is_reported(home: Home, found: Found) -> None:
    writer = hold_turn(home)
    writer.send_signal(signal.SIGSTOP)
    wait_until(lambda: leases._state(writer.pid) == "T")

    finding = only(found)
    writer.send_signal(signal.SIGCONT)
    writer.communicate(b"\n")

    assert finding.detail == f"process {writer.pid} blocks other writers: it is stopped"
    assert finding.advice == f"kill -CONT {writer.pid}"
    assert found() == []


def test_a_process_that_keeps_the_writer_lock_idle_is_reported(
    home: Home, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HELD_S", 0.1)
    writer = hold_turn(home)

    finding = only(found)
    writer.communicate(b"\n")

    assert finding.advice == f"kill {writer.pid}"


def test_reading_the_writer_lock_does_not_take_it(
    site: Site, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HELD_S", 0.1)
    taken: list[int] = []
    monkeypatch.setattr(fcntl, "flock", lambda *words: taken.append(1))

    assert list(leases.stuck_writer(site.store)) == []
    assert taken == []


@pytest.mark.parametrize(("days", "outdated"), [(-1, False), (1, True)])
def test_a_process_that_began_before_its_program_was_written_is_outdated(
    tmp_path: Path, days: int, outdated: bool
) -> None:
    program = tmp_path / "__init__.py"
    program.touch()
    written = time.time() + days * 86_400
    os.utime(program, (written, written))

    assert is_outdated(holder(), program) == outdated


def test_a_process_is_outdated_while_its_program_is_being_replaced(tmp_path: Path) -> None:
    assert is_outdated(holder(), tmp_path / "removed.py")


def test_a_process_that_began_now_is_not_outdated_by_its_own_program(tmp_path: Path) -> None:
    program = tmp_path / "__init__.py"
    program.touch()
    os.utime(program, (began(holder()) - 1, began(holder()) - 1))
    assert not is_outdated(holder(), program)
    os.utime(program, (began(holder()) + 1, began(holder()) + 1))
    assert is_outdated(holder(), program)


def test_nobody_knows_whether_a_process_of_another_installation_is_outdated(
    tmp_path: Path,
) -> None:
    program = tmp_path / "__init__.py"
    other = subprocess.Popen(["/bin/sleep", "60"])
    try:
        # The kernel closes the pipe that Popen waits for before the arguments can be read.
        wait_until(Path(f"/proc/{other.pid}/cmdline").read_bytes)
        name = f"{boot_id()} {other.pid} {start_time(other.pid)}"
        program.touch()
        os.utime(program, (began(name) + 60, began(name) + 60))

        assert not is_outdated(name, program)
    finally:
        other.kill()
        other.wait()


def test_status_names_a_daemon_that_runs_older_code(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.submit(production())
    site.up()
    damage(site, f"insert into lease values ('daemon', '{holder()}', 1)")
    before = obstacles(standstill.production(site.store, now=time.time()), time.time())

    monkeypatch.setattr(holders, "is_outdated", lambda name: True)
    (obstacle,) = obstacles(standstill.production(site.store, now=time.time()), time.time())

    assert before == []
    assert (obstacle.commands, obstacle.is_cause) == (("d0ctl daemon restart",), False)
    assert "the daemon runs older code" in obstacle.text
