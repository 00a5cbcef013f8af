"""cluster set: change the settings of a cluster."""

from dataclasses import dataclass

from msgspec.structs import replace

from d0ctl.actions import site_keys
from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options, arguments
from d0ctl.actions.site_keys import SetPlan
from d0ctl.errors import NotFound
from d0ctl.sitefile.spec import ClusterEntry
from d0ctl.store.clusters import site_changes, site_comparison
from d0ctl.store.connection import Store

KEYS = ("platform", "services", "private", "capacity", "software-share")


@dataclass(frozen=True, slots=True)
class SetOptions(Options):
    """The settings to change."""

    changes: tuple[str, ...] = arguments(
        "KEY=VALUE...", "A key of a cluster in the site file, e.g. capacity=2TB.",
        log=lambda texts: texts,
    )  # fmt: skip


def plan(store: Store, request: NodeRequest[SetOptions], now: float) -> SetPlan:
    """Plan the changes. Raises NotFound and BadUsage."""
    name = request.target.brief
    if name not in site_comparison.known_clusters(store):
        raise NotFound(f"there is no cluster `{name}`", hint="d0ctl cluster list")
    known = {one.name: one for one in site_comparison.current(store).clusters}
    before = known.get(name, ClusterEntry(name))
    texts = site_keys.texts(request, KEYS)
    (read,) = site_keys.read({"clusters": {name: site_keys.values(texts)}}).clusters
    fields = {key: key.replace("-", "_") for key in texts}
    after = replace(before, **{field: getattr(read, field) for field in fields.values()})
    return site_keys.planned(
        request,
        {key: getattr(before, field) for key, field in fields.items()},
        {key: getattr(after, field) for key, field in fields.items()},
        after,
    )


def change(store: Store, plan: SetPlan, by: Author) -> None:
    """Change the row of the cluster."""
    row = site_comparison.known_clusters(store)[plan.entry.name]
    site_changes.keep_cluster(store, plan.entry, applied=bool(row["applied"]))
    store.forget()


ACTION = Action(
    name="cluster set",
    help="Change the platform, services, privacy or cache of a cluster.",
    more_help="`none` clears a key. `site apply` of a file with the cluster restores its values.",
    example="farm capacity=2TB private=yes",
    exit_status="0 done, 2 bad usage, 3 no such cluster",
    past="changed",
    options=SetOptions,
    plan=plan,
    act=change,
    undo=site_keys.undo_set,
    describe=site_keys.describe,
    report=site_keys.report,
    level="cluster",
    starts_packages=True,
    title="cluster set: change its cache, owners, platform ...",
)
