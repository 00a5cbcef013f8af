"""node set: change the settings of a node."""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from d0ctl.actions import site_keys
from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options, arguments
from d0ctl.actions.site_keys import SetPlan
from d0ctl.errors import BadUsage
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.sitefile import nodes as keys
from d0ctl.sitefile.fields import SERVICE
from d0ctl.store.clusters import site_changes, site_comparison
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry


@dataclass(frozen=True, slots=True)
class SetOptions(Options):
    """The settings to change."""

    changes: tuple[str, ...] = arguments(
        "KEY=VALUE...", "A key of a node in the site file, e.g. speed=1.5.",
        log=lambda texts: texts,
    )  # fmt: skip


def plan(store: Store, request: NodeRequest[SetOptions], now: float) -> SetPlan:
    """Plan the changes. Raises NotFound, BadUsage, or Refused for a node in use."""
    row = registry.named(store, request.target.brief)
    before = next(node for node in site_comparison.current(store).nodes if node.name == row["name"])
    texts = site_keys.texts(request, keys.SETTABLE)
    fields = {key: key.replace("-", "_") for key in texts}
    after = replace(before, **{fields[key]: _value(key, text) for key, text in texts.items()})
    if after.cluster != before.cluster:
        registry.check_unused(store, row)
    return site_keys.planned(
        request,
        {key: getattr(before, field) for key, field in fields.items()},
        {key: getattr(after, field) for key, field in fields.items()},
        after,
    )


def _value(key: str, text: str) -> Any:
    """Return the value of a key. Raises BadUsage."""
    if text == site_keys.NONE:
        return () if key in site_keys.LISTS else None
    try:
        if key in site_keys.LISTS:
            return tuple(SERVICE.convert(part) for part in text.split(",") if part)
        return keys.SETTABLE[key].convert(text)
    except BadValueError as error:
        raise BadUsage(f"`{key}`: {error}") from error
    except ValueError as error:
        raise BadUsage(f"`{key}` takes {keys.SETTABLE[key].expected}, not `{text}`") from error


def change(store: Store, plan: SetPlan, by: Author) -> None:
    """Change the row of the node. Raises Refused for a node in use."""
    row = registry.named(store, plan.entry.name)
    if "cluster" in plan.changed:
        registry.move(store, row, plan.entry.cluster, now=by.now)
    site_changes.keep_node(store, plan.entry, applied=bool(row["applied"]))


ACTION = Action(
    name="node set",
    help="Change settings of a node.",
    more_help="`none` clears a key. `site apply` of a file with the node restores its values.",
    example="farm02 speed=1.5 cpus=8 memory=16GB",
    exit_status="0 done, 2 bad usage, 3 no such node, 4 in use, so its cluster can't change",
    past="changed",
    options=SetOptions,
    plan=plan,
    act=change,
    undo=site_keys.undo_set,
    describe=site_keys.describe,
    report=site_keys.report,
    level="node",
    starts_packages=True,
    key="e",
    title="set: change its CPUs, speed, memory ...",
)
