"""The names of the site that a job file may use."""

from collections.abc import Sequence

from d0ctl.jobfile.site_names import KnownNames, OtherFile, OtherStage
from d0ctl.sitefile.transfer import stores
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.site import setting
from d0ctl.store.views import browse
from d0ctl.store.views.job_files import archived_files


def known_names(store: Store, job: int | None = None) -> KnownNames:
    """Return the nodes, the software, the site's commands and the files of jobs.

    `job` is the one whose job file is read again, so that its late outputs may be known, and
    dropped files that it reads are still listed.
    """
    nodes = store.rows("node_names")
    return KnownNames(
        nodes=dict.fromkeys(row["name"] for row in nodes),
        clusters=_clusters(store, nodes),
        software=Catalogue(store).titles(),
        transfer=setting(store, "transfer") or {},
        stores={
            name: stores.commands(entry) for name, entry in (setting(store, "stores") or {}).items()
        },
        merge=setting(store, "merge"),
        produced=lambda job, name: browse.produces(store, job, name),
        stage_of=lambda other, stage: _stage(store, other, stage, job),
        archived=archived_files.lookup(store),
        cached=lambda node, unread: [
            OtherFile(f"{row['job']}:{row['name']}", row["size"])
            for row in store.rows("cached_files", node=node, unread=int(unread))
        ],
        outputs_of=lambda task: _outputs(store, task),
        late={} if job is None else _late(store, job),
    )


def _clusters(store: Store, nodes: Sequence[Row]) -> dict[str, list[str]]:
    """Return the nodes of each cluster; pilots come and go, so their batch system names them."""
    found: dict[str, list[str]] = {}
    for row in nodes:
        found.setdefault(row["cluster"], []).append(row["name"])
    return found | {row["name"]: [row["name"]] for row in store.rows("clusters_of_pilots")}


def _late(store: Store, job: int) -> dict[str, list[OtherFile]]:
    """Return the files of the late outputs of a job that are known, by their patterns."""
    found: dict[str, list[OtherFile]] = {}
    for row in store.rows("known_late_outputs", job=job):
        files = found.setdefault(row["pattern"], [])
        if row["name"] is not None:
            files.append(OtherFile(row["name"], row["size"]))
    return found


def _outputs(store: Store, task: str) -> list[str] | None:
    """Return the output datasets of a task."""
    return [row["name"] for row in store.rows("output_datasets_of", task=task)] or None


def _stage(store: Store, job: str, stage: str, reader: int | None) -> OtherStage | None:
    """Return the outputs of a stage that it does not read itself; `reader` is the job that asks."""
    if not browse.has_job(store, job):
        return None
    rows = store.rows("stages_named", job=job)
    number = next((row["id"] for row in rows if stage in (row["name"], str(row["seq"]))), None)
    files = [
        OtherFile(f"{job}:{row['name']}", row["size"], bool(row["late"]), bool(row["is_new"]))
        for row in (() if number is None else store.rows("stage_outputs", stage=number, job=reader))
    ]
    return OtherStage([row["name"] for row in rows], None if number is None else files)
