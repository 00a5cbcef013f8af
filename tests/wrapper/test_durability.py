"""Outputs are on the disk of the node, with their names, before anybody is told of them."""

import os
from pathlib import Path

from d0ctl_wrapper.attempt.deliver import outputs
from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.protocol.paths import NodePaths, to_path
from tests.support.durability import assert_settled, journal


def test_outputs_and_their_folders_are_synced_before_the_end_message(tmp_path: Path) -> None:
    folder = NodePaths(os.fsencode(tmp_path / "base")).attempt(1)
    work = Path(os.fsdecode(folder.work))
    (work / "deep").mkdir(parents=True)
    (tmp_path / "base" / "cache").mkdir(parents=True)
    names = ["a", "deep/b"]
    for name in names:
        (work / name).write_text(name)

    with journal() as steps:
        kept = outputs.keep(folder, names, set(), Digests(lambda: None), {})

    for output in kept:
        path = Path(os.fsdecode(to_path(output["path"])))
        assert_settled(steps, path)
        for parent in path.parents:
            if parent.is_relative_to(tmp_path / "base" / "cache"):
                assert ("fsync", parent) in steps
