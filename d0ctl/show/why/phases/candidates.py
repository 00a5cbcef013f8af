"""The cost of a ready package on the nodes that could take it."""

from collections.abc import Collection, Sequence

from d0ctl.model import NodeCapacity
from d0ctl.schedule.candidates import costs
from d0ctl.schedule.costs import Cost
from d0ctl.schedule.place import WORTH
from d0ctl.schedule.resources import Requirement
from d0ctl.show.why.common import MOST, speed
from d0ctl.show.why.subject import Subject
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.catalogue import room_of
from d0ctl.units import duration


def compare(
    subject: Subject, rows: Sequence[NodeCapacity], requirement: Requirement
) -> dict[str, Cost]:
    """Return the cost on each node, the lowest first; add a fact for each of the first.

    Adds nothing if no run time is known and no inputs have to be copied.
    """
    places, files = placement.places_of(subject.store, subject.package.id)
    node_costs = costs(
        requirement, [room_of(row) for row in rows],
        placement.busy(subject.store, now=subject.now), placement.links(subject.store),
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
    subject.explanation.facts += [_fact(name, node_costs[name]) for name in list(node_costs)[:MOST]]
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


def _fact(name: str, cost: Cost) -> str:
    by = "" if cost.rate is None else f" at {speed(cost.rate, cost.file_s)}"
    parts = [f"{duration(cost.transfer_s)} for its inputs{by}"] if cost.transfer_s else []
    parts += [f"CPUs free in {duration(cost.wait_s)}"] if cost.wait_s else []
    if cost.run_s is None:
        return f"on `{name}`: {', '.join(parts) or 'inputs and CPUs are there'}"
    parts.append(f"{duration(cost.run_s)} to run")
    return f"on `{name}` it would end in {duration(cost.end_s)}: {', '.join(parts)}"
