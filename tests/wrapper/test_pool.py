"""The pool of wrappers that serve one attempt after the other."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.protocol import launch as launches
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay.attempts import pool as pools
from d0ctl_wrapper.relay.attempts.pool import WrapperPool
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
) -> int:
    """Have an attempt run to its end, and give the pid of its wrapper."""
    wrappers, calls = pool
    over: list[int] = []
    wrappers.on_end = over.append
    checked = launches.check(launch(attempt, binary("true")))
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
