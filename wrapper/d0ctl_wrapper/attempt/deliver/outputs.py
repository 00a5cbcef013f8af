"""Outputs of binaries: find, verify and keep them; directories are packed into one file."""

import os
import re
import stat
from typing import Any, Callable, Dict, List, Tuple

from d0ctl_wrapper.attempt.digests import Digests
from d0ctl_wrapper.attempt.verdict import Failed, MissingOutput
from d0ctl_wrapper.disk import FULL, copy_pieces, sync_all
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol import stamp, text
from d0ctl_wrapper.protocol.paths import AttemptFolder, inside, is_below, remove, to_path, to_text

Inode = Tuple[int, int]
"""Device and inode number of a file."""

Inputs = Dict[str, Dict[str, Any]]
"""The inputs of a package by their names."""

WILDCARDS = re.compile(r"[*?[]")
"""Signs in the names of late outputs that stand for others."""


def make_folders(work: bytes, wanted: "List[Dict[str, Any]]") -> None:
    """Make the missing folders of outputs: those of a late one up to its first wildcard.

    Raises OSError only for a full disk. If something is in the way, the binary finds it.
    """
    for folder in {_folder(output) for output in wanted if "/" in output["name"]}:
        try:
            os.makedirs(inside(work, folder), 0o700, exist_ok=True)
        except ValueError:
            pass
        except OSError as error:
            if error.errno in FULL:
                raise


def _folder(output: "Dict[str, Any]") -> str:
    """Return the folder of an output, `.` for none."""
    parts = output["name"].rstrip("/").split("/")[:-1]
    wild = (number for number, part in enumerate(parts) if WILDCARDS.search(part))
    return "/".join(parts[: next(wild, None)] if output["late"] else parts) or "."


def find(work: bytes, name: str, inputs: Inputs) -> "tuple[bytes, int]":
    """Return real path and size of an output; raise Failed if it is missing or of another kind.

    The size of a directory is that of its files.
    """
    path = os.path.join(work, to_path(name.rstrip("/")))
    shown = "output `%s`" % text.one_line(name)
    try:
        status = os.lstat(path)
        is_link = stat.S_ISLNK(status.st_mode)
        if name in inputs and (is_link or status.st_ino == inputs[name].get("linked")):
            raise Failed("missing-output", "%s is still the input of that name" % shown)
        status = os.stat(path) if is_link else status
    except OSError:
        raise MissingOutput(name, "%s is missing" % shown)
    real = os.path.realpath(path) if is_link or "/" in name else path
    if not is_below(real, work):
        raise Failed("missing-output", "%s is outside of the working directory" % shown)
    if stat.S_ISDIR(status.st_mode) and packing.is_folder(name):
        return real, packing.size(real)
    if stat.S_ISDIR(status.st_mode):
        declared = "declare it with `/` at its end"
        raise Failed("missing-output", "%s is a directory: %s" % (shown, declared))
    if packing.is_folder(name):
        raise Failed("missing-output", "%s is not a directory" % shown)
    if not stat.S_ISREG(status.st_mode):
        raise Failed("missing-output", "%s is not a file" % shown)
    return real, status.st_size


def as_file(
    work: bytes, name: str, inputs: Inputs, pause_point: "Callable[[], None]"
) -> "tuple[bytes, int]":
    """Return path and size of an output as one file, for which a directory is packed again."""
    real, size = find(work, name, inputs)
    if not packing.is_folder(name):
        return real, size
    packed = inside(os.path.dirname(work), "packed/" + name)
    os.makedirs(os.path.dirname(packed), 0o700, exist_ok=True)
    remove(packed)
    try:
        packing.pack(real, packed, pause_point)
    except packing.NotPackable as error:
        detail = "output `%s` can't be packed: %s" % (text.one_line(name), error)
        raise Failed("verification", text.one_line(detail))
    return packed, os.stat(packed).st_size


def check(work: bytes, wanted: "List[Dict[str, Any]]", inputs: Inputs) -> None:
    """Raise Failed unless all declared outputs exist and are large enough."""
    for output in wanted:
        size = find(work, output["name"], inputs)[1]
        least = output["min_size"]
        if least is not None and size < least:
            detail = "output `%s` has %d bytes, less than %d"
            raise Failed("missing-output", detail % (text.one_line(output["name"]), size, least))


def verify(work: bytes, wanted: "List[Dict[str, Any]]", inputs: Inputs, digests: Digests) -> None:
    """Raise Failed unless the outputs have their declared checksums."""
    for output in wanted:
        asked = output["checksum"]
        if asked is not None:
            real = as_file(work, output["name"], inputs, digests.pause_point)[0]
            found = _checksum(real, asked, digests)
            if found != asked:
                detail = "output `%s` has %s, not %s"
                raise Failed("verification", detail % (text.one_line(output["name"]), found, asked))


def _checksum(path: bytes, asked: str, digests: Digests) -> str:
    return digests.of(path)[1] if asked.startswith("sha256:") else digests.by(path, asked)


def at_once(sync: "Callable[[], None]") -> None:
    """Sync, and let nobody know."""
    sync()


def keep(
    folder: AttemptFolder, names: "List[str]", inputs: Inputs,
    digests: Digests, linked: "Dict[Inode, int]",
    wait: "Callable[[Callable[[], None]], None]" = at_once,
) -> "List[Dict[str, Any]]":  # fmt: skip
    """Move outputs into the cache, synced and read-only, and describe them.

    `linked` has the number of hard links of files in caches of previous attempts; `wait` calls
    what it is given, which syncs.
    """
    packed = [(name, as_file(folder.work, name, inputs, digests.pause_point)[0]) for name in names]
    if len({real for _, real in packed}) < len(packed):
        raise Failed("missing-output", "several outputs are the same file")
    for _, real in packed:
        _make_own(real, linked, digests.pause_point)
    read = [digests.of(real) for _, real in packed]  # before any is moved, as a kill may come
    retained_outputs = [
        _keep(folder.cache, name, real, *weight) for (name, real), weight in zip(packed, read)
    ]
    # only now, so that a journal commits all of it at once; no message names them yet
    paths = [to_path(output["path"]) for output in retained_outputs]
    if paths:
        wait(lambda: _sync_with_folders(paths, folder.node.cache))
    return retained_outputs


def _keep(cache: bytes, name: str, real: bytes, size: int, checksum: str) -> "Dict[str, Any]":
    target = inside(cache, name)
    os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
    os.chmod(real, stamp.read_only(os.stat(real)))
    os.rename(real, target)
    found = {"name": name, "path": to_text(target), "size": size, "checksum": checksum}
    return {**found, **stamp.of(os.stat(target))}


def _make_own(real: bytes, linked: "Dict[Inode, int]", pause_point: "Callable[[], None]") -> None:
    """Replace an output that has other hard links, or another owner, by a copy.

    Another hard link allows changes of a file, even if the cache is read-only.
    """
    status = os.stat(real)
    names = linked.get((status.st_dev, status.st_ino), 1)
    if status.st_nlink <= names and status.st_uid == os.geteuid():
        return
    aside = real + b".d0ctl-copy"
    remove(aside)
    with open(real, "rb", buffering=0) as file:
        copy = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, status.st_mode & 0o700 | 0o600)
        try:
            copy_pieces(file, copy, pause_point)
        finally:
            os.close(copy)
    os.rename(aside, real)


def leave(
    folder: AttemptFolder, name: str, inputs: Inputs, pause_point: "Callable[[], None]"
) -> "Dict[str, Any] | None":
    """Move an unverified output into the cache; return None if there is none."""
    try:
        real, size = as_file(folder.work, name, inputs, pause_point)
        changed = os.stat(real).st_mtime_ns
        file = _keep(folder.cache, name, real, size, "")
        _sync_with_folders([to_path(file["path"])], folder.node.cache)
    except (OSError, Failed):
        return None
    return {"name": name, "path": file["path"], "size": size, "changed": changed}


def _sync_with_folders(files: "List[bytes]", top: bytes) -> None:
    """Sync files, their folders, and the parents of those up to `top`."""
    paths = list(files)
    for folder in {os.path.dirname(file) for file in files}:
        while is_below(folder, top):
            paths.append(folder)
            folder = os.path.dirname(folder)
        paths.append(top)
    for fault in sync_all(paths).values():
        raise fault
