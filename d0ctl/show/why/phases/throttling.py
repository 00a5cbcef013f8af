"""Which throttles of the site hold a ready package back."""

from collections.abc import Sequence

from d0ctl.model import NodeCapacity
from d0ctl.schedule.quota import Allowance, Allowances
from d0ctl.show.why.subject import Subject
from d0ctl.store.clusters import throttles
from d0ctl.units import count, duration


def allowances(subject: Subject, rows: Sequence[NodeCapacity]) -> Allowances:
    """Return the limits of throttles for some nodes, and for the job of a package."""
    nodes = {row.id: row.name for row in rows}
    return throttles.allowances(subject.store, nodes, [subject.job.id], now=subject.now)


def of_node(subject: Subject, allowed: Allowances, row: NodeCapacity) -> str | None:
    """Return the throttle that keeps a node from taking packages now; None if there is none."""
    used = [allowance for allowance in allowed.nodes.get(row.id, ()) if not allowance.left]
    return f"takes no more packages now: {_reached(subject, used[0])}" if used else None


def of_job(subject: Subject, allowed: Allowances) -> str | None:
    """Return the throttle that keeps packages of the job from starting now; None if none."""
    used = [allowance for allowance in allowed.jobs.get(subject.job.id, ()) if not allowance.left]
    if not used:
        return None
    allowance = used[0]
    subject.explanation.details["throttle"] = allowance.throttle.name
    subject.explanation.commands.append("d0ctl throttle list")
    whose = "its job" if allowance.throttle.kind == "job" else f"researcher `{allowance.name}`"
    return f"{whose} starts no more packages now: {_reached(subject, allowance)}"


def _reached(subject: Subject, allowance: Allowance) -> str:
    rule, name = allowance.throttle, f"throttle `{allowance.throttle.name}`"
    if rule.max_running is not None and allowance.running >= rule.max_running:
        return f"{allowance.running:,} are on nodes, and {name} allows {rule.max_running:,}"
    wait = throttles.next_launch(subject.store, allowance, now=subject.now)
    return (f"{count(allowance.launched, 'package')} in the last {duration(rule.per_s)}, the most "
            f"that {name} allows; the next in {duration(wait)}")  # fmt: skip
