"""The limits by throttles for nodes, researchers and jobs, and how they are changed."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from d0ctl.schedule import quota
from d0ctl.schedule.quota import Allowance, Allowances, Throttle
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import owner_of
from d0ctl.store.nodes.site import setting, throttle_rules
from d0ctl.store.rows import make


def allowances(
    store: Store,
    nodes: Mapping[int, str],
    jobs: Sequence[int],
    *,
    now: float,
    on_node: Mapping[int, int] | None = None,
) -> Allowances:
    """Return what the throttles still allow some nodes, by id and name, and some jobs.

    `on_node` is how many packages run on each node; without it, they are counted.
    """
    known = throttle_rules(store)
    if not known:
        return Allowances()
    launched = {
        (row["throttle"], row["name"]): int(row["n"])
        for throttle in known
        if throttle.launches is not None
        for row in store.rows("launch_counts", throttle=throttle.name, since=now - throttle.per_s)
    }

    def counted(throttle: Throttle, name: str) -> int:
        return launched.get((throttle.name, name), 0)

    if on_node is None:
        on_node = {row["node_id"]: row["n"] for row in store.rows("running_on_nodes")}
    of_job, of_researcher = Counter[int](), Counter[str]()
    said = setting(store, "researchers") or {}
    for row in store.rows("running_of_jobs"):
        of_job[row["job_id"]] = row["n"]
        of_researcher[owner_of(row["originator"], said)] += row["n"]
    limits = Allowances({
        node: of_node
        for node, name in nodes.items()
        if (of_node := quota.allowances_of(known, "node", name, on_node.get(node, 0), counted))
    })  # fmt: skip
    shared: dict[str, list[Allowance]] = {}
    for row in store.rows("originators_of_jobs", jobs=json.dumps(sorted(set(jobs)))):
        who = owner_of(row["originator"], said)
        if who not in shared:
            shared[who] = quota.allowances_of(known, "researcher", who, of_researcher[who], counted)
        own = quota.allowances_of(known, "job", row["name"], of_job[row["id"]], counted)
        if own or shared[who]:
            limits.jobs[row["id"]] = (*own, *shared[who])
    return limits


def count(store: Store, used: Allowances, *, now: float) -> None:
    """Count the packages that were sent to nodes, for the throttles that limit launches."""
    for allowance in used.spent():
        step = allowance.throttle.step_s
        store.change(
            "count_launches", throttle=allowance.throttle.name, name=allowance.name,
            at=now // step * step, n=allowance.taken,
        )  # fmt: skip
        store.change("forget_launches", throttle=allowance.throttle.name, name=allowance.name,
                     before=now - allowance.throttle.per_s)  # fmt: skip


def next_launch(store: Store, allowance: Allowance, *, now: float) -> float:
    """Return in how many seconds a throttle that limits launches allows the next."""
    since = now - allowance.throttle.per_s
    first = store.value(
        "first_launch", throttle=allowance.throttle.name, name=allowance.name, since=since
    )
    return 0.0 if first is None else max(0.0, float(first) - since)


class IdlePackages(Struct, frozen=True):
    """How many packages of a stage are on a node in this phase and do not run."""

    job_id: int
    job: str
    originator: str
    stage_id: int
    node: str
    phase: str
    n: int


def idle_packages(store: Store) -> list[IdlePackages]:
    """Return how many packages on nodes do not run, by stage, node and phase."""
    return [make(IdlePackages, row) for row in store.rows("idle_on_nodes")]


def idle_of(store: Store, allowance: Allowance) -> list[IdlePackages]:
    """Return the same of the packages that a throttle counts for one node, researcher or job."""
    said = setting(store, "researchers") or {}
    return [idle for idle in idle_packages(store) if allowance.name == {
        "node": idle.node, "job": idle.job,
        "researcher": owner_of(idle.originator, said)}[allowance.throttle.kind]]  # fmt: skip


def change(store: Store, name: str, keys: Mapping[str, Any]) -> None:
    """Put a throttle in force, or without keys remove it; the next pass follows it."""
    throttles = dict(setting(store, "throttles") or {})
    if keys:
        throttles[name] = dict(keys)
    else:
        throttles.pop(name, None)
    if throttles:
        store.change("keep_setting", name="throttles", value=json.dumps(throttles))
    else:
        store.change("remove_setting", name="throttles")
    store.forget()


def in_use(store: Store, nodes: Mapping[int, str], *, now: float) -> list[Allowance]:
    """Return how much of each throttle is in use, by everything that runs or has started."""
    jobs = [row["job_id"] for row in store.rows("running_of_jobs")]
    limits = allowances(store, nodes, jobs, now=now)
    seen = {
        id(allowance): allowance
        for of_one in (*limits.nodes.values(), *limits.jobs.values())
        for allowance in of_one
        if allowance.running or allowance.launched
    }
    return list(seen.values())
