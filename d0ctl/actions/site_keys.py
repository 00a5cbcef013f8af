"""What `node set`, `cluster set` and `researcher set` share: keys of the site file."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Level, NodeRequest, Plan
from d0ctl.actions.option import Options, arguments
from d0ctl.errors import BadJobFile, BadUsage, NotFound
from d0ctl.model import Node
from d0ctl.sitefile import reader
from d0ctl.sitefile.spec import Site
from d0ctl.sitefile.writer import NONE, plain_text
from d0ctl.store.clusters import site_comparison
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.units import count, listed, size

LISTS = ("services", "clusters")
"""The keys whose value is a list, written with commas."""


@dataclass(frozen=True, slots=True)
class SetOptions(Options):
    """The settings to change."""

    changes: tuple[str, ...] = arguments(
        "KEY=VALUE", "Keys of its entry in the site file, with their new values.",
        log=lambda texts: texts,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPlan(Plan):
    """The values before and after of the keys that change, as people write them."""

    changed: Mapping[str, tuple[str, str]]
    entry: dict[str, Any]
    """All fields of the entry, with the new values."""
    remarks: tuple[str, ...] = ()
    """What a person should know of the new values."""
    is_new: bool = False
    """Whether what it sets is added with these values, so that none from before can be set."""


def planned(
    request: NodeRequest[Any],
    keys: Collection[str],
    before: Mapping[str, Any],
    read: Callable[[dict[str, Any]], Mapping[str, Any]],
) -> SetPlan:
    """Return the plan for an entry with these fields before.

    `read` returns the fields of an entry with the new values. Raises BadUsage.
    """
    if not request.options.changes:
        example = request.action.example.split()[1]
        raise BadUsage("no setting is given", hint=request.action.request(
            request.target, changes=(example,)).command())  # fmt: skip
    texts = _texts(request, keys)
    new = read(_values(texts))
    entry, changed = dict(before), {}
    for key in texts:
        name = key.replace("-", "_")
        entry[name] = new.get(name)
        pair = plain_text(key, before.get(name)), plain_text(key, entry[name])
        if pair[0] != pair[1]:
            changed[key] = pair
    return SetPlan(request=request, changed=changed, entry=entry, is_empty=not changed)


def written(
    keys: Collection[str], fields: Mapping[str, Any], default: Mapping[str, Any]
) -> list[str]:
    """Return the settings that are not the default, as people write them."""
    names = {key: key.replace("-", "_") for key in keys}
    return [
        f"{key}={plain_text(key, fields[name])}"
        for key, name in names.items()
        if fields[name] != default[name]
    ]


def check_cluster(store: Store, cluster: str | None, *, new: bool) -> bool:
    """Return whether a cluster is to be made. Raises NotFound for one that may not be `new`."""
    known = site_comparison.known_clusters(store)
    if cluster is None or cluster in known:
        return False
    if new:
        return True
    raise no_cluster(store, cluster, "; `--new` would make it", "d0ctl cluster list")


def no_cluster(store: Store, name: str, more: str, otherwise: str) -> NotFound:
    """Return the error for a cluster that does not exist, with that of a node, or the nearest."""
    from d0ctl.jobfile.yaml.faults import near  # late: only an error needs it

    if (node := registry.find(store, name)) is not None:
        return NotFound(f"there is no cluster `{name}`{more}",
                        hint=f"node `{name}` is in cluster `{node.cluster}`")  # fmt: skip
    meant = near(name, site_comparison.known_clusters(store))
    hint = f"did you mean `{meant}`?" if meant else otherwise
    return NotFound(f"there is no cluster `{name}`{more}", hint=hint)


def beyond_machine(row: Node, wanted: Mapping[str, tuple[Any, str]]) -> Iterator[str]:
    """Say how much a machine has of what is set to more; `wanted` are values and their texts."""
    facts = json.loads(row.facts or "{}")
    for key, (value, text) in wanted.items():
        has = facts.get(key)
        if key in ("cpus", "gpus", "memory") and None not in (has, value) and value > has:
            amount = size(has) if key == "memory" else count(has, key.removesuffix("s").upper())
            yield f"{key}={text} is more than the machine has: {amount}"


def _texts(request: NodeRequest[Any], keys: Collection[str]) -> dict[str, str]:
    """Return the texts of words such as `speed=1.5`, by their keys. Raises BadUsage."""
    found = {}
    for word in request.options.changes:
        key, equals, text = word.partition("=")
        if key not in keys or not equals:
            raise BadUsage(f"`{word}` is not KEY=VALUE with one of {listed(keys, 'or')}",
                           hint=_corrected(request, word, keys))  # fmt: skip
        found[key] = text
    return found


def _corrected(request: NodeRequest[Any], word: str, keys: Collection[str]) -> str:
    """Return the command with the key that was meant; if none is near, that of the example."""
    from d0ctl.jobfile.yaml.faults import near  # late: only an error needs it

    key, equals, text = word.partition("=")
    meant = near(key, keys)
    if not meant or not equals:
        changes = tuple(request.action.example.split()[1:])
        return request.action.request(request.target, changes=changes).command()
    changes = tuple(
        f"{meant}={text}" if other == word else other for other in request.options.changes
    )
    command = request.action.request(request.target, changes=changes).command()
    return f"did you mean `{command}`?"


def _values(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the texts as in a site file, without those that are cleared."""
    return {
        key: [item for item in text.split(",") if item] if key in LISTS else text
        for key, text in texts.items()
        if text != NONE
    }


def read(**sections: Mapping[str, Any]) -> Site:
    """Read settings by the rules of a site file. Raises BadUsage."""
    try:
        return reader.read_text(json.dumps(sections), source=None)
    except BadJobFile as error:
        raise BadUsage(error.faults[0]) from error


def undo_command(plan: SetPlan) -> str | None:
    """Return the command that sets the values before; None if none changes or it is new."""
    if plan.is_new:
        return None
    pairs = [f"{key}={before}" for key, (before, _) in plan.changed.items()]
    return undo.command(plan.request.name, plan.request.target.arguments, *pairs) if pairs else None


def describe(plan: SetPlan) -> Iterator[str]:
    """Say which values would change, and what a person should know of them."""
    lead = "would add" if plan.is_new else "would change"
    yield wording.new_values(lead, plan.changed, plan.request.target.brief, "settings")
    yield from plan.remarks


def _report(plan: SetPlan) -> Iterator[str]:
    lead = "added" if plan.is_new else "changed"
    yield wording.new_values(lead, plan.changed, plan.request.target.brief, "settings")
    yield from plan.remarks


def set_action(
    level: Level,
    *,
    options: type[SetOptions] = SetOptions,
    undo: Callable[[SetPlan], str | None] = undo_command,
    describe: Callable[[SetPlan], Iterator[str]] = describe,
    **more: Any,
) -> Action[SetOptions, SetPlan]:
    """Return the action that sets keys of what is of a level."""
    return Action(
        name=f"{level} set",
        past="changed",
        options=options,
        undo=undo,
        describe=describe,
        report=_report,
        level=level,
        starts_packages=True,
        **more,
    )
