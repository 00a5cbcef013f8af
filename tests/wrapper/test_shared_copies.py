"""Copies that attempts of a node share, while others remove them."""

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from d0ctl_wrapper.attempt.stage.cache import CopyContent, SharedCopy, remove_copy
from d0ctl_wrapper.protocol.paths import NodePaths

ENTRY = {"name": "sim.sh", "size": 1, "checksum": "c", "original": None, "locator": "http://x"}

CONTENT = CopyContent(1, "c")

TIMES = 2_000


def make(copy: SharedCopy) -> None:
    """Put the file into the copy, whose lock is held."""
    aside = copy.folder + b"/aside"
    Path(os.fsdecode(aside)).write_text("x")
    copy.settle(aside, CONTENT)


def use(paths: NodePaths) -> None:
    """Make the copy if it is not there, as a wrapper does, and find it complete."""
    copy = SharedCopy(paths, ENTRY)
    while copy.hold(rest=lambda _: None) is None:
        make(copy)
    assert copy.content() == CONTENT
    copy.release()


def use_often(paths: NodePaths) -> None:
    """Be one attempt after the other."""
    for _ in range(TIMES):
        use(paths)


def test_a_copy_may_be_removed_while_the_next_attempt_makes_it_again(tmp_path: Path) -> None:
    paths = NodePaths(os.fsencode(tmp_path))
    path = SharedCopy(paths, ENTRY).path

    with ThreadPoolExecutor(2) as pool:
        users = pool.submit(use_often, paths)
        for _ in range(TIMES):
            remove_copy(path)
        users.result()

    remove_copy(path)
    assert list((tmp_path / "cache" / "in").iterdir()) == []


def test_an_attempt_that_wanted_to_make_a_copy_shares_the_one_that_another_made(
    tmp_path: Path,
) -> None:
    paths = NodePaths(os.fsencode(tmp_path))
    late, first = SharedCopy(paths, ENTRY), SharedCopy(paths, ENTRY)
    lock = Path(os.fsdecode(first.folder)) / ".lock"
    lock.parent.mkdir(parents=True)
    pauses: list[float] = []

    with lock.open("wb") as reader:
        # a third attempt that has just found no copy, so none can make it at this moment
        fcntl.flock(reader, fcntl.LOCK_SH)

        def make_the_copy_and_use_it(pause: float) -> None:
            assert not pauses, "it waits for the end of the other attempt"
            pauses.append(pause)
            reader.close()
            assert first.hold(rest=never) is None
            make(first)
            assert first.hold(rest=never) == CONTENT

        content = late.hold(rest=make_the_copy_and_use_it)

    assert content == CONTENT
    assert len(pauses) == 1


def never(pause: float) -> None:
    """Fail, since the lock is free."""
    raise AssertionError("it waits for a free lock")
