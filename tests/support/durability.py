"""What a piece of code does to the disk, in its order: syncs, renames and removals."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch


@contextmanager
def journal() -> Iterator[list[tuple[str, Path]]]:
    """Note each fsync, rename (by its new name) and unlink, and carry it out."""
    steps: list[tuple[str, Path]] = []
    fsync, rename, replace, unlink = os.fsync, os.rename, os.replace, os.unlink

    def note_fsync(descriptor: int) -> None:
        steps.append(("fsync", Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    def note_rename(source: Any, target: Any, **more: Any) -> None:
        rename(source, target, **more)
        steps.append(("rename", Path(os.fsdecode(target))))

    def note_replace(source: Any, target: Any, **more: Any) -> None:
        replace(source, target, **more)
        steps.append(("rename", Path(os.fsdecode(target))))

    def note_unlink(path: Any, **more: Any) -> None:
        unlink(path, **more)
        steps.append(("unlink", Path(os.fsdecode(path))))

    with (
        patch.object(os, "fsync", note_fsync),
        patch.object(os, "rename", note_rename),
        patch.object(os, "replace", note_replace),
        patch.object(os, "unlink", note_unlink),
    ):
        yield steps


def assert_settled(steps: list[tuple[str, Path]], target: Path) -> None:
    """Check that a file was synced before it got its name, and its folder afterwards."""
    named = steps.index(("rename", target))
    assert any(step == "fsync" and not path.is_dir() for step, path in steps[:named]), (
        f"{target} got its name before its content was on the disk: {steps}"
    )
    assert ("fsync", target.parent) in steps[named:], (
        f"the name of {target} was not synced: {steps}"
    )
