"""The input of the scheduler, and the rows of its decisions."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from d0ctl.jobfile.local_files import size_of
from d0ctl.schedule.costs import Links, queued
from d0ctl.schedule.node_capacity import Busy
from d0ctl.schedule.quota import Quota
from d0ctl.schedule.resources import AHEAD_S, InputCopies, NodeRoom, Requirement, Soon
from d0ctl.store import lifecycle, stage_order
from d0ctl.store.connection import Row, Selection, Store, as_json
from d0ctl.store.due_times import left_s
from d0ctl.store.files import links as link_rates
from d0ctl.store.files.copies import PARKED
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of, room_of

if TYPE_CHECKING:
    from d0ctl.schedule.choice import Decision, NodeChoice
    from d0ctl.schedule.node_state import NodeState

LEAST_BROUGHT = 1_000_000
"""With fewer bytes of inputs, a package is not kept from a full cache: it may need only a script to
read the files there, which are removed after it.
"""

SAME_CHOICE_S = 600.0
"""For this time later packages with a requirement share the row of a node and a rule."""


def nodes(store: Store, *, now: float = 0.0) -> list[NodeRoom]:
    """Return the nodes that may take packages; with the time also those to try with one package."""
    return [room_of(row) for row in store.rows("schedulable_nodes", now=now, short=AHEAD_S)]


def coming_soon(store: Store, soon: Sequence[Soon], *, now: float) -> list[Soon]:
    """Return those for which CPUs are still kept: the inputs of the others have come, or did not
    come in time.
    """
    timely = [other for other in soon if other.until > now]
    ids = json.dumps([other.package for other in timely])
    coming = {row["id"] for row in store.rows("coming_soon", packages=ids)} if timely else ()
    return [other for other in timely if other.package in coming]


def ready(store: Store) -> int:
    """Return how many packages are ready and do not wait for nodes that are down."""
    number: int = store.value("count_ready")
    return number


def requirements(store: Store, job: int | None = None) -> list[Requirement]:
    """Return requirements with ready packages, the most urgent first; of one job, or of all."""
    rows = store.rows("ready_requirements", job=job)
    catalogue = Catalogue(store)
    return [requirement_of(row, catalogue) for row in rows]


def busy(store: Store, *, now: float) -> dict[int, list[Busy]]:
    """Return the packages on each node, and how long they may still take; read while deciding."""
    found: dict[int, list[Busy]] = {}
    for row in store.rows("busy_slots", now=now):
        left = left_s(row, now) * row["cpu"] / 100
        after = row["rank"] - (row["seconds"] or 0.0)
        is_guess = row["seconds"] is None and row["eta"] is None
        package = Busy(row["cpus"], left, bool(row["queued"]), row["job_id"], after, is_guess)
        found.setdefault(row["node_id"], []).append(package)
    return found


def suspended_on(store: Store, nodes: Collection[int]) -> list[Row]:
    """Return the packages on nodes that a person suspended, by job, the most first."""
    return store.rows("suspended_on", nodes=as_json(nodes))


def queued_behind(
    store: Store, job: int, part: int | Selection | None, nodes: Sequence["NodeState"]
) -> int:
    """Count packages of a job, of one of its stages, or of selected ones, that are queued on nodes
    and don't begin: they were asked to pause, or those that a person suspended leave too few CPUs.
    """
    left = {node.room.id: node.room.cpus - node.suspended for node in nodes if node.suspended}
    if isinstance(part, Selection):
        (row,) = part.rows("queued_behind_selected", left=json.dumps(left))
        return int(row["n"])
    return int(store.value("queued_behind", job=job, stage=part, left=json.dumps(left)))


def links(store: Store) -> Links:
    """Return how fast files came to each cluster recently, and the bytes in transit to it."""
    waiting = {
        (row["source_id"], row["cluster_id"]): (row["bytes"], row["files"])
        for row in store.rows("transfer_backlog")
    }
    speeds = link_rates.speeds(store)
    rates = {ends: rate for ends, (rate, _) in speeds.items()}
    file_times = {ends: file_s for ends, (_, file_s) in speeds.items()}
    return queued(Links(rates=rates, file_times=file_times), waiting)


def places_of(store: Store, package: int) -> tuple[Mapping[int, int], InputCopies]:
    """Return the bytes of a package's inputs in each cluster, and their number."""
    places, files = Counter[int](), Counter[int]()
    for row in store.rows("package_places", package=package):
        places[row["cluster_id"]] += row["bytes"] or 0
        files[row["cluster_id"]] += row["files"]
    return places, InputCopies(files.pop(0, 0), files)


def quota(store: Store) -> Quota:
    """Return how many more packages of stages and jobs with `max-running` may start."""
    return Quota(
        {row["id"]: row["left"] for row in store.rows("limited_stages")},
        {row["id"]: row["left"] for row in store.rows("limited_jobs")},
    )


def oldest(store: Store, requirement: int, limit: int) -> list[int]:
    """Return the oldest ready packages with a requirement."""
    return [row[0] for row in store.rows("ready_packages", requirement=requirement, limit=limit)]


def local_bytes(store: Store, packages: Sequence[int]) -> Mapping[int, Mapping[int, int]]:
    """Return for each package how many bytes of its inputs are in which cluster."""
    store.empty("decision")
    store.change_many("decide", ((package, 0) for package in packages))
    places: dict[int, dict[int, int]] = {}
    for row in store.rows("local_bytes"):
        places.setdefault(row["package_id"], {})[row["cluster_id"]] = row["bytes"]
    return places


def waiting_open(store: Store, requirement: int, limit: int) -> list[int]:
    """Return the oldest ready packages with a requirement that start while they wait for inputs."""
    return [row[0] for row in store.rows("open_packages", requirement=requirement, limit=limit)]


def input_copies(store: Store, packages: Sequence[int]) -> Mapping[int, InputCopies]:
    """Return for each package how many of its inputs would have to be copied to which cluster."""
    store.empty("decision")
    store.change_many("decide", ((package, 0) for package in packages))
    counted: dict[int, Counter[int]] = {package: Counter() for package in packages}
    for row in store.rows("brought_files"):
        counted[row["package_id"]][row["cluster_id"]] += row["files"]
    absent = absent_inputs(store, packages)
    return {
        package: InputCopies(there.pop(0, 0), there, absent.get(package, {}))
        for package, there in counted.items()
    }


def absent_inputs(
    store: Store, packages: Sequence[int]
) -> Mapping[int, Mapping[int, Mapping[int, int]]]:
    """Return the inputs of known size that packages need in each cluster with a capacity.

    They are the sizes by package, cluster and file; without those of packages that need less than
    LEAST_BROUGHT. Files of this machine are as large as they are now; a directory has no known
    size.
    """
    found: dict[int, dict[int, dict[int, int]]] = {}
    sizes: dict[int, int] = {}
    for row in store.rows("absent_inputs", packages=as_json(packages)):
        if (file := row["file_id"]) not in sizes:
            sizes[file] = (row["size"] if row["path"] is None else _size_of(row["path"])) or 0
        if sizes[file]:
            of_package = found.setdefault(row["package_id"], {})
            of_package.setdefault(row["cluster_id"], {})[file] = sizes[file]
    return {
        package: {cluster: files for cluster, files in of_package.items()
                  if sum(files.values()) >= LEAST_BROUGHT}
        for package, of_package in found.items()
    }  # fmt: skip


def _size_of(path: str) -> int | None:
    return None if path.endswith("/") else size_of(path)


def assign(store: Store, decisions: "Sequence[Decision]", *, now: float) -> int:
    """ready -> assigned, with a transfer for every input that the node's cluster lacks."""
    choices = keep_choices(store, {decision.why for decision in decisions if decision.why}, now=now)
    store.empty("decision")
    store.change_many(
        "decide_with_reason",
        ((decision.package, decision.node, choices.get(decision.why)) for decision in decisions),
    )
    assigned = store.change("assign_packages", now=now)
    starts = [
        (now + decision.start_s, decision.package) for decision in decisions if decision.start_s
    ]
    if starts:
        store.change_many("plan_start", starts)
    store.change("mark_canaries")
    store.change("want_inputs", now=now, parked=PARKED)
    store.change("count_staging")
    return assigned


def keep_choices(
    store: Store, choices: "Collection[NodeChoice]", *, now: float
) -> "Mapping[NodeChoice | None, int]":
    """Return the row of each choice, in a transaction."""
    return {choice: _keep_choice(store, choice, now) for choice in choices}


def _keep_choice(store: Store, choice: "NodeChoice", now: float) -> int:
    found = store.value("recent_choice", requirement=choice.requirement, node=choice.node,
                        rule=choice.rule, fits=choice.fits, after=now - SAME_CHOICE_S)  # fmt: skip
    return int(store.value("keep_choice", now=now, **asdict(choice)) if found is None else found)


def advance(store: Store, *, now: float) -> None:
    """waiting, cooloff, held -> ready, for all whose time has come."""
    store.change("end_cooloff", now=now)
    store.change("release_in_time", now=now)
    store.change("release_packages", now=now)
    store.change("reopen_ready")
    lifecycle.reopen_readers(store)


def end_jobs(store: Store, *, now: float) -> list[str]:
    """Record which jobs can't move any more without a person; return their names.

    First begin stages that come after others, and final stages of jobs that would end.
    """
    stage_order.open_stages(store, now=now)
    ended = []
    for row in store.rows("still_jobs"):
        waits = store.row("waits_for_outside", job=row["id"])
        if not (waits or stage_order.jobs_with_open_lines(store, row["id"])):
            if stage_order.open_final(store, row["id"], now=now):
                continue
            store.change("end_job", job=row["id"], now=now)
            ended.append(row["name"])
    return ended
