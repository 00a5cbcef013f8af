"""The only place that checks launches, and lets them wait for free processors."""

import collections
from typing import Any, Dict

from d0ctl_wrapper import shape

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


class Queue:
    """Launches that wait for processors, in the order of their coming."""

    def __init__(self, cpus: int) -> None:
        self._cpus = cpus
        self._waiting: "collections.OrderedDict[int, Launch]" = collections.OrderedDict()

    def __contains__(self, attempt: int) -> bool:
        return attempt in self._waiting

    def add(self, launch: Launch) -> None:
        """Put a launch at the end."""
        self._waiting[launch["attempt"]] = launch

    def drop(self, attempt: int) -> bool:
        """Forget a launch; tell whether it was waiting here."""
        return self._waiting.pop(attempt, None) is not None

    def next(self, used: int) -> "Launch | None":
        """Take the first launch, if it fits beside `used` processors or may run alone."""
        if not self._waiting:
            return None
        attempt = next(iter(self._waiting))
        if used and used + self._waiting[attempt]["cpus"] > self._cpus:
            return None
        return self._waiting.pop(attempt)
