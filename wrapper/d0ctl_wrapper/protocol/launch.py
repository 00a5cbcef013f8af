"""The only place that says what a launch is, and checks one."""

import re
from typing import Any, Dict, Tuple

from d0ctl_wrapper.protocol import checksum, lease, locator, retained, shape, software_order, stamp
from d0ctl_wrapper.protocol.message import LOG_REASON

Launch = Dict[str, Any]

NICE = 10
"""How far below its wrapper a binary runs, unless a launch says otherwise."""

CHECK_TIMEOUT = 600.0
HOOK_TIMEOUT = 300.0
"""How many seconds a check, or a hook, may take, unless a launch says otherwise."""

LARGEST_CORE = 100 * 1000 * 1000
"""A core that takes more bytes on the disk is removed, unless a launch says otherwise."""


WINDOW = 5.0
"""Over so many seconds a node is watched before a binary gives way to others."""

PAUSE = 10.0
"""So many seconds a binary has to pause by itself, where it gives way."""

PATIENCE = 1800.0
"""How many seconds a binary stands still for want of disk before its attempt fails."""


def _pattern(value: Any) -> str:
    try:
        re.compile(shape.filled(value))
    except re.error as error:
        raise ValueError("is not a regular expression: %s" % error)
    return str(value)


_INPUT = {
    "name": shape.base_name,
    "path": shape.maybe(shape.absolute),
    "size": shape.maybe(shape.whole),
    "required": shape.boolean,
}

FED = shape.record(
    {
        "name": shape.base_name,
        "path": shape.maybe(shape.absolute),
        "size": shape.maybe(shape.whole),
        "binaries": shape.many(shape.positive),
    },
    {"writable": (shape.boolean, False), **stamp.FIELDS},
)
"""An input that reaches an attempt after its launch; without a path the binary gets it itself."""

_INPUT_EXTRAS: "Dict[str, Tuple[shape.Check, Any]]" = {
    "original": (shape.maybe(shape.absolute), None),
    "writable": (shape.boolean, False),
    **stamp.FIELDS,
    "locator": (shape.maybe(lambda value: locator.check(shape.filled(value))), None),
    "checksum": (shape.maybe(lambda value: checksum.check(shape.filled(value))), None),
}

_DELIVERY = shape.record(
    {"name": shape.relative, "locator": lambda value: locator.check(shape.filled(value))}
)

_BINARY = {
    "name": shape.string,
    "script": shape.maybe(shape.string),
    "shell": shape.maybe(shape.one_of("bash", "sh")),
    "argv": shape.maybe(shape.many(shape.string)),
    "inputs": shape.many(shape.string),
    "outputs": shape.many(
        shape.record(
            {"name": shape.relative, "min_size": shape.maybe(shape.whole)},
            {
                "checksum": (shape.maybe(checksum.check), None),
                "late": (shape.boolean, False),
                "min_count": (shape.whole, 1),
            },
        )
    ),
}

_LOG_RULE = shape.record(
    {"match": _pattern},
    {
        "reason": (shape.match(LOG_REASON, "a reason for a log rule"), "log-message"),
        "passive": (shape.boolean, False),
        "required": (shape.boolean, False),
    },
)

_HOOK = shape.record(
    {},
    {
        "name": (shape.string, ""),
        "before": (shape.maybe(shape.string), None),
        "after": (shape.maybe(shape.string), None),
        "end": (shape.maybe(shape.string), None),
        "timeout": (shape.number, HOOK_TIMEOUT),
    },
)

_CHAIN_EXTRAS: "Dict[str, Tuple[shape.Check, Any]]" = {
    "log_rules": (shape.many(_LOG_RULE), []),
    "check": (shape.maybe(shape.string), None),
    "check_timeout": (shape.number, CHECK_TIMEOUT),
    "hooks": (shape.many(_HOOK), []),
    "events": (shape.maybe(retained.EVENTS), None),
}

_PROGRESS = shape.record(
    {},
    {
        "log": (shape.maybe(_pattern), None),
        "output": (shape.maybe(shape.relative), None),
        "of": (shape.maybe(shape.positive), None),
    },
)

_HABIT = shape.record({"gap": shape.number, "runs": shape.positive})

_GUARDS = shape.record(
    {},
    {
        "wall_time": (shape.maybe(shape.number), None),
        "memory": (shape.maybe(shape.whole), None),
        "disk": (shape.maybe(shape.whole), None),
        "reserve": (shape.maybe(shape.whole), None),
        "patience": (shape.number, PATIENCE),
        "swap": (shape.maybe(shape.whole), None),
        "yield_cpu": (shape.maybe(shape.number), None),
        "window": (shape.number, WINDOW),
        "grace": (shape.number, PAUSE),
    },
)

_BINARY_EXTRAS = {
    **_CHAIN_EXTRAS,
    "looping": (shape.maybe(shape.number), None),
    "run_time_history": (shape.maybe(_HABIT), None),
    "work_size": (shape.maybe(shape.whole), None),
    "progress": (shape.maybe(_PROGRESS), None),
    "runtime": (shape.maybe(shape.number), None),
    "software": (shape.maybe(shape.record(software_order.FIELDS)), None),
}

IDLE, TIMEOUT, RETRY = 300.0, 12 * 3600.0, 2.0
"""After so many seconds without progress a transfer counts as stuck; so long may it take; so
long it rests before it is tried again."""

_COMMANDS = shape.record(
    {}, {"fetch": (shape.maybe(shape.filled), None), "store": (shape.maybe(shape.filled), None)}
)

_TRANSFER = shape.record(
    {},
    {
        "commands": (shape.dictionary(_COMMANDS), {}),
        "idle": (shape.number, IDLE),
        "timeout": (shape.number, TIMEOUT),
        "retry": (shape.number, RETRY),
    },
)

_STARTUP = shape.record({"path": shape.filled, "parameters": shape.mapping})

_LAUNCH = shape.record(
    {
        "attempt": shape.positive,
        "token": shape.filled,
        "path": shape.string,
        "cpus": shape.positive,
        "environment": shape.mapping,
        "inputs": shape.many(shape.record(_INPUT, _INPUT_EXTRAS)),
        "binaries": shape.many(shape.record(_BINARY, _BINARY_EXTRAS)),
        "keep": shape.many(shape.relative),
    },
    {
        "number": (shape.positive, 1),
        "nice": (shape.whole, NICE),
        "deliver": (shape.many(_DELIVERY), []),
        "transfer": (_TRANSFER, _TRANSFER({})),
        "lease": (shape.number, lease.LEASE),
        "hooks": (shape.many(_HOOK), []),
        "previous": (shape.many(retained.FORMER), []),
        "accept": (shape.maybe(shape.positive), None),
        "leave": (shape.boolean, False),
        "largest_core": (shape.whole, LARGEST_CORE),
        "guards": (_GUARDS, _GUARDS({})),
        "startup": (shape.maybe(_STARTUP), None),
        "early": (shape.boolean, False),
        "ahead": (shape.boolean, False),
        "delivers": (shape.boolean, False),
    },
)


def check(value: Any) -> Launch:
    """Give a launch with the right fields only, or raise ValueError with a plain reason."""
    launch: Launch = _LAUNCH(value)
    if not launch["binaries"]:
        raise ValueError("has no binaries")
    for place, binary in enumerate(launch["binaries"], 1):
        if (binary["script"] is None) == (not binary["argv"]):
            raise ValueError("binary %d needs either a script or a program" % place)
    launch["ahead"] |= any(entry["locator"] is not None for entry in launch["inputs"])
    for place, entry in enumerate(launch["inputs"], 1):
        if entry["path"] is None and entry["locator"] is None and entry["original"] is None:
            raise ValueError("input %d needs either a path or a locator" % place)
    return launch
