"""The only place that finds the outputs whose names are known only when they are made.

At the end of a binary each pattern among its outputs gives way to the files that match it, so
that from then on they are outputs as all others (D0 Job Definition, case IV).
"""

import os
import re
import stat
from fnmatch import fnmatchcase
from typing import Any, Dict, List, Set

from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import to_path
from d0ctl_wrapper.protocol.text import one_line

Output = Dict[str, Any]

LONGEST_NAME = 255
"""How many bytes a base name has at most that can be brought to any file system."""

MOST = 20000
"""How many files the late outputs of one package stand for at most."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


def has_late(binary: "Dict[str, Any]") -> bool:
    """Tell whether a binary has outputs whose names are not known."""
    return any(output["late"] for output in binary["outputs"])


def settle(work: bytes, launch: Launch, binary: "Dict[str, Any]", is_partial: bool = False) -> None:
    """Put the files that match in the place of a binary's late outputs; raise Failed for too few
    of them, unless it was ended early, and for a name that can't be used."""
    if not has_late(binary):
        return
    taken = {entry["name"] for entry in launch["inputs"]} | _declared(launch)
    found = {
        output["name"]: _matching(work, output, taken, 0 if is_partial else output["min_count"])
        for output in binary["outputs"]
        if output["late"]
    }
    if sum(map(len, found.values())) > MOST:
        raise Failed("verification", "more than %d files match the late outputs" % MOST)
    _replace(launch, binary, found)


def restore(launch: Launch, binary: "Dict[str, Any]", files: "List[Dict[str, Any]]") -> None:
    """Put the files that a former attempt made in the place of a binary's late outputs."""
    if has_late(binary):
        late = [output for output in binary["outputs"] if output["late"]]
        _replace(launch, binary, {output["name"]: _of(output, files) for output in late})


def _of(output: Output, files: "List[Dict[str, Any]]") -> "List[Output]":
    names = [one["name"] for one in files if one["late"] == output["name"]]
    return [_named(output, name) for name in names]


def _replace(launch: Launch, binary: "Dict[str, Any]", found: "Dict[str, List[Output]]") -> None:
    binary["outputs"] = [
        one for output in binary["outputs"] for one in found.get(output["name"], [output])
    ]
    names = {pattern: [one["name"] for one in outputs] for pattern, outputs in found.items()}
    launch["keep"] = [one for name in launch["keep"] for one in names.get(name, [name])]


def told(launch: Launch, kept: "List[Output]") -> "List[Output]":
    """Give outputs as they are told, the late ones with the pattern that they match."""
    patterns = {
        output["name"]: output["pattern"]
        for binary in launch["binaries"]
        for output in binary["outputs"]
        if "pattern" in output
    }
    late = [{**one, "late": patterns[one["name"]]} for one in kept if one["name"] in patterns]
    return [*(one for one in kept if one["name"] not in patterns), *late]


def _declared(launch: Launch) -> "Set[str]":
    """Give the names of the outputs that were known, or found, before."""
    outputs = [output for binary in launch["binaries"] for output in binary["outputs"]]
    return {os.path.normpath(output["name"]) for output in outputs if not output["late"]}


def _matching(work: bytes, output: Output, taken: "Set[str]", least: int) -> "List[Output]":
    pattern = output["name"]
    found = [name for name in _files(work, pattern.split("/")) if name not in taken]
    for name in found:
        _check(name)
    if len(found) < least:
        what = "%d of at least %d files match" % (len(found), least)
        told = "no file matches" if not found else what
        raise Failed("missing-output", "%s the late output `%s`" % (told, one_line(pattern)))
    taken.update(found)
    return [_named(output, name) for name in found]


def _named(output: Output, name: str) -> Output:
    """Give a late output as one with a name of its own."""
    return {**output, "late": False, "pattern": output["name"], "name": name}


def _files(folder: bytes, parts: "List[str]") -> "List[str]":
    """List the regular files below a folder that match, part by part, in their order."""
    pattern, rest = parts[0], parts[1:]
    found: "List[str]" = []
    for name in sorted(_names(folder)):
        if not fnmatchcase(name, pattern) or (name[0] == "." and pattern[0] != "."):
            continue
        path = os.path.join(folder, to_path(name))
        mode = os.lstat(path).st_mode
        if rest and stat.S_ISDIR(mode):
            found += ["%s/%s" % (name, below) for below in _files(path, rest)]
        elif not rest and stat.S_ISREG(mode):
            found.append(name)
    return found


def _names(folder: bytes) -> "List[str]":
    try:
        return [name.decode("utf-8", "surrogateescape") for name in os.listdir(folder)]
    except OSError:
        return []


def _check(name: str) -> None:
    """Raise Failed for a name that can't be told, or that is none on other nodes."""
    try:
        is_long = any(len(part.encode("utf-8")) > LONGEST_NAME for part in name.split("/"))
    except UnicodeEncodeError:
        raise Failed("verification", "late output `%s` has a name that is not UTF-8" % _shown(name))
    if _CONTROLS.search(name):
        told = "late output `%s` has a control character in its name"
        raise Failed("verification", told % _shown(name))
    if is_long:
        raise Failed("verification", "late output `%s` has too long a name" % _shown(name))


def _shown(name: str) -> str:
    return one_line(name.encode("utf-8", "replace").decode("utf-8"))
