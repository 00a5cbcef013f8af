"""The only place that gives the binaries of an attempt the software that they ask for."""

import os
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host import software
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.protocol.text import one_line

Environment = Dict[bytes, bytes]


def provide(
    paths: NodePaths, binaries: "List[Dict[str, Any]]", pause: "Callable[[], None]"
) -> "List[bytes | None]":
    """Give the folder of each binary's software, pulled if need be; raise Failed if it can't be."""
    try:
        return [
            software.pull(paths, binary["software"], pause) if binary["software"] else None
            for binary in binaries
        ]
    except software.Unusable as error:
        raise Failed(error.reason, one_line(error.detail))


def add(folder: "bytes | None", environment: Environment) -> Environment:
    """Let a binary find its software: its folder, and the programs in its `bin`."""
    if folder is None:
        return environment
    found = {**environment, b"D0CTL_SOFTWARE": folder}
    programs = os.path.join(folder, b"bin")
    if os.path.isdir(programs):
        found[b"PATH"] = programs + b":" + environment.get(b"PATH", os.defpath.encode())
    return found
