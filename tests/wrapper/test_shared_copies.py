"""Copies that attempts of a node share, while others remove them."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from d0ctl_wrapper.attempt.stage.cache import CopyContent, SharedCopy, remove_copy
from d0ctl_wrapper.protocol.paths import NodePaths

ENTRY = {"name": "sim.sh", "size": 1, "checksum": "c", "original": None, "locator": "http://x"}

TIMES = 2_000


def use(paths: NodePaths) -> None:
    """Make the copy if it is not there, as a wrapper does, and find it complete."""
    copy = SharedCopy(paths, ENTRY)
    copy.hold(is_shared=False, rest=lambda _: None)
    if copy.content() is None:
        aside = copy.folder + b"/aside"
        Path(os.fsdecode(aside)).write_text("x")
        copy.settle(aside, CopyContent(1, "c"))
    assert copy.content() == CopyContent(1, "c")
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
