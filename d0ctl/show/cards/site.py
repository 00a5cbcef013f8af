"""The content of a site file, and the changes by applying it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from d0ctl.errors import Refused
from d0ctl.sitefile.spec import Site
from d0ctl.sitefile.writer import plain_text
from d0ctl.store.clusters.site_comparison import Difference
from d0ctl.units import clean, count, listed

SIGNS = {"add": "+", "change": "~", "remove": "-"}
SAME = "no changes: the site matches the file"
OTHERS = "no changes"
"""That, if the site also has what the file does not name."""

DEFAULT = "default"
"""A value that is not set, beside one that is called as such values are otherwise."""

MOST = 5
"""How many of these things are named."""

PAST = {"add": "added", "change": "changed", "remove": "removed"}


def summary(site: Site) -> str:
    """Return how many nodes and how much software a file has, and its sections."""
    parts = [count(len(site.nodes), "node"), f"{count(len(site.software))} software"]
    return "ok: " + ", ".join([*parts, *(f"`{name}`" for name in site.settings)])


def differences(changes: Sequence[Difference]) -> list[str]:
    """Return a line for each node, software and section that changes."""
    return [
        clean(f"{SIGNS[difference.verb]} {difference.kind} {difference.name}")
        + (
            f": {', '.join(difference.keys)}"
            if difference.keys and difference.kind != "setting"
            else ""
        )
        for difference in changes
    ]


def unnamed(things: Sequence[str]) -> list[str]:
    """Say what commands have made that no site file names."""
    stay = "it stays as it is" if len(things) == 1 else "they stay as they are"
    named = [*things[:MOST], *([f"{len(things) - MOST:,} more"] if len(things) > MOST else [])]
    return [clean(f"the file does not name {listed(named)}: {stay}")] if things else []


def comparison(changes: Sequence[Difference], *, is_whole: bool = True) -> list[str]:
    """Return these lines with values, except those of software, as they are and would be.

    `is_whole`: the file names all that the site has.
    """
    lines = []
    for difference, line in zip(changes, differences(changes), strict=True):
        pairs = [
            f"{key} {_word(key, will)}".strip()
            if difference.verb == "add"
            else f"{key} {' -> '.join(_pair(key, was, will))}".strip()
            for name, value in zip(difference.keys, difference.values, strict=True)
            for key, was, will in _pairs(difference.kind, name, value)
        ]
        head = clean(f"{SIGNS[difference.verb]} {difference.kind} {difference.name}")
        lines.append(f"{head}: {', '.join(pairs)}" if pairs else line)
    return lines or [SAME if is_whole else OTHERS]


def _pairs(kind: str, name: str, value: tuple[Any, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs of a key, and its two values; of a section, each value that differs."""
    if kind in ("node", "cluster"):
        yield name, *value
    if kind == "setting":
        was, will = dict(_leaves(value[0])), dict(_leaves(value[1]))
        for key in dict.fromkeys([*was, *will]):
            if was.get(key) != will.get(key):
                yield key, was.get(key), will.get(key)


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a section with their keys, joined by dots."""
    if not isinstance(value, Mapping):
        yield key, value
        return
    for name, inner in value.items():
        yield from _leaves(inner, f"{key}.{name}" if key else name)


def _word(key: str, value: Any) -> str:
    is_factor = ".escalate." in key  # of a request that has the same name
    return clean(plain_text("" if is_factor else key.rpartition(".")[2], value))


def _pair(key: str, was: Any, will: Any) -> tuple[str, str]:
    """Return two values as people read them; `security: none` is not the default."""
    pair = _word(key, was), _word(key, will)
    if pair[0] != pair[1]:
        return pair
    before, after = (DEFAULT if value is None else _word(key, value) for value in (was, will))
    return before, after


def outcome(
    planned: Sequence[Difference], *, would: bool, is_known: bool = False, is_whole: bool = True
) -> Iterator[str]:
    """Yield what was changed, or would be, unless a question has just named it; and how much."""
    if not planned:
        yield from comparison(planned, is_whole=is_whole)
        return
    if not is_known:
        yield from comparison(planned)
    numbers = {verb: sum(difference.verb == verb for difference in planned) for verb in PAST}
    changes = ", ".join(f"{count(n)} {PAST[verb]}" for verb, n in numbers.items() if n)
    yield f"would be: {changes}" if would else changes


def refused(obstacle: Refused) -> str:
    """Say that `site apply` would be refused, and why."""
    return f"`site apply` would be refused: {obstacle}"


def rotated(running: int, *, would: bool) -> str:
    """Say that the site has a new key, or would have, and which attempts keep the previous one."""
    keep = "would keep" if would else "keeps" if running == 1 else "keep"
    ends = "it ends" if running == 1 else "they end"
    previous = f"; {count(running, 'running attempt')} {keep} the previous one until {ends}"
    verb = "would have" if would else "has"
    return f"the site {verb} a new key{previous if running else ''}"


def replaced(running: int, *, would: bool) -> str:
    """Say that the site has a new key in place of a lost one, or would have, and what ends."""
    verb, ends = ("would have", "would end") if would else ("has", "ended")
    ended = f"; {count(running, 'running attempt')} {ends} as lost, to start again"
    return f"the site {verb} a new key{ended if running else ''}"
