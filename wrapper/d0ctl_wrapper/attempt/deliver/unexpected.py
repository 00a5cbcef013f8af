"""Files that binaries made without declaring them."""

import os
from typing import Iterable, Iterator, List, Set

from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import to_text
from d0ctl_wrapper.protocol.text import one_line

NAMED = 3
"""The most files that are named."""

LOOKED_AT = 1000
"""The most files among which they are searched."""


def sentence(work: bytes, name: str, known: "Set[str]") -> str:
    """Say which other files a working directory has, the most similar first."""
    names = [found for found in _files(work) if not _is_known(found, known)]
    if not names:
        return "and no undeclared file was made"
    listed = _listed(_by_likeness(name, names))
    return "but there %s %s" % ("are" if len(names) > 1 else "is", listed)


def not_kept(work: bytes, launch: Launch, inputs: "Iterable[str]") -> "Iterator[str]":
    """Yield a remark on files that are not kept, as their package has no outputs at all."""
    if any(binary["outputs"] for binary in launch["binaries"]):
        return
    known = {name.rstrip("/") for name in inputs}
    names = [found for found in _files(work) if not _is_known(found, known)]
    if names:
        yield "not kept, as the package has no `outputs`: %s" % _listed(names)


def _listed(names: "List[str]") -> str:
    """Name the first files, and count the others."""
    named = ["`%s`" % one_line(found) for found in names[:NAMED]]
    if len(names) > NAMED:
        more = len(names) - NAMED
        named.append("%d %s" % (more, "other" if more == 1 else "others"))
    return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else named[0]


def _is_known(found: str, known: "Set[str]") -> bool:
    """Return whether a file is known, or in a directory that is."""
    ends = (end for end, sign in enumerate(found) if sign == "/")
    return found in known or any(found[:end] in known for end in ends)


def _by_likeness(name: str, names: "List[str]") -> "List[str]":
    """Sort names by their similarity to the missing one."""
    from difflib import SequenceMatcher  # imported late, as only failed attempts need it

    matcher = SequenceMatcher(None, "", os.path.basename(name).lower())

    def likeness(found: str) -> float:
        matcher.set_seq1(os.path.basename(found).lower())
        return matcher.ratio()

    return sorted(names, key=lambda found: (-likeness(found), found))


def _files(work: bytes) -> "List[str]":
    found: "List[str]" = []
    for path in _walk(work):
        found.append(to_text(os.path.relpath(path, work)))
        if len(found) == LOOKED_AT:
            break
    return found


def _walk(work: bytes) -> "Iterator[bytes]":
    for folder, _, names in os.walk(work):
        paths = (os.path.join(folder, name) for name in sorted(names))
        yield from (path for path in paths if not os.path.islink(path))
