"""The software of the binaries of an attempt."""

import os
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host import software_cache
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.protocol.text import one_line

Environment = Dict[bytes, bytes]


def provide(
    paths: NodePaths, binaries: "List[Dict[str, Any]]", pause_point: "Callable[[], None]"
) -> "List[bytes | None]":
    """Return the folder of each binary's software, pulled if needed; raise Failed if impossible."""
    try:
        return [
            software_cache.pull(paths, binary["software"], pause_point)
            if binary["software"]
            else None
            for binary in binaries
        ]
    except software_cache.SoftwareUnavailable as error:
        raise Failed(error.reason, one_line(error.detail))


def distrust(
    paths: NodePaths, binaries: "List[Dict[str, Any]]", pause_point: "Callable[[], None]"
) -> "List[str]":
    """Have software with faults unpacked again by the next attempt; return a remark on each."""
    remarks = []
    orders = [binary["software"] for binary in binaries if binary["software"]]
    for number, order in enumerate(orders):
        if order in orders[:number]:
            continue
        faults = software_cache.distrust(paths, order, pause_point)
        if faults:
            remarks.append("software `%s/%s` is damaged: %s; the next attempt installs it again"
                           % (order["name"], order["version"], faults[0]))  # fmt: skip
    return remarks


def add(folder: "bytes | None", environment: Environment) -> Environment:
    """Return the environment with the folder of the software, and its `bin` in the PATH."""
    if folder is None:
        return environment
    found = {**environment, b"D0CTL_SOFTWARE": folder}
    programs = os.path.join(folder, b"bin")
    if os.path.isdir(programs):
        found[b"PATH"] = programs + b":" + environment.get(b"PATH", os.defpath.encode())
    return found
