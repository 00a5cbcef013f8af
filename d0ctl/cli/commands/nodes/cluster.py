"""`d0ctl cluster`: nodes that share a cache, whose they are, and what lies there."""

from typing import TYPE_CHECKING

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit, emit_json, table
from d0ctl.show import site_lists as lines
from d0ctl.units import iso

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site
    from d0ctl.store.clusters.cluster_views import ClusterView

app = group("Nodes that share a cache: list.")


@app.command("list")
def list_clusters(json: options.Json = False) -> None:
    """Show every cluster with its nodes, owners, cache and software."""
    from d0ctl.store.clusters import cluster_views

    found: list[ClusterView] = []
    if session.has_home():
        with session.reader() as store, store.reading():
            found = cluster_views.clusters(store)
    if json:
        emit_json({"clusters": [_document(one) for one in found]})
    elif found:
        table([lines.cluster(one) for one in found])
    else:
        emit(lines.NO_CLUSTERS)


def _document(one: "ClusterView") -> "site.Cluster":
    return {
        "cluster": one.name, "platform": one.platform, "nodes": list(one.nodes),
        "private": one.private, "researchers": list(one.researchers) if one.private else [],
        "capacity": one.capacity, "software_share": one.software_share, "cached": one.cached,
        "software": list(one.software),
        "pilots": None if one.pilots is None else [
            {"pilot": pilot.id, "job": pilot.job, "state": pilot.state,
             "reason": pilot.reason or None, "node": pilot.node, "ends": iso(pilot.ends)}
            for pilot in one.pilots
        ],
    }  # fmt: skip
