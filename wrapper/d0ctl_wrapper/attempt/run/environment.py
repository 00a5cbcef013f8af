"""The environment of binaries."""

import os
from typing import Dict

from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, to_path, to_text

Environment = Dict[bytes, bytes]

_FOREIGN = (
    b"SSH_", b"D0CTL_HOME", b"TERM", b"COLUMNS", b"LINES", b"DISPLAY", b"WAYLAND_DISPLAY",
    b"XAUTHORITY", b"WINDOWID", b"DBUS_", b"XDG_SESSION", b"XDG_SEAT", b"XDG_VTNR", b"XDG_RUNTIME",
    b"TMUX", b"STY", b"PS1", b"PS2", b"PS3", b"PS4", b"LS_COLORS", b"EDITOR", b"VISUAL", b"PAGER",
    b"LESS", b"PWD", b"OLDPWD", b"SHLVL",
)  # fmt: skip
"""The beginnings of variables of a connection, a terminal or a desktop, which binaries do not get:
a package runs the same whichever user and folder the daemon was started from."""

TEMPORARY = b"TMPDIR"

GPUS = b"CUDA_VISIBLE_DEVICES"


def inherited() -> Environment:
    """Return the environment of the account on the node, for all attempts."""
    found = {
        name: value
        for name, value in os.environb.items()
        if not name.startswith(_FOREIGN) and name != b"_"
    }
    if not os.access(found.get(TEMPORARY, b"/tmp"), os.W_OK | os.X_OK):
        found[TEMPORARY] = b""
    return found


def of_binary(inherits: Environment, folder: AttemptFolder, launch: Launch) -> Environment:
    """Return the environment of the binaries of an attempt; its marks identify lost processes.

    If the node has no folder for temporary files, they get that of the attempt. On a node with GPUs
    they see those that they requested, and no others.
    """
    here = folder.path
    made = {
        **inherits,
        **{to_path(name): to_path(value) for name, value in launch["environment"].items()},
        b"D0CTL_BASE": folder.node.base,
        b"D0CTL_ATTEMPT": b"%d" % launch["number"],
        b"D0CTL_ATTEMPT_ID": b"%d" % folder.attempt,
        b"D0CTL_PACKAGE": to_path(launch["path"]),
        b"D0CTL_INPUTS": here + b"/inputs",
        b"D0CTL_PROGRESS": here + b"/progress",
        b"D0CTL_COMMAND": here + b"/command",
        b"D0CTL_WORK": here + b"/work",
    }
    devices = launch.get("devices")
    if devices or (devices is not None and to_text(GPUS) not in launch["environment"]):
        made[GPUS] = to_path(",".join(devices))
    if made.get(TEMPORARY) == b"":
        made[TEMPORARY] = here
    return made
