"""Late outputs: outputs whose names are not known at the launch.

At the end of a binary the files that match a pattern replace it among the outputs, and are
normal outputs from then on (D0 Job Definition, case IV).
"""

import os
import re
import stat
from fnmatch import fnmatchcase
from typing import Any, Dict, List, Set

from d0ctl_wrapper.attempt.verdict import Failed, MissingOutput
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import to_path
from d0ctl_wrapper.protocol.text import one_line

Output = Dict[str, Any]

LONGEST_NAME = 255
"""The most bytes of a base name on any file system."""

MOST = 20000
"""The most files that match the late outputs of one package."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


def has_late(binary: "Dict[str, Any]") -> bool:
    """Return whether a binary has late outputs."""
    return any(output["late"] for output in binary["outputs"])


def settle(work: bytes, launch: Launch, binary: "Dict[str, Any]", is_partial: bool = False) -> None:
    """Replace a binary's late outputs by the matching files.

    Raises Failed for too few of them, unless `is_partial`, and for an unusable name.
    """
    if not has_late(binary):
        return
    taken = _with_folders(known(launch))
    names = {
        output["name"]: _matching(work, output, taken, 0 if is_partial else output["min_count"])
        for output in binary["outputs"]
        if output["late"]
    }
    if sum(map(len, names.values())) > MOST:
        raise Failed("verification", "more than %d files match the late outputs" % MOST)
    _replace(launch, binary, names)


def restore(launch: Launch, binary: "Dict[str, Any]", files: "List[Dict[str, Any]]") -> None:
    """Replace a binary's late outputs by the files of a previous attempt."""
    if has_late(binary):
        late = [output for output in binary["outputs"] if output["late"]]
        _replace(launch, binary, {output["name"]: _of(output, files) for output in late})


def _of(output: Output, files: "List[Dict[str, Any]]") -> "List[Output]":
    names = [file["name"] for file in files if file["late"] == output["name"]]
    return [_named(output, name) for name in names]


def _replace(launch: Launch, binary: "Dict[str, Any]", found: "Dict[str, List[Output]]") -> None:
    binary["outputs"] = [
        file for output in binary["outputs"] for file in found.get(output["name"], [output])
    ]
    names = {pattern: [file["name"] for file in outputs] for pattern, outputs in found.items()}
    launch["keep"] = [file for name in launch["keep"] for file in names.get(name, [name])]


def described(launch: Launch, retained_outputs: "List[Output]") -> "List[Output]":
    """Return outputs for the end message; late ones with the pattern that they match."""
    patterns = {
        output["name"]: output["pattern"]
        for binary in launch["binaries"]
        for output in binary["outputs"]
        if "pattern" in output
    }
    late = [
        {**file, "late": patterns[file["name"]]}
        for file in retained_outputs
        if file["name"] in patterns
    ]
    return [*(file for file in retained_outputs if file["name"] not in patterns), *late]


def known(launch: Launch) -> "Set[str]":
    """Return the names of inputs, and of outputs that are known or were found before."""
    outputs = [output for binary in launch["binaries"] for output in binary["outputs"]]
    declared = {os.path.normpath(output["name"]) for output in outputs if not output["late"]}
    return {entry["name"].rstrip("/") for entry in launch["inputs"]} | declared


def _with_folders(names: "Set[str]") -> "Set[str]":
    """Return names with the folders that they are in, which are no outputs of their own."""
    ends = ((name, end) for name in names for end, sign in enumerate(name) if sign == "/")
    return names | {name[:end] for name, end in ends}


def _matching(work: bytes, output: Output, taken: "Set[str]", least: int) -> "List[Output]":
    pattern = output["name"]
    is_folder = packing.is_folder(pattern)
    parts = pattern.rstrip("/").split("/")
    names = [name for name in _files(work, parts, is_folder) if name not in taken]
    for name in names:
        _check(name)
    if len(names) < least:
        shown = one_line(pattern)
        if not names:
            kind = "directory" if is_folder else "file"
            raise MissingOutput(pattern, "no %s matches the late output `%s`" % (kind, shown))
        detail = "%d of at least %d files match the late output `%s`"
        raise Failed("missing-output", detail % (len(names), least, shown))
    taken.update(names)
    return [_named(output, name + "/" if is_folder else name) for name in names]


def _named(output: Output, name: str) -> Output:
    """Return a late output with the name of a file."""
    return {**output, "late": False, "pattern": output["name"], "name": name}


def _files(folder: bytes, parts: "List[str]", is_folder: bool) -> "List[str]":
    """Return the sorted files, or directories, below a folder that match the parts of a pattern."""
    pattern, rest = parts[0], parts[1:]
    found: "List[str]" = []
    for name in sorted(_names(folder)):
        if not fnmatchcase(name, pattern) or (name[0] == "." and pattern[0] != "."):
            continue
        path = os.path.join(folder, to_path(name))
        mode = os.lstat(path).st_mode
        if rest and stat.S_ISDIR(mode):
            found += ["%s/%s" % (name, below) for below in _files(path, rest, is_folder)]
        elif not rest and (stat.S_ISDIR if is_folder else stat.S_ISREG)(mode):
            found.append(name)
    return found


def _names(folder: bytes) -> "List[str]":
    try:
        return [name.decode("utf-8", "surrogateescape") for name in os.listdir(folder)]
    except OSError:
        return []


def _check(name: str) -> None:
    """Raise Failed for a name that can't be used on all nodes."""
    try:
        is_long = any(len(part.encode("utf-8")) > LONGEST_NAME for part in name.split("/"))
    except UnicodeEncodeError:
        raise Failed("verification", "late output `%s` has a name that is not UTF-8" % _shown(name))
    if _CONTROLS.search(name):
        detail = "late output `%s` has a control character in its name"
        raise Failed("verification", detail % _shown(name))
    if is_long:
        raise Failed("verification", "late output `%s` has a name that is too long" % _shown(name))


def _shown(name: str) -> str:
    return one_line(name.encode("utf-8", "replace").decode("utf-8"))
