"""What `node set`, `cluster set` and `researcher set` share: keys of the site file."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from d0ctl.actions import undo, wording
from d0ctl.actions.action import AnyRequest, Plan
from d0ctl.errors import BadJobFile, BadUsage
from d0ctl.sitefile import reader
from d0ctl.sitefile.spec import Site
from d0ctl.sitefile.writer import plain_text
from d0ctl.units import listed

NONE = "none"
"""Stands for no value: the default, or the node's own answer."""

LISTS = ("services", "clusters")
"""The keys whose value is a list, written with commas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPlan(Plan):
    """The values before and after of the keys that change, as people write them."""

    changed: Mapping[str, tuple[str, str]]
    entry: Any
    """What is recorded: the node, cluster or researchers with the new values."""


def planned(
    request: AnyRequest[Any, Any], before: Mapping[str, Any], after: Mapping[str, Any], entry: Any
) -> SetPlan:
    """Return the plan for keys with these values before and after. Raises BadUsage for none."""
    if not request.options.changes:
        example = request.action.example.split()[1]
        raise BadUsage("say what to set", hint=request.action.request(
            request.target, changes=(example,)).command())  # fmt: skip
    pairs = {key: (_written(key, before[key]), _written(key, after[key])) for key in before}
    changed = {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
    return SetPlan(request=request, changed=changed, entry=entry, is_empty=not changed)


def _written(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (None, (), []):
        return NONE
    return plain_text(key, tuple(value) if isinstance(value, list) else value)


def texts(request: AnyRequest[Any, Any], keys: Collection[str]) -> dict[str, str]:
    """Return the texts of words such as `speed=1.5`, by their keys. Raises BadUsage."""
    found = {}
    for word in request.options.changes:
        key, equals, text = word.partition("=")
        if key not in keys or not equals:
            raise BadUsage(f"`{word}` is not KEY=VALUE with one of {listed(keys, 'or')}",
                           hint=f"d0ctl {request.name} {request.action.example}")  # fmt: skip
        found[key] = text
    return found


def values(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the texts as in a site file, without those that are cleared."""
    return {
        key: [one for one in text.split(",") if one] if key in LISTS else text
        for key, text in texts.items()
        if text != NONE
    }


def read(document: Mapping[str, Any]) -> Site:
    """Read settings by the rules of a site file. Raises BadUsage."""
    try:
        return reader.read_text(json.dumps(document))
    except BadJobFile as error:
        raise BadUsage(error.faults[0].split(": ", 1)[1]) from error


def undo_set(plan: SetPlan) -> str | None:
    """Return the command that undoes it."""
    words = [f"{key}={before}" for key, (before, _) in plan.changed.items()]
    return undo.command(plan.request.name, plan.request.target.words, *words) if words else None


def describe(plan: SetPlan) -> Iterator[str]:
    """Say what would change."""
    yield wording.new_values("would change", plan.changed, plan.request.target.brief, "settings")


def report(plan: SetPlan) -> Iterator[str]:
    """Say what has changed."""
    yield wording.new_values("changed", plan.changed, plan.request.target.brief, "settings")
