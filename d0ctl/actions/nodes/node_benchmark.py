"""node benchmark: measure how fast the CPUs of a node are."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import Options
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import site_name


@dataclass(frozen=True, slots=True)
class BenchmarkOptions(Options):
    """The result of the benchmark."""

    measured: float = field(default=0.0)
    """The speed; `meet` measures it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkPlan(Plan):
    """The present speed, and whether a person or the site file set it."""

    speed: float
    is_set: bool


def meet(
    store: Store, request: NodeRequest[BenchmarkOptions], now: float
) -> NodeRequest[BenchmarkOptions]:
    """Run the benchmark on the node. Raises NotFound and NodeUnreachable."""
    from d0ctl.nodes.visits import benchmark

    row = registry.named(store, request.target.brief)
    speed = benchmark.measure(store.home, registry.address_of(row), site_name(store))
    return replace(request, options=replace(request.options, measured=speed))


def plan(store: Store, request: NodeRequest[BenchmarkOptions], now: float) -> BenchmarkPlan:
    """Plan to record the speed. Raises NotFound."""
    row = registry.named(store, request.target.brief)
    return BenchmarkPlan(
        request=request, speed=row.speed, is_set=row.speed_asked is not None
    )  # fmt: skip


def keep(store: Store, plan: BenchmarkPlan, by: Author) -> None:
    """Record the speed of the node."""
    speed = plan.request.options.measured
    registry.keep_speed(store, plan.request.target.brief, speed, now=by.now)


def describe(plan: BenchmarkPlan) -> Iterator[str]:
    """Say what would be measured."""
    yield f"would measure the speed of `{plan.request.target.brief}`, which takes some seconds"


def report(plan: BenchmarkPlan) -> Iterator[str]:
    """Say what was measured, and whether it counts."""
    name, speed = plan.request.target.brief, plan.request.options.measured
    if plan.is_set:
        yield (f"speed of `{name}`: {speed:g} measured; the {plan.speed:g} that was set "
               f"takes precedence: d0ctl node set {name} speed=none")  # fmt: skip
    else:
        yield f"speed of `{name}`: {plan.speed:g} -> {speed:g}"


ACTION = Action(
    name="node benchmark",
    help="Measure how fast a node's CPUs are.",
    more_help="Placement and estimates use it; 1 is a standard node. Best on an idle node.",
    example="farm02",
    exit_status="0 done, 3 no such node, 6 the node can't be reached",
    past="measured the speed of",
    options=BenchmarkOptions,
    plan=plan,
    meet=meet,
    act=keep,
    describe=describe,
    report=report,
    level="node",
    key="b",
    title="benchmark: measure its speed",
)
