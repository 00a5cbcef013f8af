"""When a ready package will get a slot on the nodes that could take it."""

from collections.abc import Collection, Mapping, Sequence

from d0ctl.model import NodeCapacity
from d0ctl.schedule.choice import costs
from d0ctl.schedule.costs import Cost
from d0ctl.schedule.node_capacity import has_space
from d0ctl.schedule.place import WORTH
from d0ctl.schedule.quota import Allowance, Allowances
from d0ctl.schedule.resources import Requirement
from d0ctl.show.why import more_space
from d0ctl.show.why.causes import running_limits, throttle_limits
from d0ctl.show.why.common import MOST, named, speed, usage
from d0ctl.show.why.stopped_job import resume_suspended, stay_suspended
from d0ctl.show.why.subject import Subject
from d0ctl.store.attempts.history import share_usage
from d0ctl.store.clusters import throttles
from d0ctl.store.jobs import pause
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.catalogue import room_of
from d0ctl.store.nodes.site import default
from d0ctl.store.nodes.standstill import node_views
from d0ctl.store.views import dependencies
from d0ctl.store.views.dependencies import LongerChains, ReadyBefore
from d0ctl.units import count, duration, listed


def why_queued(subject: Subject, fits: Sequence[NodeCapacity], requirement: Requirement) -> str:
    """Return why none of the nodes that could take it has done so."""
    package, explanation = subject.package, subject.explanation
    if package.stay:
        return f"it starts on {named(fits)} when its turn comes: it only delivers its outputs"
    if (share := standing(subject)) is not None:
        explanation.facts.append(share)
    has_disk = any(has_space(requirement, row.disk_spare, row.disk_short) for row in fits)
    absent = placement.absent_inputs(subject.store, [package.id]).get(package.id, {})
    lacks = {row.name: lack for row in fits
             if (lack := more_space.lack(row, requirement, is_last_resort=not has_disk)
                 or more_space.lack_of_inputs(row, absent.get(row.cluster, {})))}  # fmt: skip
    lacking = {name: lack.text for name, lack in lacks.items()}
    allowed = allowances(subject, fits)
    has_slot = {row.name for row in fits if row.cpus - row.used >= requirement.load}
    at_limit = {row.name: used for row in fits if row.name in has_slot
                if (used := throttle_limits.spent(allowed.nodes.get(row.id, ())))}  # fmt: skip
    lacking |= {name: throttle_limits.on_node(subject.store, used, subject.now)
                for name, used in at_limit.items()}  # fmt: skip
    explanation.facts += [f"node `{name}` {why}" for name, why in list(lacking.items())[:MOST]]
    free = [row for row in fits if row.name in has_slot and row.name not in lacking]
    explanation.facts += [usage(subject.store, row) for row in fits[:MOST] if row not in free]
    if not free and suspended_on(
        subject, [row.id for row in fits]
    ):  # nobody knows when their CPUs are free
        explanation.details["is_no_node_free"] = True
        names = {row.name for row in fits}
        if not any(view.name in names and view.node.leaves(requirement)
                   for view in node_views(subject.store, now=subject.now)):  # fmt: skip
            explanation.details["stays_full"] = True
        return _none_free(subject, fits, lacks, at_limit)
    if chains := dependencies.longer_chains_before(subject.store, package.id):
        explanation.facts.append(_longer(chains))
    short = [row for row in fits if row.name in lacks and lacks[row.name].missing]
    missing = {row.id: lacks[row.name].missing for row in short}
    is_short = len(short) == len(fits)
    if stays_full := is_short and more_space.stays_short(subject.store, short, missing):
        explanation.details["stays_full"] = True
    costs = {} if stays_full else compare(subject, fits, requirement)
    first = dependencies.ready_before(subject.store, package.id)
    if limit := running_limits.of_package(subject) or of_job(subject, allowed):
        if number := pause.left_suspended(subject.store).get(subject.job.name):
            explanation.facts.append(stay_suspended(subject.job.name, number))
            explanation.commands.append(resume_suspended(subject.job.name))
        return limit
    if not free:
        explanation.details["is_no_node_free"] = True
        if share is None:  # shares may let packages of a younger job start first
            first = first or dependencies.ready_before(subject.store, package.id, older=True)
        if first and first.job_id != subject.job.id:
            explanation.facts.append(_other_job(subject, first))
        return _none_free(subject, fits, lacks, at_limit)
    if first:
        is_alone = first.is_own or package.priority is not None
        if first.priority < 100:
            target = package.path if is_alone else subject.job.name
            explanation.commands.append(f"d0ctl priority {target} {first.priority + 1}")
        if first.job_id == subject.job.id:
            return f"packages of stage `{first.stage}` of a higher priority come first"
        explanation.commands.append(f"d0ctl why {first.name}")
        return f"job `{first.name}` of a higher priority comes first"
    if better := later(costs, {row.name for row in free}):
        return better
    return f"it starts on {named(free[:MOST], 'or')} when its turn comes"


def _other_job(subject: Subject, first: ReadyBefore) -> str:
    """Say which other job comes first, for its priority or its age."""
    package, job = subject.package, subject.job
    own = job.priority if package.priority is None else package.priority
    why = (f"its priority is {first.priority}" if first.priority > own
           else f"it is older, and of the same priority, {own}")  # fmt: skip
    return f"packages of job `{first.name}` are ready, too, and come first: {why}"


def _longer(chains: LongerChains) -> str:
    """Say how many packages come first for their longer chains."""
    ahead = f"{count(chains.n, 'ready package')} of its job, such as of stage `{chains.stage}`"
    if chains.n == 1:
        return f"{ahead}, comes first: a longer chain begins with it"
    return f"{ahead}, come first: longer chains begin with them"


def suspended_on(subject: Subject, nodes: Sequence[int]) -> bool:
    """Name packages that keep CPUs of full nodes as a person suspended them; False if none do."""
    rows = placement.suspended_on(subject.store, nodes)
    for row in rows[:MOST]:
        packages = count(row["n"], "package")
        are, keep = ("is", "keeps its") if row["n"] == 1 else ("are", "keep their")
        subject.fact(f"{packages} of `{row['job']}` {are} suspended there and {keep} CPUs until "
                     f"resumed or killed, e.g. `{row['first']}`")  # fmt: skip
        subject.command(f"d0ctl resume {row['job'] if row['pause'] else row['first']}")
        if row["pause"]:
            subject.command(f"d0ctl resume '{row['job']}:suspended'   # only these")
    return bool(rows)


def _none_free(
    subject: Subject, fits: Sequence[NodeCapacity], lacks: Mapping[str, more_space.Lack],
    at_limit: Mapping[str, Allowance],
) -> str:  # fmt: skip
    """Say that the nodes are full, are throttled, or lack something else."""
    throttles = {used.throttle.name: used.throttle for used in at_limit.values()}
    for throttle in list(throttles.values())[:MOST]:
        throttle_limits.add_commands(subject.explanation, throttle)
    full = [row for row in fits if row.name not in lacks and row.name not in at_limit]
    held = [row for row in fits if row.name in at_limit]
    texts = []
    if full:
        where = f"any of {len(full)} nodes" if len(full) > MOST else named(full)
        texts.append(f"no slot is free on {where}")
    if held:
        texts.append(f"throttles hold it back on {named(held[:MOST], 'and')}")
    if short := [row for row in fits if row.name in lacks and row.name not in at_limit]:
        missing = {row.id: lacks[row.name].missing for row in short}
        commands = more_space.commands(subject.store, short, missing, subject.package.id)
        subject.explanation.commands += commands
        resources = listed(dict.fromkeys(lacks[row.name].resource for row in short), "or")
        texts.append(f"it waits for {resources} on {named(short[:MOST], 'or')}")
    return listed(texts)


def standing(subject: Subject) -> str | None:
    """Say how many CPUs its group has and should have; None if the site has no shares."""
    store, job = subject.store, subject.job
    fair = share_usage.standing(store, placement.nodes(store), now=subject.now)
    group = None if fair is None else fair.groups.get(fair.paths.get(job.id, ""))
    if group is None:
        return None
    if not group.path:
        return (
            f"jobs without a share have {group.has:g} CPUs, and the shares leave "
            f"{group.target:.1f} for them"
        )
    half = duration(float(default(store, "share-half-life")))
    return (
        f"share `{group.path}` has {group.has:g} of {group.target:.1f} CPUs of its share; its "
        f"recent use is {duration(group.used)} of run time x CPUs (half of that is forgotten "
        f"every {half})"
    )


def allowances(subject: Subject, rows: Sequence[NodeCapacity]) -> Allowances:
    """Return the limits of throttles for some nodes, and for the job of a package."""
    nodes = {row.id: row.name for row in rows}
    return throttles.allowances(subject.store, nodes, [subject.job.id], now=subject.now)


def of_job(subject: Subject, allowed: Allowances) -> str | None:
    """Return the throttle that keeps packages of the job from starting now; None if none."""
    allowance = throttle_limits.spent(allowed.jobs.get(subject.job.id, ()))
    if allowance is None:
        return None
    subject.explanation.details["throttle"] = allowance.throttle.name
    wait = throttle_limits.next_launch(subject.store, allowance, subject.now)
    subject.explanation.details["next_launch"] = wait
    throttle_limits.add_commands(subject.explanation, allowance.throttle)
    whose = "its job" if allowance.throttle.kind == "job" else f"researcher `{allowance.name}`"
    reached = throttle_limits.reached(subject.store, allowance, subject.now)
    return f"{whose} starts no more packages now: {reached}"


def compare(
    subject: Subject, rows: Sequence[NodeCapacity], requirement: Requirement
) -> dict[str, Cost]:
    """Return the cost on each node, the lowest first; add a fact for each of the first.

    Adds nothing if no run time is known and no inputs have to be copied.
    """
    places, files = placement.places_of(subject.store, subject.package.id)
    busy = placement.busy(subject.store, now=subject.now)
    node_costs = costs(
        requirement, [room_of(row) for row in rows], busy, placement.links(subject.store),
        places, files if requirement.fetches else None,
    )  # fmt: skip
    if not any(cost.transfer_s or cost.run_s for cost in node_costs.values()):
        return {}
    subject.explanation.details["candidates"] = [
        {"node": name, "transfer": round(cost.transfer_s, 3), "wait": round(cost.wait_s, 3),
         "rate": cost.rate and round(cost.rate), "per_file": round(cost.file_s, 3),
         "run": cost.run_s and round(cost.run_s, 3), "end": round(cost.end_s, 3)}
        for name, cost in node_costs.items()
    ]  # fmt: skip
    guesses = {row.name for row in rows if any(each.is_guess for each in busy.get(row.id, ()))}
    subject.explanation.facts += [_fact(name, node_costs[name], is_guess=name in guesses)
                                  for name in list(node_costs)[:MOST]]  # fmt: skip
    return node_costs


def later(node_costs: dict[str, Cost], free: Collection[str]) -> str | None:
    """Say that the package waits for a busy node on which it ends earlier than on a free one."""
    best = next(iter(node_costs), None)
    now = next((name for name in node_costs if name in free), None)
    if best is None or now is None or best in free:
        return None
    here, there = node_costs[now], node_costs[best]
    if there.end_s >= here.end_s - WORTH * (here.run_s or 0.0):
        return None
    return (
        f"it waits for `{best}`, where it would end in {duration(there.end_s)}, "
        f"on `{now}` only in {duration(here.end_s)}"
    )


def _fact(name: str, cost: Cost, *, is_guess: bool) -> str:
    """Say what a node costs; the time until it has free CPUs may be a guess."""
    by = "" if cost.rate is None else f" at {speed(cost.rate, cost.file_s)}"
    parts = [f"{duration(cost.transfer_s)} for its inputs{by}"] if cost.transfer_s else []
    if cost.wait_s:
        free = (
            "once packages of unknown run time end" if is_guess else f"in {duration(cost.wait_s)}"
        )
        parts.append(f"CPUs free {free}")
    if cost.run_s is not None:
        parts.append(f"{duration(cost.run_s)} to run")
    if cost.run_s is None or (cost.wait_s and is_guess):
        return f"on `{name}`: {', '.join(parts) or 'inputs and CPUs are there'}"
    return (
        f"on `{name}`, if it were next, it would end in {duration(cost.end_s)}: {', '.join(parts)}"
    )
