"""The content of a site file, and the changes by applying it."""

from collections.abc import Iterator, Sequence
from typing import Any

from d0ctl.sitefile.spec import Site
from d0ctl.sitefile.writer import plain_text
from d0ctl.store.clusters.site_comparison import Difference
from d0ctl.units import clean, count

SIGNS = {"add": "+", "change": "~", "remove": "-"}
SAME = "no changes: the site matches the file"
PAST = {"add": "added", "change": "changed", "remove": "removed"}


def summary(site: Site) -> str:
    """Return how many nodes and how much software a file has, and its sections."""
    parts = [count(len(site.nodes), "node"), f"{count(len(site.software))} of software"]
    return "ok: " + ", ".join([*parts, *(f"`{name}`" for name in site.settings)])


def differences(found: Sequence[Difference]) -> list[str]:
    """Return a line for each node, software and section that changes."""
    return [
        clean(f"{SIGNS[one.verb]} {one.kind} {one.name}")
        + (f": {', '.join(one.keys)}" if one.keys and one.kind != "setting" else "")
        for one in found
    ]


def comparison(found: Sequence[Difference]) -> list[str]:
    """Return these lines with the values of nodes and clusters, as they are and would be."""
    lines = []
    for one, line in zip(found, differences(found), strict=True):
        pairs = [
            f"{key} {_word(key, was)} -> {_word(key, will)}"
            for key, (was, will) in zip(one.keys, one.values, strict=True)
            if one.kind in ("node", "cluster")
        ]
        head = clean(f"{SIGNS[one.verb]} {one.kind} {one.name}")
        lines.append(f"{head}: {', '.join(pairs)}" if pairs else line)
    return lines or [SAME]


def _word(key: str, value: Any) -> str:
    return "none" if value in (None, (), "", False) else clean(plain_text(key, value))


def outcome(found: Sequence[Difference], *, would: bool) -> Iterator[str]:
    """Yield what was changed, or would be, and how much that is."""
    if not found:
        yield SAME
        return
    yield from differences(found)
    numbers = {verb: sum(one.verb == verb for one in found) for verb in PAST}
    changes = ", ".join(f"{count(n)} {PAST[verb]}" for verb, n in numbers.items() if n)
    yield f"would be: {changes}" if would else changes


def rotated(running: int, *, would: bool) -> str:
    """Say that the site has a new key, or would have, and which attempts keep the previous one."""
    keep = "would keep" if would else "keeps" if running == 1 else "keep"
    ends = "it ends" if running == 1 else "they end"
    kept = f"; {count(running, 'running attempt')} {keep} the previous one until {ends}"
    verb = "would have" if would else "has"
    return f"the site {verb} a new key{kept if running else ''}"
