"""`d0ctl cluster`: nodes that share a cache, their owners, and the files in the cache."""

from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.commands.nodes.check_report import report_cluster
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import print_list
from d0ctl.errors import NotFound
from d0ctl.show import site_lists as lines

if TYPE_CHECKING:
    from d0ctl.cli.schemas import nodes
    from d0ctl.store.clusters.cluster_views import ClusterView

app = group("List, change or check clusters and batch systems.", Actions)


@app.command("list")
def list_clusters(json: options.Json = False) -> None:
    """Show every cluster with its nodes, owners, cache and software."""
    from d0ctl.store.clusters import cluster_views

    found = session.read_all(cluster_views.clusters)
    print_list("clusters", found, _document, lines.cluster, lines.NO_CLUSTERS, json=json)


def _document(cluster: "ClusterView") -> "nodes.Cluster":
    from d0ctl.cli.schemas import nodes
    from d0ctl.cli.schemas.fill import fill

    fault, pilots = cluster.fault, cluster.pilots
    return fill(
        nodes.Cluster,
        cluster,
        cluster=cluster.name,
        platform_description=cluster.describes,
        researchers=list(cluster.researchers) if cluster.private else [],
        fault=None if fault is None else fill(nodes.BatchFault, fault, what=fault.kind),
        pilots=None if pilots is None else [
            fill(nodes.Pilot, pilot, pilot=pilot.id, reason=pilot.reason or None)
            for pilot in pilots
        ],
    )  # fmt: skip


@app.command()
def check(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A batch system of the site file.")],
    wait: Annotated[
        str, typer.Option("--wait", metavar="TIME", help="Longest time in the queue.")
    ] = "5m",
    json: options.Json = False,
) -> None:
    """Submit a short job to a batch system, and report problems there.

    It requests the settings of the site file. It is cancelled at the end, or if it does not begin.
    """
    from d0ctl.nodes.batch.batch_check import check as check_batch
    from d0ctl.show.why.batch.batch_reasons import waits_for
    from d0ctl.store.clusters import pilots
    from d0ctl.store.nodes.site import site_name

    wait_s = options.seconds("--wait", wait)
    with session.reader() as store:
        system = pilots.named(store, name)
        site, home = site_name(store), store.home
    if system is None:
        raise NotFound(lines.no_batch_system(name), hint="d0ctl cluster list")
    findings = check_batch(home, name, system.pilots, site, wait_s, waits_for)
    raise typer.Exit(report_cluster(name, findings, json=json))
