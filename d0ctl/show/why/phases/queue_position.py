"""When a ready package will get a slot on the nodes that could take it."""

from collections.abc import Sequence

from d0ctl.model import NodeCapacity
from d0ctl.schedule.resources import Requirement
from d0ctl.show.why.common import MOST, named, usage
from d0ctl.show.why.phases import candidates, shares, throttling
from d0ctl.show.why.subject import Subject
from d0ctl.store.nodes import placement
from d0ctl.store.views import dependencies
from d0ctl.units import count, iso, moment, size


def why_queued(subject: Subject, fits: Sequence[NodeCapacity], requirement: Requirement) -> str:
    """Return why none of the nodes that could take it has done so."""
    package, explanation = subject.package, subject.explanation
    if package.stay:
        return f"it starts on {named(fits)} when its turn comes: it only delivers its outputs"
    if (share := shares.standing(subject)) is not None:
        explanation.facts.append(share)
    lacking = {row.name: why for row in fits if (why := _lacks(row, requirement))}
    allowed = throttling.allowances(subject, fits)
    throttled = {
        row.name: why for row in fits if (why := throttling.of_node(subject, allowed, row))
    }
    lacking |= throttled
    explanation.facts += [f"node `{name}` {why}" for name, why in list(lacking.items())[:MOST]]
    free = [
        row for row in fits if row.cpus - row.used >= requirement.load and row.name not in lacking
    ]
    explanation.facts += [
        usage(subject.store, row, subject.now) for row in fits[:MOST] if row not in free
    ]
    costs = candidates.compare(subject, fits, requirement)
    if not free:
        taken = max((row.taken for row in fits if row.taken is not None), default=None)
        explanation.details["full_since"] = iso(taken)
        since = f" since {moment(taken, subject.now)}" if taken is not None else ""
        if throttled and len(lacking) == len(fits):
            return f"throttles hold it back on {named(fits[:MOST], 'and')}"
        if len(lacking) == len(fits):
            return f"it waits for memory, GPUs or disk on {named(fits[:MOST], 'or')}"
        if len(fits) > MOST:
            return f"no slot is free on any of {len(fits)} nodes{since}"
        return f"no slot is free on {named(fits)}{since}"
    if limit := _limit(subject) or throttling.of_job(subject, allowed):
        return limit
    if first := dependencies.ready_before(subject.store, package.id):
        is_alone = first.is_own or package.priority is not None
        if first.priority < 100:
            target = package.path if is_alone else subject.job.name
            explanation.commands.append(f"d0ctl priority {target} {first.priority + 1}")
        if first.job_id == subject.job.id:
            return f"packages of stage `{first.stage}` of a higher priority come first"
        explanation.commands.append(f"d0ctl why {first.name}")
        return f"job `{first.name}` of a higher priority comes first"
    if better := candidates.later(costs, {row.name for row in free}):
        return better
    return f"it starts on {named(free[:MOST], 'or')} when its turn comes"


def _limit(subject: Subject) -> str | None:
    """Return which `max-running` is reached; None if none is."""
    quota = placement.quota(subject.store)
    row = dependencies.limits_of(subject.store, subject.package.id)
    if quota.stages.get(row["stage_id"], 1) <= 0:
        most = count(row["stage"], "package")
        return f"its stage runs {most} at once, its `max-running`"
    if quota.jobs.get(row["job_id"], 1) <= 0:
        return f"its job runs {count(row['job'], 'package')} at once, its `max-running`"
    return None


def _lacks(row: NodeCapacity, requirement: Requirement) -> str | None:
    """Return which resource of a node is short, memory, GPUs or disk; None if none is."""
    memory, used = row.memory, row.memory_used
    asked = requirement.memory or (requirement.memory_expected if used else None)
    if asked and memory and memory - used < asked:
        verb = "needs" if requirement.memory else "it takes about"
        return f"has {size(max(0, memory - used))} of memory left, {verb} {size(asked)}"
    if (free_gpus := row.gpus - row.gpus_used) < requirement.gpus:
        return f"has {count(free_gpus, 'GPU')} left, needs {requirement.gpus}"
    free, promised = row.disk_free, row.disk_used
    if requirement.space and free is not None and free - promised < requirement.space:
        left = size(max(0, free - promised))
        return f"has {left} of disk left, needs {size(requirement.space)}"
    return None
