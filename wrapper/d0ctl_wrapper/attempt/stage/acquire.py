"""Fetching inputs from their locators.

A file is fetched aside, verified, and renamed to a copy that all attempts of the node share.
"""

import os
import stat
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.stage import builtin_transfers
from d0ctl_wrapper.attempt.stage.cache import CopyContent, SharedCopy
from d0ctl_wrapper.attempt.stage.transfer_runner import (
    NoSpace,
    NoTransferCommand,
    SourceMissing,
    TransferFailed,
    TransferRunner,
)
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL, sync
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol import locator as locators
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checksum import digest_by
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths, inside, remove, to_path, to_text
from d0ctl_wrapper.protocol.text import one_line

Entry = Dict[str, Any]

KNOWN = ("path", "inode", "mtime")
"""By these the control host knows a copy."""

MOST_NEAR = 1000 * 1000
"""The most bytes of a file that the wrapper copies itself."""


class Acquired:
    """The inputs of an attempt that it reads through copies."""

    def __init__(self) -> None:
        self.copies: "List[SharedCopy]" = []
        """The copies in use."""
        self.has_made = False
        """Whether this attempt has made any of them."""
        self.staged: "List[Dict[str, Any]]" = []
        """Descriptions of those that the control host does not know."""

    def release(self) -> None:
        """Give the copies back, after their last use."""
        for copy in self.copies:
            copy.release()
        self.copies = []


def is_needed(launch: Launch) -> bool:
    """Return whether any input may have to be fetched."""
    return any(_source(entry) is not None for entry in launch["inputs"])


def fetch(folder: AttemptFolder, launch: Launch, runner: TransferRunner) -> Acquired:
    """Fetch the missing inputs, put their paths into the launch, and return the copies.

    Raises Failed, with reason missing-input, stage-in or disk-full.
    """
    staging = folder.file(b"staging")
    acquired = Acquired()
    for entry in launch["inputs"]:
        if _source(entry) is None or _is_here(entry):
            continue
        known = {name: entry[name] for name in KNOWN}
        fetched = _fetch_or_fail(folder.node, entry, runner, staging, acquired)
        if entry["original"] is None or known != {name: entry[name] for name in KNOWN}:
            acquired.staged.append(fetched)
    return acquired


def _source(entry: Entry) -> "str | None":
    """Return the source of an input that is read through a copy in the node's cache."""
    source: "str | None" = entry["original"] or entry["locator"]
    return source


def _is_here(entry: Entry) -> bool:
    """Return whether the copy that the control host knows still exists unchanged.

    A file of this node is checked each time, since its owner may have changed it.
    """
    if entry["path"] is None or entry["original"] is not None:
        return False
    try:
        status = os.stat(to_path(entry["path"]))
    except OSError:
        return False
    return entry["size"] in (None, status.st_size) and stamp.is_same(status, entry)


def _fetch_or_fail(
    paths: NodePaths, entry: Entry, runner: TransferRunner, staging: bytes, acquired: Acquired
) -> "Dict[str, Any]":
    """Fetch an input; raise Failed if that is impossible."""
    source = str(_source(entry))
    shown = "input `%s`" % one_line(source)
    try:
        return _use_copy(paths, entry, runner, staging, acquired)
    except SourceMissing as error:
        is_said = str(error).endswith(": `%s` does not exist" % source)
        more = "" if is_said else ": %s" % error
        raise Failed("missing-input", "%s does not exist%s" % (shown, more), (source,))
    except NoSpace as error:
        raise Failed("disk-full", "%s cannot be fetched: %s" % (shown, error))
    except TransferFailed as error:
        raise Failed("stage-in", "%s cannot be fetched: %s" % (shown, error))
    except OSError as error:
        reason = "disk-full" if error.errno in FULL else "stage-in"
        raise Failed(reason, "%s cannot be fetched: %s" % (shown, error.strerror))


def _use_copy(
    paths: NodePaths, entry: Entry, runner: TransferRunner, staging: bytes, acquired: Acquired
) -> "Dict[str, Any]":
    """Use the existing copy, or make it while others wait for it."""
    copy = SharedCopy(paths, entry)
    content = copy.hold(runner.tree.rest)
    while content is None:
        is_forked = not _is_near(paths, entry)
        acquired.has_made = acquired.has_made or is_forked
        _copy_or_remove(runner, copy, lambda: _make(paths, entry, runner, staging, copy))
        content = copy.hold(runner.tree.rest)
    acquired.copies.append(copy)
    entry["path"] = to_text(copy.path)
    entry.update(stamp.of(os.stat(copy.path)))
    described = {"locator": _source(entry), "path": entry["path"]}
    return {
        **described,
        "size": content.size,
        "checksum": content.checksum,
        "inode": entry["inode"],
        "mtime": entry["mtime"],
    }


def _copy_or_remove(runner: TransferRunner, copy: SharedCopy, make: "Callable[[], None]") -> None:
    """Make a copy, or remove what exists of it."""
    try:
        runner.run_with_retries(make)
    except BaseException:
        copy.discard()
        raise


def _make(
    paths: NodePaths, entry: Entry, runner: TransferRunner, staging: bytes, copy: SharedCopy
) -> None:
    remove(staging)
    os.mkdir(staging, 0o700)
    aside = inside(staging, os.path.basename(entry["name"].rstrip("/")))
    if entry["original"] is None:
        _fetch(paths, entry["locator"], runner, aside)
        copy.settle(aside, _verify(aside, entry, runner))
        return
    is_folder = packing.is_folder(entry["name"])
    way = builtin_transfers.pack if is_folder else builtin_transfers.fetch
    do = runner.do_here if _is_near(paths, entry) else runner.do
    do("copying", lambda: way(paths, entry["original"], aside), aside)
    content = _verify(aside, entry, runner)
    if copy.path != SharedCopy(paths, entry).path:
        raise TransferFailed("it changed while it was copied")
    mode = os.stat(to_path(entry["original"])).st_mode
    copy.settle(aside, content._replace(is_program=bool(mode & 0o100) and not is_folder))
    os.rmdir(staging)


def _is_near(paths: NodePaths, entry: Entry) -> bool:
    """Return whether an input is a small file on the disk of the cache.

    To copy it takes less than the fork of a process that could be ended if another disk hangs.
    """
    if entry["original"] is None:
        return False
    try:
        status = os.stat(to_path(entry["original"]))
        is_same_disk = status.st_dev == os.stat(paths.cache).st_dev
    except OSError:
        return False
    return is_same_disk and stat.S_ISREG(status.st_mode) and status.st_size <= MOST_NEAR


def _fetch(paths: NodePaths, locator: str, runner: TransferRunner, aside: bytes) -> None:
    """Fetch a file by the site's command for its scheme, or by the wrapper's own means."""
    scheme = locators.scheme(locator)
    transport = locators.transport(locator)
    argv = runner.command(transport, "fetch", locators.address(locator), to_text(aside))
    if argv is not None:
        runner.run("fetching by the site's command for `%s`" % transport, argv, aside)
    elif scheme in ("http", "https", "file"):
        runner.do("fetching", lambda: builtin_transfers.fetch(paths, locator, aside), aside)
    else:
        raise NoTransferCommand("the site has no command for `%s`" % transport)


def _verify(aside: bytes, entry: Entry, runner: TransferRunner) -> CopyContent:
    """Compare the fetched file with its known size and checksum."""
    try:
        checked, checksum = digest_by(aside, entry["checksum"], runner.orders.pause_point)
        sync(aside)
        size = os.stat(aside).st_size
    except FileNotFoundError:
        raise TransferFailed("nothing arrived, although the transfer succeeded")
    if entry["size"] is not None and size != entry["size"]:
        raise TransferFailed("%d bytes arrived, not %d" % (size, entry["size"]))
    if entry["checksum"] is not None and checked.lower() != entry["checksum"].lower():
        raise TransferFailed("its checksum is %s, not %s" % (checked, entry["checksum"]))
    return CopyContent(size, checksum)
