"""Listings of the folder of an attempt, and of all files under BASE."""

import fnmatch
import itertools
import os
import stat
import time
from typing import Any, Dict, Iterator, List

from d0ctl_wrapper.disk import digest
from d0ctl_wrapper.host import attempt_records, process
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.frames import SPLIT_AT, in_parts
from d0ctl_wrapper.protocol.paths import NodePaths, to_text

Frame = Dict[str, Any]

MOST = 10000
"""The most entries of a folder in a listing."""

MOST_SURVEYED = 1000
"""The most entries of a survey in one frame."""


def listing(paths: NodePaths, frame: Frame) -> Frame:
    """Return the answer with the entries of a folder of an attempt, or with one file of it.

    `state` is the state of the attempt, read before the listing.
    """
    folder = paths.attempt(frame["attempt"])
    state = attempt_records.state(folder, process.boot_id())
    answer = {"kind": "listing", "id": frame["id"], "state": state, "type": "", "entries": [],
              "more": False, "message": ""}  # fmt: skip
    try:
        path = folder.resolve(frame["path"])
        kind = _kind(os.stat(path).st_mode)
        if kind != "folder":
            return {**answer, "type": kind, "entries": [_entry(path, frame["path"])]}
        entries = _entries(path)
    except (OSError, ValueError) as error:
        return {**answer, "message": getattr(error, "strerror", None) or str(error)}
    fitting = _fitting(entries[:MOST])
    return {**answer, "type": kind, "entries": fitting, "more": len(entries) > len(fitting)}


def _fitting(entries: "List[Frame]") -> "List[Frame]":
    """Return the entries that fit into one frame."""
    size = 0
    for position, entry in enumerate(entries):
        size += len(json_text.encode(entry))
        if size > SPLIT_AT:
            return entries[:position]
    return entries


def _entries(folder: bytes) -> "List[Frame]":
    """Describe up to MOST + 1 entries of a folder, sorted by name."""
    with os.scandir(folder) as found:
        names = sorted(entry.name for entry in itertools.islice(found, MOST + 1))
    entries = []
    for name in names:
        try:
            entries.append(_entry(os.path.join(folder, name), to_text(name)))
        except OSError:  # removed meanwhile
            continue
    return entries


def _entry(path: bytes, name: str) -> Frame:
    """Describe one entry; for a link, its target."""
    status = os.lstat(path)
    entry: Frame = {"name": name, "type": _kind(status.st_mode), "target": None}
    if entry["type"] == "link":
        entry["target"] = to_text(os.readlink(path))
        try:
            status = os.stat(path)
        except OSError:
            return {**entry, "size": None, "time": status.st_mtime}
    return {**entry, "size": status.st_size, "time": status.st_mtime}


def _kind(mode: int) -> str:
    for name, test in (("file", stat.S_ISREG), ("folder", stat.S_ISDIR), ("link", stat.S_ISLNK)):
        if test(mode):
            return name
    return "other"


def survey(paths: NodePaths, frame: Frame) -> "Iterator[Frame]":
    """Yield the state of each attempt and the path of each file, in several frames.

    With `checksums` the files of the cache are read, which may take hours. If a folder can't be
    listed, a fault replaces the last frame, because a missing file may then still exist.
    """
    answer = {"kind": "surveyed", "id": frame["id"]}
    entries = _survey_entries(paths, frame["checksums"])
    try:
        yield from in_parts(answer, "entries", entries, MOST_SURVEYED)
    except OSError as error:
        where = to_text(os.fsencode(error.filename)) if error.filename else to_text(paths.base)
        yield {"kind": "fault", "message": "can't list `%s`: %s" % (where, error.strerror)}


def folder(frame: Frame) -> "Iterator[Frame]":
    """Yield the files of any folder of the node whose names match, in several frames.

    If the folder can't be listed, a fault replaces the last frame.
    """
    answer = {"kind": "files", "id": frame["id"]}
    top = os.path.expanduser(os.fsencode(frame["path"]))
    try:
        yield from in_parts(answer, "entries", _matching(top, frame["match"]), MOST_SURVEYED)
    except OSError as error:
        yield {"kind": "fault", "message": "can't list `%s`: %s" % (to_text(top), error.strerror)}


def _matching(top: bytes, pattern: str) -> "Iterator[Frame]":
    with os.scandir(top) as found:
        names = sorted(entry.name for entry in found)
    for name in names:
        if not fnmatch.fnmatchcase(to_text(name), pattern):
            continue
        path = os.path.join(top, name)
        try:
            status = os.stat(path)
        except OSError:  # removed meanwhile, or a link to nowhere
            continue
        if stat.S_ISREG(status.st_mode):
            yield {"path": to_text(path), "size": status.st_size, "time": status.st_mtime_ns}


def _survey_entries(paths: NodePaths, checksums: bool) -> "Iterator[Frame]":
    boot_id = process.boot_id()
    for attempt in _recorded(paths):
        folder = paths.attempt(attempt)
        state = attempt_records.state(folder, boot_id)
        yield {"attempt": attempt, "path": "attempts/%d" % attempt, "state": state, "age": 0}
        if os.path.isdir(folder.work):
            yield {"attempt": attempt, "path": "attempts/%d/work" % attempt, "state": state,
                   "age": _age(folder.work)}  # fmt: skip
    for top in (paths.cache, paths.base + b"/spool"):
        for path in _files(top):
            name = to_text(path[len(paths.base) + 1 :])
            entry = {"attempt": None, "path": name, "state": "", "age": _age(path)}
            yield {**entry, **(_copy(path, checksums) if top == paths.cache else {})}


def _copy(path: bytes, checksums: bool) -> Frame:
    """Return size and stamp of a file of the cache, and its checksum if requested."""
    try:
        status = os.lstat(path)
        found: Frame = {"size": status.st_size, **stamp.of(status)}
        if checksums and stat.S_ISREG(status.st_mode):
            found["size"], found["checksum"] = digest(path)
        return found
    except OSError:
        return {}


def _recorded(paths: NodePaths) -> "list[int]":
    try:
        return attempt_records.recorded(paths)
    except FileNotFoundError:
        return []


def _files(folder: bytes) -> "Iterator[bytes]":
    """Yield all files below a folder; those removed meanwhile are left out."""
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    for path, is_folder in found:
        if is_folder:
            yield from _files(path)
        else:
            yield path


def _age(path: bytes) -> float:
    try:
        return max(0.0, time.time() - os.lstat(path).st_mtime)
    except OSError:
        return 0.0
