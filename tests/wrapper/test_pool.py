"""The pool of wrappers that serve one attempt after the other."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.attempt import slot as slots
from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.protocol import launch as launches
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay.attempts import pool as pools
from d0ctl_wrapper.relay.attempts.pool import WrapperPool
from d0ctl_wrapper.relay.attempts.supervisor import Supervisor
from tests.support.waiting import descendants, kill_all, wait_until
from tests.wrapper.client import binary, launch

Pool = tuple[WrapperPool, dict[int, Callable[[], object]]]


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    """A pool, and what it wants to be called for each descriptor."""
    paths = NodePaths(os.fsencode(tmp_path / "base"))
    paths.make()
    calls: dict[int, Callable[[], object]] = {}
    context = RelayContext(paths, "boot", dict(os.environb), 0o077)
    pool = WrapperPool(context, calls.__setitem__, calls.__delitem__, lambda *_: None)
    umask = os.umask(0o077)
    yield pool, calls
    os.umask(umask)
    for pid in pool.pids:
        binaries = descendants(pid)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        kill_all(binaries)
        pool.ended(pid)


def folder_of(pool: WrapperPool, attempt: int) -> Path:
    """The folder of an attempt."""
    return Path(os.fsdecode(pool._context.paths.attempt(attempt).path))


def serve(
    pool: Pool,
    attempt: int,
    meanwhile: Callable[[int], Any] = lambda pid: None,
    output: str = "",
) -> int:
    """Have an attempt run to its end, and give the pid of its wrapper."""
    wrappers, calls = pool
    over: list[int] = []
    wrappers.on_end = over.append
    names = [output] if output else []
    step = binary(
        script=f"touch {output or '.'}",
        outputs=[{"name": name, "min_size": None} for name in names],
    )
    checked = launches.check(launch(attempt, step, keep=names))
    folder = folder_of(wrappers, attempt)
    folder.mkdir()
    pid = wrappers.start(checked)
    wait_until((folder / "end").exists)
    meanwhile(pid)
    while not over:
        for call in list(calls.values()):
            call()
    return pid


def test_a_signal_that_comes_after_the_end_reaches_no_other_attempt(
    pool: Pool,
) -> None:
    first = serve(pool, 1, lambda pid: pool[0].signal(pid, signal.SIGTERM))
    second = serve(pool, 2)

    assert second != first
    assert '"outcome":"successful"' in (folder_of(pool[0], 2) / "end").read_text()


def test_a_wrapper_ends_after_many_attempts(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MOST_ATTEMPTS", 2)
    pids = [serve(pool, attempt) for attempt in (1, 2, 3)]

    assert pids[0] == pids[1] != pids[2]
    os.waitpid(pids[0], 0)
    assert pool[0].ended(pids[0]) is None


@pytest.mark.parametrize(("least_s", "told"), [(-1.0, [2, 3]), (3600.0, [])], ids=["slow", "fast"])
def test_an_attempt_gives_its_cpus_away_when_the_disk_was_slow_before(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, least_s: float, told: list[int]
) -> None:
    monkeypatch.setattr(slots, "SLOW_S", least_s)
    computed: list[int] = []
    pool[0].on_computed = computed.append

    pids = {serve(pool, attempt, output="made") for attempt in (1, 2, 3)}
    serve(pool, 4)

    assert len(pids) == 1
    assert computed == told


def test_as_many_attempts_may_wait_for_the_disk_as_there_are_cpus(pool: Pool) -> None:
    wrappers, _ = pool
    sent: list[Any] = []
    context = wrappers._context
    supervisor = Supervisor(context, 1, [], wrappers, sent.append, sent.append, sent.append)
    supervisor.launch([launch(attempt, binary("sleep", "3600")) for attempt in (1, 2, 3)])
    assert list(supervisor.live) == [1]

    wrappers.on_computed(1)
    supervisor.start_waiting()
    assert list(supervisor.live) == [1, 2]
    wrappers.on_computed(2)
    supervisor.start_waiting()
    assert list(supervisor.live) == [1, 2], "one waits for the disk already"

    wrappers.on_end(1)
    wrappers.on_computed(2)
    supervisor.start_waiting()
    assert list(supervisor.live) == [2, 3]
