"""node set: change the settings of a node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import Options, arguments
from d0ctl.errors import BadUsage
from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.sitefile import nodes as keys
from d0ctl.sitefile.fields import SERVICE
from d0ctl.sitefile.spec import NodeEntry
from d0ctl.sitefile.writer import plain_text
from d0ctl.store.clusters import site_changes
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.units import listed

NONE = "none"
"""Stands for no value: the node's own answer counts, or the default."""


@dataclass(frozen=True, slots=True)
class SetOptions(Options):
    """The settings to change."""

    changes: tuple[str, ...] = arguments(
        "KEY=VALUE...", "A key of a node in the site file, e.g. speed=1.5.",
        log=lambda texts: texts,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPlan(Plan):
    """The node before and after."""

    before: NodeEntry
    after: NodeEntry

    @property
    def changed(self) -> Mapping[str, tuple[str, str]]:
        """The old and new value of each key, as people write them."""
        pairs = {key: (_written(key, self.before), _written(key, self.after))
                 for key in keys.SETTABLE}  # fmt: skip
        return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def _written(key: str, entry: NodeEntry) -> str:
    value = getattr(entry, key.replace("-", "_"))
    return NONE if value in (None, ()) else plain_text(key, value)


def plan(store: Store, request: NodeRequest[SetOptions], now: float) -> SetPlan:
    """Plan the changes. Raises NotFound, BadUsage, or Refused for a node in use."""
    row = registry.named(store, request.target.brief)
    before = next(node for node in site_changes.current(store).nodes if node.name == row["name"])
    changes = dict(_change(word, row["name"]) for word in request.options.changes)
    after = replace(before, **changes)
    if after.cluster != before.cluster:
        registry.check_unused(store, row)
    return SetPlan(
        request=request, before=before, after=after, is_empty=bool(changes) and after == before
    )


def _change(word: str, node: str) -> tuple[str, Any]:
    """Return the field and value of a word such as `speed=1.5`. Raises BadUsage."""
    key, equals, text = word.partition("=")
    if key not in keys.SETTABLE or not equals:
        raise BadUsage(
            f"`{word}` is not KEY=VALUE with one of {listed(keys.SETTABLE, 'or')}",
            hint=f"d0ctl node set {node} speed=1.5",
        )
    if text == NONE:
        return key.replace("-", "_"), () if key == "services" else None
    try:
        if key == "services":
            return key, tuple(SERVICE.convert(part) for part in text.split(",") if part)
        return key.replace("-", "_"), keys.SETTABLE[key].convert(text)
    except BadValueError as error:
        raise BadUsage(f"`{key}`: {error}") from error
    except ValueError as error:
        raise BadUsage(f"`{key}` takes {keys.SETTABLE[key].expected}, not `{text}`") from error


def change(store: Store, plan: SetPlan, by: Author) -> None:
    """Change the row of the node. Raises BadUsage for no change, Refused for a node in use."""
    name = plan.request.target.brief
    if not plan.request.options.changes:
        raise BadUsage("say what to set", hint=f"d0ctl node set {name} speed=1.5")
    row = registry.named(store, name)
    if plan.after.cluster != plan.before.cluster:
        registry.move(store, row, plan.after.cluster, now=by.now)
    site_changes.keep_node(store, plan.after, applied=bool(row["applied"]))


def undo_set(plan: SetPlan) -> str | None:
    """Return the command that undoes it."""
    words = [f"{key}={before}" for key, (before, _) in plan.changed.items()]
    return undo.command("node set", [plan.request.target.brief], *words) if words else None


def _said(plan: SetPlan, verb: str) -> str:
    return wording.new_values(verb, plan.changed, plan.request.target.brief, "settings")


def describe(plan: SetPlan) -> Iterator[str]:
    """Say what would change."""
    yield _said(plan, "would change")


def report(plan: SetPlan) -> Iterator[str]:
    """Say what has changed."""
    yield _said(plan, "changed")


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
    undo=undo_set,
    describe=describe,
    report=report,
    level="node",
    starts_packages=True,
    key="e",
    title="set: change its CPUs, speed, memory ...",
)
