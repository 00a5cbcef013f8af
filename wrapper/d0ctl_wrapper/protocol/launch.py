"""Launches: the order to run one attempt, and its check."""

import re
from typing import Any, Dict, Tuple

from d0ctl_wrapper.protocol import checksum, lease, locator, retained, software_order, stamp
from d0ctl_wrapper.protocol.checks import shape
from d0ctl_wrapper.protocol.message import LOG_REASON

Launch = Dict[str, Any]

NICE = 10
"""Default for how much lower the priority of a binary is than its wrapper's."""

CHECK_TIMEOUT_S = 600.0
HOOK_TIMEOUT_S = 300.0
"""Default for the seconds that a check or a hook may take."""

LARGEST_CORE = 100 * 1000 * 1000
"""Default for the bytes on the disk above which a core is removed."""


LOAD_WINDOW_S = 5.0
"""Default for the seconds over which the load of a node is measured."""

LOAD_PAUSE_S = 10.0
"""Default for the seconds that a binary has to pause by itself for a load guard."""

DISK_WAIT_S = 1800.0
"""Default for the seconds that a binary is suspended on a full disk before its attempt fails."""


def _pattern(value: Any) -> str:
    try:
        re.compile(shape.filled(value))
    except re.error as error:
        raise ValueError("is not a regular expression: %s" % error)
    return str(value)


_INPUT = {
    "name": shape.relative,
    "path": shape.maybe(shape.absolute),
    "size": shape.maybe(shape.whole),
    "required": shape.boolean,
}

LATE_INPUT = shape.record(
    {
        "name": shape.relative,
        "path": shape.maybe(shape.absolute),
        "size": shape.maybe(shape.whole),
        "binaries": shape.many(shape.positive),
    },
    {"writable": (shape.boolean, False), **stamp.FIELDS},
)
"""An input that is delivered after the launch; without a path the binary fetches it itself."""

_INPUT_EXTRAS: "Dict[str, Tuple[shape.Check, Any]]" = {
    "original": (shape.maybe(shape.absolute), None),
    "writable": (shape.boolean, False),
    **stamp.FIELDS,
    "locator": (shape.maybe(lambda value: locator.check(shape.filled(value))), None),
    "checksum": (shape.maybe(lambda value: checksum.check(shape.filled(value))), None),
    "delivered": (
        shape.maybe(shape.record({"at": shape.number, "checksum": checksum.check})),
        None,
    ),
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
        "timeout": (shape.number, HOOK_TIMEOUT_S),
    },
)

_CHAIN_EXTRAS: "Dict[str, Tuple[shape.Check, Any]]" = {
    "log_rules": (shape.many(_LOG_RULE), []),
    "check": (shape.maybe(shape.string), None),
    "check_timeout": (shape.number, CHECK_TIMEOUT_S),
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

_RUN_TIME_HISTORY = shape.record({"gap": shape.number, "runs": shape.positive})

_GUARDS = shape.record(
    {},
    {
        "wall_time": (shape.maybe(shape.number), None),
        "memory": (shape.maybe(shape.whole), None),
        "disk": (shape.maybe(shape.whole), None),
        "reserve": (shape.maybe(shape.whole), None),
        "patience": (shape.number, DISK_WAIT_S),
        "swap": (shape.maybe(shape.whole), None),
        "yield_cpu": (shape.maybe(shape.number), None),
        "window": (shape.number, LOAD_WINDOW_S),
        "grace": (shape.number, LOAD_PAUSE_S),
    },
)

_BINARY_EXTRAS = {
    **_CHAIN_EXTRAS,
    "looping": (shape.maybe(shape.number), None),
    "run_time_history": (shape.maybe(_RUN_TIME_HISTORY), None),
    "work_size": (shape.maybe(shape.whole), None),
    "progress": (shape.maybe(_PROGRESS), None),
    "runtime": (shape.maybe(shape.number), None),
    "software": (shape.maybe(shape.record(software_order.FIELDS)), None),
    "stdin": (shape.maybe(shape.relative), None),
}

IDLE_S, TIMEOUT_S, RETRY_S = 300.0, 12 * 3600.0, 2.0
"""Defaults of a transfer: the seconds without progress after which it is stuck, the seconds that it
may take, and the pause before the next try."""

_COMMANDS = shape.record(
    {}, {"fetch": (shape.maybe(shape.filled), None), "store": (shape.maybe(shape.filled), None)}
)

_TRANSFER = shape.record(
    {},
    {
        "commands": (shape.dictionary(_COMMANDS), {}),
        "idle": (shape.number, IDLE_S),
        "timeout": (shape.number, TIMEOUT_S),
        "retry": (shape.number, RETRY_S),
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
        "cpu": (shape.positive, 100),
        "gpus": (shape.whole, 0),
        "nice": (shape.whole, NICE),
        "deliver": (shape.many(_DELIVERY), []),
        "transfer": (_TRANSFER, _TRANSFER({})),
        "lease": (shape.number, lease.LEASE_S),
        "hooks": (shape.many(_HOOK), []),
        "previous": (shape.many(retained.PREVIOUS), []),
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
    """Return the launch without unknown fields, or raise ValueError with a plain reason."""
    launch: Launch = _LAUNCH(value)
    if not launch["binaries"]:
        raise ValueError("has no binaries")
    for number, binary in enumerate(launch["binaries"], 1):
        if (binary["script"] is None) == (not binary["argv"]):
            raise ValueError("binary %d needs either a script or a program" % number)
    launch["ahead"] |= any(entry["locator"] is not None for entry in launch["inputs"])
    for position, entry in enumerate(launch["inputs"], 1):
        if entry["path"] is None and entry["locator"] is None and entry["original"] is None:
            raise ValueError("input %d needs either a path or a locator" % position)
    return launch
