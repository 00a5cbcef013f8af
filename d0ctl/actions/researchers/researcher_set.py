"""researcher set: change the mail or the private clusters of a researcher."""

from dataclasses import dataclass

from d0ctl.actions import site_keys
from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options, arguments
from d0ctl.actions.site_keys import SetPlan
from d0ctl.store.clusters import site_changes, site_comparison
from d0ctl.store.connection import Store
from d0ctl.store.nodes.site import setting

KEYS = ("mail", "clusters")


@dataclass(frozen=True, slots=True)
class SetOptions(Options):
    """The settings to change."""

    changes: tuple[str, ...] = arguments(
        "KEY=VALUE...", "A key of a researcher in the site file, e.g. clusters=farm.",
        log=lambda texts: texts,
    )  # fmt: skip


def plan(store: Store, request: NodeRequest[SetOptions], now: float) -> SetPlan:
    """Plan the changes. Raises BadUsage."""
    name, said = request.target.brief, dict(setting(store, "researchers") or {})
    before, texts = said.get(name, {}), site_keys.texts(request, KEYS)
    rows = site_comparison.known_clusters(store)
    private = {other: {"private": "yes"} for other, row in rows.items() if row["private"]}
    found = site_keys.read({"researchers": {name: site_keys.values(texts)}, "clusters": private})
    kept = {key: value for key, value in before.items() if key not in texts}
    said[name] = {**kept, **found.settings["researchers"][name]}
    return site_keys.planned(
        request,
        {key: before.get(key) for key in texts},
        {key: said[name].get(key) for key in texts},
        said,
    )


def change(store: Store, plan: SetPlan, by: Author) -> None:
    """Record the researchers of the site."""
    site_changes.keep_setting(store, "researchers", plan.entry)
    store.forget()


ACTION = Action(
    name="researcher set",
    help="Change the mail or the private clusters of a researcher.",
    more_help="A new researcher is added. `none` clears a key. The next `site apply` restores the "
    "researchers of the site file.",
    example="emmy mail=emmy@example.org clusters=farm",
    exit_status="0 done, 2 bad usage",
    past="changed",
    options=SetOptions,
    plan=plan,
    act=change,
    undo=site_keys.undo_set,
    describe=site_keys.describe,
    report=site_keys.report,
    level="researcher",
    starts_packages=True,
    title="researcher set: change mail and private clusters",
)
