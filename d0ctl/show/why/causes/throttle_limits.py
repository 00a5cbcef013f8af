"""The throttles that keep a node or a job from starting more packages now."""

from collections import Counter
from collections.abc import Iterable, Mapping
from shlex import quote

from d0ctl.model import Phase
from d0ctl.schedule.quota import Allowance, Throttle
from d0ctl.show.why.common import MOST, Explanation, GroupPart
from d0ctl.store.clusters import throttles
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.units import count, duration, listed


def add(store: Store, part: GroupPart, explanation: Explanation, now: float) -> None:
    """Add how many ready packages wait for a throttle of the job, or of nodes with free slots."""
    ready, job = part.counts.get(Phase.READY, 0), part.job
    if not ready or job.hold or job.pause:
        return
    allowed = throttles.allowances(store, {}, [job.id], now=now).jobs.get(job.id, ())
    if used := spent(allowed):
        throttle = used.throttle
        explanation.facts.append(
            f"{count(ready)} ready: throttle `{throttle.name}` allows {_most(throttle)}"
            f"{_idle(store, used)}"
        )
        add_commands(explanation, throttle)
        return
    nodes = {row.id: row.name for row in registry.capacities(store)
             if row.state == "up" and row.used < row.cpus}  # fmt: skip
    limits = throttles.allowances(store, nodes, [], now=now).nodes
    held = {nodes[node]: used for node, of in limits.items() if (used := spent(of)) is not None}
    for name, used in list(held.items())[:MOST]:
        explanation.facts.append(f"{count(ready)} ready: `{name}` {on_node(store, used, now)}")
    for throttle in {used.throttle.name: used.throttle for used in held.values()}.values():
        add_commands(explanation, throttle)


def of_node(store: Store, node: int, name: str, now: float) -> Allowance | None:
    """Return the throttle that keeps a node from taking packages now; None if none does."""
    return spent(throttles.allowances(store, {node: name}, [], now=now).nodes.get(node, ()))


def on_nodes(store: Store, nodes: Mapping[int, str], now: float) -> dict[int, str]:
    """Say of which nodes, by id and name, throttles keep more packages now, and why."""
    allowed = throttles.allowances(store, nodes, [], now=now).nodes
    return {
        node: on_node(store, used, now)
        for node, limits in allowed.items()
        if (used := spent(limits)) is not None
    }


def spent(allowed: Iterable[Allowance]) -> Allowance | None:
    """Return the first of these that allows no more packages now."""
    return next((allowance for allowance in allowed if not allowance.left), None)


def on_node(store: Store, allowance: Allowance, now: float) -> str:
    """Say that a node takes no more packages because of a throttle."""
    return f"takes no more packages now: {reached(store, allowance, now)}"


def next_launch(store: Store, allowance: Allowance, now: float) -> float | None:
    """Return in how many seconds a spent throttle allows the next launch; None if ends matter."""
    most = allowance.throttle.max_running
    if most is not None and allowance.running >= most:
        return None
    return throttles.next_launch(store, allowance, now=now)


def reached(store: Store, allowance: Allowance, now: float) -> str:
    """Say which limit of a throttle is reached."""
    rule, name = allowance.throttle, f"throttle `{allowance.throttle.name}`"
    if (wait := next_launch(store, allowance, now)) is None:
        on_nodes = count(allowance.running, "package is", "packages are")
        return (f"{on_nodes} on nodes{_idle(store, allowance)}, and {name} allows "
                f"{rule.max_running:,}")  # fmt: skip
    return (f"{count(allowance.launched, 'package')} in the last {duration(rule.per_s)}, the most "
            f"that {name} allows; the next in {duration(wait)}")  # fmt: skip


def in_brackets(idle: Iterable[throttles.IdlePackages]) -> str:
    """Say in brackets which packages on nodes do not run; empty if all do."""
    numbers, nodes = Counter[str](), dict[str, list[str]]()
    for of in idle:
        numbers[of.phase] += of.n
        if f"`{of.node}`" not in nodes.setdefault(of.phase, []):
            nodes[of.phase].append(f"`{of.node}`")
    parts = [f"{count(number)} {phase}" + (f" on {listed(on)}" if len(on) <= MOST else "")
             for phase, number in numbers.items() for on in (nodes[phase],)]  # fmt: skip
    return f" ({listed(parts)})" if parts else ""


def _idle(store: Store, allowance: Allowance) -> str:
    """Say which packages that a throttle counts do not run, if their number is what it limits."""
    most = allowance.throttle.max_running
    if most is None or allowance.running < most:
        return ""
    return in_brackets(throttles.idle_of(store, allowance))


def add_commands(explanation: Explanation, throttle: Throttle) -> None:
    """Add the commands that show the throttles and lift this one."""
    limits = [] if throttle.max_running is None else ["--max-running none"]
    limits += [] if throttle.launches is None else ["--max-launches none"]
    lift = f"d0ctl throttle set {throttle.kind} {quote(throttle.pattern)} {' '.join(limits)}"
    explanation.commands += ["d0ctl throttle list", lift]


def _most(throttle: Throttle) -> str:
    """Return the limits of a throttle in words."""
    limits = [] if throttle.max_running is None else [count(throttle.max_running)]
    if throttle.launches is not None:
        limits.append(f"{count(throttle.launches)} in {duration(throttle.per_s)}")
    return " and ".join(limits)
