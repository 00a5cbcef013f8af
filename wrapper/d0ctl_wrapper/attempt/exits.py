"""The only place that knows what exit codes mean by custom: sysexits, `timeout`, the shells."""

import os

_SHELLS = {
    124: "time-out, as `timeout` has it",
    126: "command not executable",
    127: "command not found",
}

_SYSEXITS = {
    int(getattr(os, name)): name
    for name in dir(os)
    if name.startswith("EX_") and name not in ("EX_OK", "EX_NOTFOUND")
}


def name(code: int) -> str:
    """Give the name of an exit code; empty for one without."""
    return _SHELLS.get(code) or _SYSEXITS.get(code, "")


def phrase(code: "int | None") -> str:
    """Say how a program ended, after its name."""
    known = name(code) if code is not None else ""
    return "ended with exit code %s" % code + (" (%s)" % known if known else "")
