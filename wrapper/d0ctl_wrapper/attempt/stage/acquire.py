"""The only place that brings the inputs that a wrapper has to get by itself, from their locators.

A file comes aside, is checked, and is renamed into a copy that all attempts of the node share.
"""

import os
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.stage import transfers
from d0ctl_wrapper.attempt.stage.cache import Copy, Weight
from d0ctl_wrapper.attempt.stage.carrier import Absent, Carrier, Full, Trouble, Unable
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.protocol import locator as locators
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checksum import digest_by
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths, inside, remove, to_path, to_text
from d0ctl_wrapper.protocol.text import one_line

Entry = Dict[str, Any]


def is_needed(launch: Launch) -> bool:
    """Tell whether anything has to be brought."""
    return any(_source(entry) is not None for entry in launch["inputs"])


def bring(folder: AttemptFolder, launch: Launch, carrier: Carrier) -> "List[Dict[str, Any]]":
    """Bring what is not there, note in the launch where it lies, and describe the copies.

    Raises Failed, with reason missing-input, stage-in or disk-full.
    """
    staging = folder.file(b"staging")
    staged = []
    for entry in launch["inputs"]:
        if _source(entry) is None or _is_here(entry):
            continue
        known = entry["path"]
        brought = _told(entry, lambda one: _bring(folder.node, one, carrier, staging))
        if entry["original"] is None or entry["path"] != known:
            staged.append(brought)
    return staged


def _source(entry: Entry) -> "str | None":
    """Give where an input comes from that is read through a copy in the node's cache."""
    source: "str | None" = entry["original"] or entry["locator"]
    return source


def _is_here(entry: Entry) -> bool:
    """Tell whether a copy that the control host knows of is there still, and is that copy.

    A file of this node is looked at each time, as its owner may have changed it.
    """
    if entry["path"] is None or entry["original"] is not None:
        return False
    try:
        status = os.stat(to_path(entry["path"]))
    except OSError:
        return False
    return entry["size"] in (None, status.st_size) and stamp.is_same(status, entry)


def _told(entry: Entry, work: Any) -> "Dict[str, Any]":
    """Do the work, and say in terms of the attempt what went wrong."""
    source = str(_source(entry))
    shown = "input `%s`" % one_line(source)
    try:
        found: "Dict[str, Any]" = work(entry)
        return found
    except Absent as error:
        raise Failed("missing-input", "%s is not there: %s" % (shown, error), (source,))
    except Full as error:
        raise Failed("disk-full", "%s cannot be brought: %s" % (shown, error))
    except Trouble as error:
        raise Failed("stage-in", "%s cannot be brought: %s" % (shown, error))
    except OSError as error:
        reason = "disk-full" if error.errno in FULL else "stage-in"
        raise Failed(reason, "%s cannot be brought: %s" % (shown, error.strerror))


def _bring(paths: NodePaths, entry: Entry, carrier: Carrier, staging: bytes) -> "Dict[str, Any]":
    """Use the copy that is there, or make it while others wait for it."""
    copy = Copy(paths, entry)
    copy.hold(True, carrier.tree.rest)
    weight = copy.weight()
    while weight is None:
        copy.hold(False, carrier.tree.rest)
        if copy.weight() is None:
            _insist(carrier, copy, lambda: _make(paths, entry, carrier, staging, copy))
        copy.hold(True, carrier.tree.rest)
        weight = copy.weight()
    entry["path"] = to_text(copy.path)
    entry.update(stamp.of(os.stat(copy.path)))
    described = {"locator": _source(entry), "path": entry["path"]}
    return {
        **described,
        "size": weight.size,
        "checksum": weight.checksum,
        "inode": entry["inode"],
        "mtime": entry["mtime"],
    }


def _insist(carrier: Carrier, copy: Copy, make: "Callable[[], None]") -> None:
    """Make a copy, or leave nothing of it."""
    try:
        carrier.insist(make)
    except BaseException:
        copy.discard()
        raise


def _make(paths: NodePaths, entry: Entry, carrier: Carrier, staging: bytes, copy: Copy) -> None:
    remove(staging)
    os.mkdir(staging, 0o700)
    aside = inside(staging, entry["name"])
    if entry["original"] is None:
        _carry(paths, entry["locator"], carrier, aside)
        copy.settle(aside, _weigh(aside, entry, carrier))
        return
    carrier.do("copying", lambda: transfers.bring(paths, entry["original"], aside), aside)
    weight = _weigh(aside, entry, carrier)
    if copy.path != Copy(paths, entry).path:
        raise Trouble("it changed while it was copied")
    mode = os.stat(to_path(entry["original"])).st_mode
    copy.settle(aside, weight._replace(is_program=bool(mode & 0o100)))


def _carry(paths: NodePaths, locator: str, carrier: Carrier, aside: bytes) -> None:
    """Have it carried by the site's command for its scheme, else by ourselves where we can."""
    scheme = locators.scheme(locator)
    argv = carrier.command(scheme, "fetch", locator, to_text(aside))
    if argv is not None:
        carrier.run("fetching by the site's command for `%s`" % scheme, argv, aside)
    elif scheme in ("http", "https", "file"):
        carrier.do("fetching", lambda: transfers.bring(paths, locator, aside), aside)
    else:
        raise Unable("the site has no command for `%s`" % scheme)


def _weigh(aside: bytes, entry: Entry, carrier: Carrier) -> Weight:
    """Hold what has come against what is known of it."""
    try:
        checked, checksum = digest_by(aside, entry["checksum"], carrier.orders.heed)
        size = os.stat(aside).st_size
    except FileNotFoundError:
        raise Trouble("nothing has come, although it ended well")
    if entry["size"] is not None and size != entry["size"]:
        raise Trouble("%d bytes came, not %d" % (size, entry["size"]))
    if entry["checksum"] is not None and checked.lower() != entry["checksum"].lower():
        raise Trouble("its checksum is %s, not %s" % (checked, entry["checksum"]))
    return Weight(size, checksum)
