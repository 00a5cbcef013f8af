"""cluster set: change the settings of a cluster."""

from msgspec.structs import asdict

from d0ctl.actions import site_keys, undo
from d0ctl.actions.action import Author, NodeRequest
from d0ctl.actions.site_keys import SetOptions, SetPlan
from d0ctl.sitefile.spec import ClusterEntry
from d0ctl.store.clusters import capacity, site_changes, site_comparison
from d0ctl.store.connection import Store

KEYS = ("platform", "services", "private", "capacity", "software-share")


def plan(store: Store, request: NodeRequest[SetOptions], now: float) -> SetPlan:
    """Plan the changes. Raises NotFound and BadUsage."""
    name = site_comparison.cluster_named(store, request.target.brief)
    clusters = site_comparison.known_clusters(store)
    if name not in clusters:
        way = undo.command("node set", ["NODE", f"cluster={name}"], "--new")
        raise site_keys.no_cluster(store, name, "", f"{way}   # makes it, for a node")
    known = {cluster.name: cluster for cluster in site_comparison.current(store).clusters}
    return site_keys.planned(
        request,
        KEYS,
        asdict(known.get(name, ClusterEntry(name))),
        lambda values: asdict(site_keys.read(clusters={name: values}).clusters[0]),
    )


def change(store: Store, plan: SetPlan, by: Author) -> None:
    """Change the row of the cluster."""
    entry = ClusterEntry(**plan.entry)
    row = site_comparison.known_clusters(store)[entry.name]
    site_changes.keep_cluster(store, entry, applied=bool(row.applied))
    if entry.capacity is not None:
        capacity.count(store)
    store.forget()


ACTION = site_keys.set_action(
    "cluster",
    help="Change the platform, services, privacy or cache of a cluster.",
    more_help="`none` clears a key. `site apply` of a file with the cluster restores its values.",
    example="farm capacity=2TB private=yes",
    exit_status="0 done, 2 bad usage, 3 no such cluster",
    title="cluster set: change its cache, owners, platform ...",
    plan=plan,
    act=change,
)
