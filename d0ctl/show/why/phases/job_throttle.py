"""The throttle that keeps ready packages of a job or a part of it from starting."""

from d0ctl.model import Phase
from d0ctl.schedule.quota import Throttle
from d0ctl.show.why.common import Explanation, GroupPart
from d0ctl.store.clusters import throttles
from d0ctl.store.connection import Store
from d0ctl.units import count, duration


def add(store: Store, part: GroupPart, explanation: Explanation, now: float) -> None:
    """Add how many ready packages wait for a throttle of the job, if any do."""
    ready, job = part.counts.get(Phase.READY, 0), part.job
    if not ready or job.hold or job.pause:
        return
    allowed = throttles.allowances(store, {}, [job.id], now=now).jobs.get(job.id, ())
    used = [allowance.throttle for allowance in allowed if not allowance.left]
    if used:
        explanation.facts.append(
            f"{count(ready)} ready: throttle `{used[0].name}` allows {_most(used[0])}"
        )
        explanation.commands.append("d0ctl throttle list")


def _most(throttle: Throttle) -> str:
    """Return the limits of a throttle in words."""
    limits = [] if throttle.max_running is None else [count(throttle.max_running)]
    if throttle.launches is not None:
        limits.append(f"{count(throttle.launches)} in {duration(throttle.per_s)}")
    return " and ".join(limits)
