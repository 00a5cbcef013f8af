"""researcher set: change the mail or the private clusters of a researcher."""

from dataclasses import replace
from typing import Any

from d0ctl.actions import site_keys
from d0ctl.actions.action import Author, NodeRequest
from d0ctl.actions.site_keys import SetOptions, SetPlan
from d0ctl.store.clusters import site_changes, site_comparison
from d0ctl.store.connection import Store
from d0ctl.store.nodes.site import setting

KEYS = ("mail", "clusters")


def _researchers(store: Store) -> dict[str, dict[str, Any]]:
    return dict(setting(store, "researchers") or {})


def plan(store: Store, request: NodeRequest[SetOptions], now: float) -> SetPlan:
    """Plan the changes. Raises BadUsage."""
    name = request.target.brief
    rows = site_comparison.known_clusters(store)
    clusters = {other: {"private": "yes" if row.private else "no"} for other, row in rows.items()}

    def read(values: dict[str, Any]) -> dict[str, Any]:
        changed = site_keys.read(researchers={name: values}, clusters=clusters)
        settings: dict[str, Any] = changed.settings["researchers"][name]
        return settings

    known = _researchers(store)
    planned = site_keys.planned(request, KEYS, known.get(name, {}), read)
    remarks = [f"cluster `{other}` is not private, so all may use it: d0ctl cluster set {other} "
               "private=yes" for other in planned.entry.get("clusters") or ()
               if "clusters" in planned.changed and not rows[other].private]  # fmt: skip
    is_new = name not in known and not planned.is_empty
    if is_new:
        remarks.append(f"`site apply` of a site file without `{name}` removes this researcher")
    return replace(planned, remarks=tuple(remarks), is_new=is_new)


def change(store: Store, plan: SetPlan, by: Author) -> None:
    """Record the researchers of the site."""
    entry = {key: value for key, value in plan.entry.items() if value is not None}
    researchers = {**_researchers(store), plan.request.target.brief: entry}
    site_changes.keep_setting(store, "researchers", researchers)
    store.forget()


ACTION = site_keys.set_action(
    "researcher",
    help="Change the mail or the private clusters of a researcher.",
    more_help="A new researcher is added. `none` clears a key. The next `site apply` restores the "
    "researchers of the site file.",
    example="emmy mail=emmy@example.org clusters=farm",
    exit_status="0 done, 2 bad usage",
    title="researcher set: change mail and private clusters",
    plan=plan,
    act=change,
)
