"""What becomes of the files that only nodes have that are removed, or leave their cache."""

from collections.abc import Iterator

from d0ctl.actions import wording
from d0ctl.store.files.copies import OnlyCopies
from d0ctl.units import count, size


def described(lost: OnlyCopies | None, *, is_removed: bool = False) -> str:
    """Say how many files only a node has, or had; None if its copies stay."""
    if lost is None:
        return wording.ONLY_THERE
    those, are = ("that one", "is") if lost.files == 1 else ("those", "are")
    has, are = ("had", are) if is_removed else ("has", "would be")
    if not lost.files:
        return f"it {has} no files without another copy"
    number = count(lost.files, "file")
    return f"only it {has} {number}, {size(lost.bytes)}: {those} {are} made again if needed"


def retained(
    lost: OnlyCopies | None, would_lose: str = "would lose", *, can_save: bool = False
) -> Iterator[str]:
    """Say which files with `retain-indef` nothing makes again, and how they are saved."""
    if lost and lost.retained:
        yield f"{would_lose} {lost.retained_files(can_save=can_save)}"


def makers(lost: OnlyCopies | None, stranded: int, will_run: str) -> Iterator[str]:
    """Say how many packages run again for files that only the node has, and how many can't."""
    if not lost or not (number := lost.packages):
        return
    needed = "again for those that are needed now"
    if not stranded:
        yield f"{count(number, 'package')} {will_run} {needed}"
        return
    have_to = "would have to" if will_run == "would run" else "has to" if number == 1 else "have to"
    some = f"{stranded:,} of them"
    which = some if stranded < number else "it" if number == 1 else "they"
    them = "it" if stranded == 1 else "them"
    yield (f"{count(number, 'package')} {have_to} run {needed}, but {which} can't: "
           f"no other node can take {them}")  # fmt: skip
