"""The only place that reads what is retried with other wishes, as `memory=8GB wall-time=4h`."""

from collections.abc import Callable, Mapping
from typing import Any

from d0ctl.actions import Changes
from d0ctl.errors import BadUsage
from d0ctl.jobfile.yaml.faults import near
from d0ctl.units import format_size, format_time, parse_size, parse_time

HINT = "memory=8GB wall-time=4h disk=20GB cpus=2 on=NODE; empty: as it was"
"""What may be typed."""


def _cpus(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 100_000):
        raise ValueError(f"`{text}` is no number of cpus")
    return int(text)


_READERS: Mapping[str, Callable[[str], Any]] = {
    "memory": parse_size, "disk": parse_size, "cpus": _cpus, "wall-time": parse_time, "on": str,
}  # fmt: skip


def read(text: str) -> Changes:
    """The changes that are meant. Raises BadUsage."""
    found: dict[str, Any] = {}
    nodes: list[str] = []
    for word in text.split():
        name, equals, value = word.removeprefix("--").partition("=")
        if name not in _READERS or not equals:
            raise BadUsage(f"`{word}` is none of {', '.join(_READERS)}", hint=_meant(name))
        try:
            read_value = _READERS[name](value)
        except ValueError as error:
            raise BadUsage(f"{name}: {error}") from error
        if name == "on":
            nodes += [read_value]
        else:
            found[name.replace("-", "_")] = read_value
    return Changes(**found, nodes=tuple(nodes))


def _meant(name: str) -> str:
    meant = near(name, _READERS)
    return f"did you mean `{meant}`?" if meant and meant != name else f"as in {HINT}"


def options(changes: Changes) -> list[str]:
    """The options of `d0ctl retry` that say the same."""
    given = [
        ("--memory", changes.memory and format_size(changes.memory)),
        ("--disk", changes.disk and format_size(changes.disk)),
        ("--cpus", changes.cpus and str(changes.cpus)),
        ("--wall-time", changes.wall_time and format_time(changes.wall_time)),
    ]
    words = [word for name, value in given if value for word in (name, str(value))]
    return words + [word for node in changes.nodes for word in ("--on", node)]
