"""kill -9 of relays and wrappers, reboots, full disks: nothing is lost or counts twice."""

import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.host import attempt_records
from d0ctl_wrapper.protocol import message
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay.attempts.pool import WrapperPool
from d0ctl_wrapper.relay.attempts.supervisor import Supervisor
from tests.support.waiting import PATIENCE_S, descendants, wait_until
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.test_kill import DAEMON, daemons, is_gone


def states(node: Client) -> dict[int, str]:
    """The attempts that a relay lists in its hello."""
    return {entry["attempt"]: entry["state"] for entry in node.wait("hello")["attempts"]}


def dead(node: Client) -> Frame:
    """Wait for a death, and give it."""
    deaths: list[Frame] = node.wait("dead")["attempts"]
    assert len(deaths) == 1
    return deaths[0]


def test_attempts_outlive_their_relay_and_are_adopted(connect: Connect, tmp_path: Path) -> None:
    node = connect()
    script = f"until [ -e {tmp_path}/open ]; do sleep 0.02; done"
    node.launch(launch(1, binary(script=script), cpus=4), launch(2, binary("true")))
    node.started(1)
    node.process.kill()
    successor = connect()
    assert states(successor) == {1: "running"}

    successor.launch(launch(1, binary("true")), launch(2, binary("true")))
    assert successor.wait("already")["attempts"] == [1]
    assert not successor.folder(2).exists(), "the adopted one has all processors"
    (tmp_path / "open").touch()
    assert successor.end(1)["outcome"] == "successful"
    assert successor.end(2)["outcome"] == "successful"


def test_a_new_relay_ends_an_older_one(connect: Connect) -> None:
    node = connect()
    node.launch(launch(1, binary("sleep", "300")))
    node.started(1)
    successor = connect()

    assert states(successor) == {1: "running"}
    assert node.process.wait(PATIENCE_S) == 0


def test_a_new_relay_ends_an_older_one_that_hangs(connect: Connect) -> None:
    node = connect()
    node.wait("hello")
    os.kill(node.process.pid, signal.SIGSTOP)
    connect().wait("hello")

    assert node.process.wait(PATIENCE_S) == -signal.SIGKILL


def test_a_lock_of_a_foreign_process_is_not_taken(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "base").mkdir(mode=0o700)
    lock = tmp_path / "base/lock"
    stranger = subprocess.Popen(["flock", str(lock), "sleep", "300"], start_new_session=True)
    wait_until(lambda: lock.exists())
    lock.write_text(f"{stranger.pid} 1\n")
    node = connect()

    assert "another relay holds the lock" in node.wait("fault")["message"]
    assert stranger.poll() is None
    os.killpg(stranger.pid, signal.SIGKILL)
    stranger.wait()


def test_the_death_of_a_wrapper_is_reported_and_its_processes_are_killed(node: Client) -> None:
    node.launch(launch(1, binary(script=DAEMON), cpus=4), launch(2, binary("true")))
    wrapper = node.started(1)
    hidden = daemons(node, 1)
    node.message(1, "start")
    os.kill(wrapper, signal.SIGKILL)

    assert dead(node) == {"attempt": 1, "message": "its wrapper was ended by SIGKILL"}
    assert is_gone(hidden)
    assert node.end(2)["outcome"] == "successful"
    assert [one["kind"] for one in node.messages(1)] == ["start"]


def test_the_death_of_a_wrapper_does_not_affect_others(node: Client) -> None:
    node.launch(*(launch(number, binary("sleep", "300")) for number in (1, 2, 3)))
    wrappers = {number: node.started(number) for number in (1, 2, 3)}
    os.kill(wrappers[2], signal.SIGKILL)

    assert dead(node)["attempt"] == 2
    node.send("kill", attempts=[1, 3], grace=10)
    assert {node.end(number)["outcome"] for number in (1, 3)} == {"killed"}


def test_the_death_of_an_adopted_wrapper_is_noticed(connect: Connect) -> None:
    node = connect()
    node.launch(launch(1, binary("sleep", "300")))
    wrapper = node.started(1)
    node.close()
    successor = connect()
    assert states(successor) == {1: "running"}
    left = [pid for pid in descendants(wrapper) if pid.name() == "sleep"]
    os.kill(wrapper, signal.SIGKILL)

    assert dead(successor) == {"attempt": 1, "message": "its wrapper is gone"}
    assert left and is_gone(left)


def test_a_wrapper_that_died_without_a_relay_is_listed_as_dead(connect: Connect) -> None:
    node = connect()
    node.launch(launch(1, binary("sleep", "300")))
    wrapper = node.started(1)
    node.process.kill()
    left = descendants(wrapper)
    os.kill(wrapper, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{wrapper}").exists())
    successor = connect()

    if states(successor)[1] != "dead":
        assert dead(successor)["attempt"] == 1
    assert left and is_gone(left)


def test_a_folder_without_a_wrapper_is_dead(connect: Connect) -> None:
    node = connect()
    node.wait("hello")
    node.close()
    node.folder(5).mkdir()

    assert states(connect()) == {5: "dead"}


def test_an_attempt_of_another_boot_is_dead_and_no_process_is_touched(connect: Connect) -> None:
    node = connect()
    node.launch(launch(1, binary("sleep", "300")))
    wrapper = node.started(1)
    node.close()
    record = (node.folder(1) / "wrapper").read_text().split()
    (node.folder(1) / "wrapper").write_text(" ".join([*record[:2], "other-boot", "1"]) + "\n")

    assert states(connect()) == {1: "dead"}
    assert Path(f"/proc/{wrapper}").exists()


def test_a_pid_that_has_passed_to_another_is_not_the_wrapper(connect: Connect) -> None:
    node = connect()
    node.wait("hello")
    node.close()
    node.folder(1).mkdir()
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    (node.folder(1) / "wrapper").write_text(f"{os.getpid()} 1 {boot_id} 1\n")
    successor = connect()

    assert states(successor) == {1: "dead"}
    successor.send("kill", attempts=[1], grace=0)
    assert dead(successor)["attempt"] == 1


def test_an_empty_end_file_does_not_count(connect: Connect) -> None:
    node = connect()
    node.run(binary("true"))
    node.run(binary("true"), attempt=2)
    node.close()
    (node.folder(1) / "end").write_text("")
    (node.folder(2) / "end").write_bytes(bytes(500) + b"\n")
    successor = connect()

    assert states(successor) == {1: "dead", 2: "ended"}
    successor.send("resend", attempts=[2])
    assert dead(successor)["attempt"] == 2


def test_a_truncated_end_file_does_not_count(connect: Connect) -> None:
    node = connect()
    node.run(binary("true"))
    node.close()
    text = (node.folder(1) / "end").read_bytes().splitlines(keepends=True)[-1]
    (node.folder(1) / "end").write_bytes(text + text[:-20])  # its first message is whole

    assert states(connect()) == {1: "dead"}


def test_a_relay_killed_at_any_time_loses_and_repeats_nothing(
    connect: Connect, tmp_path: Path
) -> None:
    step = binary(script=f"echo $D0CTL_ATTEMPT_ID >> {tmp_path}/ran")
    wanted = {number: launch(number, step) for number in range(1, 61)}
    answer: dict[str, str] = {}
    for many in (10, 20, 30, 40, 50, 60):
        node = connect()
        node.files = answer
        here = states(node)
        node.launch(*(one for number, one in wanted.items() if number not in here))
        wait_until(partial(_has_begun, node, many))
        node.process.kill()
    last = connect()
    last.files = answer
    never_begun = {number for number, state in states(last).items() if state == "dead"}
    ends = [last.end(number) for number in wanted if number not in never_begun]

    assert len(never_begun) < 6, "only what was claimed when a relay was killed"
    assert {end["outcome"] for end in ends} == {"successful"}
    ran = [int(line) for line in (tmp_path / "ran").read_text().split()]
    assert sorted(ran) == sorted(wanted.keys() - never_begun)


def _has_begun(node: Client, many: int) -> bool:
    return len(list(node.base.glob("attempts/*"))) >= many


def test_a_full_disk_under_the_spool_tears_no_message(connect: Connect, small_disk: Path) -> None:
    node = connect(spool=str(small_disk / "box"))
    node.wait("hello")
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(2**21))
    node.launch(launch(1, binary("true")))
    wait_until(lambda: (node.folder(1) / "end").exists())

    assert "disk of the spool is full" in node.wait("fault")["message"]
    assert not list((small_disk / "box/new").iterdir())
    filler.unlink()
    wait_until(lambda: (small_disk / "box/new/1.1").exists())
    found = message.parse((small_disk / "box/new/1.1").read_text())
    assert [one["kind"] for one in found] == ["start", "end"]


def test_a_full_disk_refuses_launches(connect: Connect, small_disk: Path) -> None:
    node = connect(base=str(small_disk / "base"))
    node.wait("hello")
    for number in range(40):
        try:
            (small_disk / f"filler{number}").touch()
        except OSError:
            break
    node.launch(launch(1, binary("true")))

    assert node.wait("refused", attempt=1)["reason"] == "disk-full"
    (small_disk / "filler0").unlink()
    node.launch(launch(2, binary("true")))
    assert node.wait("refused", attempt=2)["reason"] == "disk-full", "no file for its wrapper"
    assert not (small_disk / "base/attempts/2").exists()


def test_the_end_of_a_binary_that_fills_the_disk_is_sent(
    connect: Connect, small_disk: Path
) -> None:
    node = connect(base=str(small_disk / "base"))
    end = node.run(binary(script="head -c 2M /dev/zero > x"))

    assert (end["outcome"], end["reason"], end["exit_code"]) == ("failed", "disk-full", 1)
    assert "No space left on device" in end["detail"]


def test_a_binary_that_fails_on_a_disk_with_room_keeps_its_reason(
    connect: Connect, small_disk: Path
) -> None:
    node = connect(base=str(small_disk / "base"))
    end = node.run(binary(script="head -c 200k /dev/zero > x; exit 3"))

    assert (end["reason"], end["exit_code"]) == ("exit-code", 3)


def test_an_attempt_that_ends_while_it_is_adopted_is_not_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = NodePaths(os.fsencode(tmp_path))
    places.make()
    folder = tmp_path / "attempts" / "7"
    folder.mkdir(parents=True)

    def end_just_now(*_: object) -> bool:
        (folder / "end").write_text("{}\n")
        return False

    monkeypatch.setattr(attempt_records, "is_running", end_just_now)
    attempt_records.write_record(places.attempt(7), attempt_records.Record(1, 1, "boot", 1))
    context = RelayContext(places, "boot", {}, 0o077)
    pool = WrapperPool(context, lambda *_: None, lambda _: None, lambda *_: None)
    supervisor = Supervisor(context, 1, [], pool, lambda _: None, lambda _: None, lambda _: None)
    assert supervisor.adopt() == [{"attempt": 7, "state": "ended"}]
