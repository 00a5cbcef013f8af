"""The only place that says what a launch is, and checks one."""

from typing import Any, Dict

from d0ctl_wrapper import shape, software

Launch = Dict[str, Any]

_INPUT = {
    "name": shape.base_name,
    "path": shape.absolute,
    "size": shape.maybe(shape.whole),
    "required": shape.boolean,
}

_BINARY = {
    "name": shape.string,
    "script": shape.maybe(shape.string),
    "shell": shape.maybe(shape.one_of("bash", "sh")),
    "argv": shape.maybe(shape.many(shape.string)),
    "inputs": shape.many(shape.string),
    "outputs": shape.many(
        shape.record({"name": shape.relative, "min_size": shape.maybe(shape.whole)})
    ),
    "software": shape.maybe(shape.record(software.FIELDS)),
}

_LAUNCH = shape.record(
    {
        "attempt": shape.positive,
        "token": shape.filled,
        "path": shape.string,
        "cpus": shape.positive,
        "environment": shape.mapping,
        "inputs": shape.many(shape.record(_INPUT)),
        "binaries": shape.many(shape.record(_BINARY)),
        "keep": shape.many(shape.relative),
    }
)


def check(value: Any) -> Launch:
    """Give a launch with the right fields only, or raise ValueError with a plain reason."""
    launch: Launch = _LAUNCH(value)
    if not launch["binaries"]:
        raise ValueError("has no binaries")
    for place, binary in enumerate(launch["binaries"], 1):
        if (binary["script"] is None) == (not binary["argv"]):
            raise ValueError("binary %d needs either a script or a program" % place)
    return launch
