"""What is said of the copies of a file, and of those that are requested."""

import os
from collections.abc import Sequence
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from d0ctl.show.drawing.archived import replaced
from d0ctl.store.clusters import replicas
from d0ctl.store.clusters.replicas import SpreadCopy
from d0ctl.store.connection import Store
from d0ctl.store.files import archived_results
from d0ctl.store.files.inventory import FoundCopy
from d0ctl.store.files.moved_home import previous_home
from d0ctl.store.views.file_locations import CopyView, FileView, TransferView
from d0ctl.units import count, duration, moment, size
from d0ctl_wrapper.protocol.checksum import is_rewritten

FOUND = {
    "vanished": "was removed, but not by d0ctl",
    "changed": "was changed, but not by d0ctl",
    "since-backup": "was missing or changed after a backup was restored",
}
"""The findings of inventories about copies."""


def by_hand(copy: CopyView, file: FileView) -> str:
    """Say how a copy on this machine was removed or changed, but not by d0ctl; empty if it was not.

    Its contents are compared only if it was written after its delivery.
    """
    if copy.node is not None:
        return ""
    try:
        status = Path(copy.path).stat()
        if S_ISDIR(status.st_mode) and copy.path.endswith("/"):
            return "was changed: it has other contents now" if _is_other(copy, file) else ""
        if not S_ISREG(status.st_mode):
            return ""
        if file.size not in (None, status.st_size):
            return f"was changed: it has {size(status.st_size)} now"
        known = file.checksum
        is_other = known is not None and is_rewritten(os.fsencode(copy.path), copy.made, known)
    except OSError:
        return "is gone"
    return "was changed: it has other contents now" if is_other else ""


def absent(store: Store, file: FileView) -> list[str]:
    """Say that a result of an archived job is not in results/; an archive has no copies."""
    is_gone = store.home.archive and file.result and not file.stored and not _path(store, file)
    return ["is missing from results/"] if is_gone else []


def as_result(store: Store, file: FileView, copies: Sequence[CopyView] = ()) -> list[str]:
    """Say that a file is a result, and where it was delivered if none of its `copies` is there."""
    if not file.result:
        return []
    home, path = store.home, _path(store, file)
    is_made = file.present and not file.late
    if is_made and path and path.exists() and all(copy.path != str(path) for copy in copies):
        return [f"it is a result: {path}"]
    is_replaced = is_made and not path and archived_results.is_replaced(home, file.job, file.name)
    return ["it is a result", *[f"it is {replaced(file.job)}"] * bool(is_replaced)]


def _path(store: Store, file: FileView) -> Path | None:
    """Return where a result should be; None for one of an archive that is not in results/."""
    if not store.home.archive:
        return store.home.result(file.job, file.name)
    return archived_results.path(store.home, file.job, file.name, file.size, file.checksum)


def _is_other(copy: CopyView, file: FileView) -> bool:
    """Return whether a directory was changed after its delivery, and has other contents."""
    from d0ctl_wrapper.host import packing  # late: few files are directories

    folder, checksum = os.fsencode(copy.path), file.checksum
    try:
        return bool(checksum) and packing.changed(folder) > copy.made and (
            packing.is_other(folder, checksum or ""))  # fmt: skip
    except packing.NotPackable:
        return True


def copy_fact(copy: CopyView, file: FileView) -> str:
    """Say where a copy is."""
    if copy.node is None:
        fault = by_hand(copy, file)
        return (
            f"a copy {f'on this machine {fault}' if fault else 'is on this machine'}: {copy.path}"
        )
    away = ", which does not answer now" if copy.state == "down" else ""
    spare = "; it is removed when space is needed" if copy.spare else ""
    if copy.is_doubted:
        away = f", whose cache is in doubt: d0ctl why --node {copy.node}"
    return f"a copy is on `{copy.node}`{away}: {copy.path}{spare}"


def in_former_home(store: Store, copies: Sequence[CopyView], *, is_lost: bool) -> list[str]:
    """Say that copies are recorded in the folder that the home had, such as after a restore.

    An archive has no record of copies.
    """
    if store.home.archive:
        return []
    before, root = previous_home(store), store.home.root
    if before and is_lost:
        return [f"the home was moved from {before}, where its copies are recorded"]
    if before is None or not any(copy.path.startswith(f"{before}/") for copy in copies):
        return []
    return [
        f"the home was copied or restored from {before}, where its copies are recorded; from the "
        f"next `daemon start` on they count as copies in {root}: bring them there first"
    ]


def spread_fact(copy: SpreadCopy, now: float) -> str:
    """Say why a copy was begun before a package was sent there."""
    least = "at least " if copy.readers >= replicas.MOST_COUNTED else ""
    return (f"a copy for `{copy.cluster}` was begun at {moment(copy.at, now)}, before it was "
            f"needed: {least}{count(copy.readers, 'package')} that had not begun read the file, "
            f"{duration(copy.work_s)} of work with that copy, which takes "
            f"{duration(copy.takes_s)}")  # fmt: skip


def found_fact(copy: FoundCopy, now: float) -> str:
    """Say how an inventory found a copy."""
    noticed = f"d0ctl noticed it at {moment(copy.noticed, now)}"
    return f"its copy {copy.path} on `{copy.node}` {FOUND[copy.finding]}; {noticed}"


def transfer_fact(transfer: TransferView, is_away: bool) -> str:
    """Say where a copy is requested, and why it is not there yet."""
    goes = "is copied" if is_away else "is being copied"
    once = ", once a node that has it answers" if is_away else ""
    where = "results/" if transfer.result else f"`{transfer.cluster}`"
    so_far = f", {count(transfer.tries, 'try', 'tries')} so far: {transfer.last_error}"
    tries = so_far if transfer.last_error else ""
    return f"it {goes} to {where}{once}{tries}"
