"""What keeps ready packages back: `max-running` or throttles that are used up, or other jobs."""

from d0ctl.model import LIVE, Phase
from d0ctl.show.why.causes import throttle_limits
from d0ctl.show.why.common import MOST, Explanation, GroupPart
from d0ctl.show.why.subject import Subject
from d0ctl.store.clusters import throttles
from d0ctl.store.connection import Store
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.site import setting
from d0ctl.store.views import dependencies
from d0ctl.units import count


def add(store: Store, part: GroupPart, explanation: Explanation, now: float) -> None:
    """Add how many ready packages of a job or a part of it wait for packages on nodes to end.

    If no limit keeps them back and none is launched, say why the first one does not run.
    """
    job, known = part.job, len(explanation.facts)
    if job.hold or job.pause:
        return
    left, ready = placement.quota(store), part.counts.get(Phase.READY, 0)
    full = [(job.name, "job", job.id, job.max_running, ready)]
    if left.jobs.get(job.id, 1) > 0:
        is_whole = part.path == job.name
        full = [(path, "stage", row["id"], row["max_running"], row["n"] if is_whole else ready)
                for row in dependencies.limited_stages_of(store, job.id)
                if left.stages.get(row["id"], 1) <= 0
                and (is_whole or f"{part.path}/".startswith(f"{job.name}/{row['seq']}/"))
                for path in (f"{job.name}/{row['seq']}",)]  # fmt: skip
    for path, kind, id, most, number in full[:MOST]:
        text = f"{kind} `{path}` {_runs(store, kind, id, most or 0)}"
        explanation.facts.append(f"{count(number)} ready: {text}")
        explanation.commands.append(_lift(path))
    if setting(store, "throttles"):
        throttle_limits.add(store, part, explanation, now)
    if len(explanation.facts) == known and not any(map(part.counts.get, LIVE)):
        for row in part.sample([Phase.READY], 1):
            first = part.explain(row.path)
            explanation.facts.append(f"{count(ready)} ready: {first.answer}")
            explanation.take(first)


def of_package(subject: Subject) -> str | None:
    """Return which `max-running` keeps a package from starting, with its command; None if none."""
    left, path = placement.quota(subject.store), subject.package.path
    row = dependencies.limits_of(subject.store, subject.package.id)
    if left.stages.get(row["stage_id"], 1) <= 0:
        kind, target, most = "stage", "/".join(path.split("/")[:2]), row["stage"]
    elif left.jobs.get(row["job_id"], 1) <= 0:
        kind, target, most = "job", subject.job.name, row["job"]
    else:
        return None
    subject.command(_lift(target))
    return f"its {kind} {_runs(subject.store, kind, row[f'{kind}_id'], most)}"


def _runs(store: Store, kind: str, id: int, most: int) -> str:
    """Say that a job or stage has as many packages on nodes as it may."""
    idle = [of for of in throttles.idle_packages(store) if getattr(of, f"{kind}_id") == id]
    which = throttle_limits.in_brackets(idle)
    return f"runs {count(most, 'package')} at once, its `max-running`{which}"


def _lift(path: str) -> str:
    """Return the command that removes the `max-running` of a job or stage."""
    return f"d0ctl limit {path} --max-running none"
