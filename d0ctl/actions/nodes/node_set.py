"""node set: change the settings of a node."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from msgspec.structs import asdict

from d0ctl.actions import site_keys, wording
from d0ctl.actions.action import Author, NodeRequest
from d0ctl.actions.option import flag
from d0ctl.actions.site_keys import SetOptions, SetPlan
from d0ctl.errors import BadUsage, Refused
from d0ctl.sitefile.spec import NodeEntry
from d0ctl.sitefile.writer import NONE
from d0ctl.store.clusters import site_changes, site_comparison
from d0ctl.store.connection import Store
from d0ctl.store.nodes import contact, registry

KEYS = ("cpus", "speed", "memory", "gpus", "platform", "services", "cluster")
"""The keys that can be set; the others say how a node is reached."""

ADDRESS_KEYS = ("destination", "identity", "dir", "python", "via")


@dataclass(frozen=True, slots=True)
class NodeSetOptions(SetOptions):
    """The settings to change, and whether the cluster may be new."""

    new: bool = flag("--new", "Make the cluster if there is none of that name.")


def plan(store: Store, request: NodeRequest[NodeSetOptions], now: float) -> SetPlan:
    """Plan the changes. Raises NotFound, BadUsage, or Refused for a node in use."""
    row = registry.named(store, request.target.brief)
    name = row.name
    before = next(node for node in site_comparison.current(store).nodes if node.name == name)
    _check_keys(request)
    found = site_keys.planned(
        request,
        KEYS,
        asdict(before),
        lambda values: asdict(site_keys.read(nodes={name: values}).nodes[0]),
    )
    if "cluster" in found.changed:
        registry.check_unused(store, row)
        site_keys.check_cluster(store, found.entry["cluster"], new=request.options.new)
    wanted = {key: (found.entry[key], value) for key, (_, value) in found.changed.items()}
    return replace(found, remarks=tuple(site_keys.beyond_machine(row, wanted)))


def _check_keys(request: NodeRequest[NodeSetOptions]) -> None:
    """Raise BadUsage for a key that only the site file changes, such as `destination`."""
    for word in request.options.changes:
        key = word.partition("=")[0]
        if key in ADDRESS_KEYS:
            raise BadUsage(
                f"`node set` can't change `{key}`; the site file can",
                hint="d0ctl site show > FILE   # edit it, then: d0ctl site apply FILE",
            )


def undo(plan: SetPlan) -> str | None:
    """Return the command that undoes it, also if the cluster before is gone then."""
    command, before = site_keys.undo_command(plan), plan.changed.get("cluster", (NONE,))[0]
    return command if command is None or before == NONE else f"{command} --new"


def describe(plan: SetPlan) -> Iterator[str]:
    """Say which values would change, and what a move to another cluster means for files."""
    yield from site_keys.describe(plan)
    if "cluster" in plan.changed:
        yield wording.ONLY_THERE


def change(store: Store, plan: SetPlan, by: Author) -> None:
    """Change the row of the node. Raises Refused for a node in use."""
    entry = NodeEntry(**plan.entry)
    row = registry.named(store, entry.name)
    if "cluster" in plan.changed:
        registry.move(store, row, entry.cluster, now=by.now)
        if why := contact.apart(store, row, json.loads(row.facts or "{}")):
            raise Refused(why)
    site_changes.keep_node(store, entry, applied=bool(row.applied))


ACTION = site_keys.set_action(
    "node",
    help="Change settings of a node.",
    more_help="`none` clears a key. `site apply` of a file with the node restores its values.",
    example="farm02 speed=1.5 cpus=8 memory=16GB",
    options=NodeSetOptions,
    undo=undo,
    describe=describe,
    exit_status="0 done, 2 bad usage, 3 no such node or cluster, 4 in use, so its cluster can't "
    "change",
    key="e",
    title="set: change its CPUs, speed, memory ...",
    plan=plan,
    act=change,
)
