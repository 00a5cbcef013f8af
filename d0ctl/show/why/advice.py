"""Commands for failed packages: only those that are accepted and may not fail again."""

import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.model import Reason
from d0ctl.show.why.missing_command import again, missing
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import requirement_of_package
from d0ctl.store.nodes.standstill import NodeView, node_views
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.shapes.of_package import AttemptView, PackageView
from d0ctl.units import format_size, format_time, listed, size

DETERMINISTIC = frozenset({
    Reason.EXIT_CODE, Reason.MISSING_OUTPUT, Reason.VERIFICATION, Reason.LOOPING,
    Reason.SEG_FAULT, Reason.LOG_MESSAGE, Reason.NO_INPUTS,
})  # fmt: skip
"""Reasons for which the same program with the same inputs would fail again."""

BY_JOB_FILE = frozenset({Reason.MISSING_OUTPUT, Reason.NO_INPUTS})
"""Reasons whose cause may be in the job file."""

OLD_FILE = "a retry runs the job as it was submitted: if the job file is wrong, correct it, then "

GROWTH = 1.5
"""Suggested increase of a resource that ran out, as a factor of its use or limit."""

STEP = 100_000_000
"""Suggested sizes above this many bytes are multiples of it."""


class Advice(Struct, frozen=True):
    """Facts about a retry, and `options` to add; None if it should not be retried now."""

    facts: tuple[str, ...] = ()
    options: str | None = ""


def advice(store: Store, package: PackageView, last: AttemptView | None) -> Advice:
    """Advise on retrying a failed or canceled package."""
    nodes = node_views(store)
    if dropped := _dropped_input(store, package):
        return Advice((f"it can't be retried: it needs `{dropped}` of a dropped line",), None)
    if last is not None and last.reason == Reason.OUT_OF_MEMORY and package.phase == "failed":
        return _more_memory(store, package, last, nodes)
    if unfit := _unfit(store, package, nodes, package.memory):
        return Advice((f"it can't be retried: no node can take it: {unfit}",), None)
    if last is None or package.phase != "failed":
        return Advice()
    if last.reason == Reason.WALL_TIME:
        return _more_time(package, last)
    if last.reason == Reason.DISK_FULL and package.disk:
        return Advice(options=f" --disk {format_size(_grown(package.disk))}")
    if problem := missing(store, package, last):
        return Advice((problem.fact, *([_fix(package.path)] if problem.may_retry else [])), None)
    if last.reason in BY_JOB_FILE:
        return Advice((_fix(package.path), OLD_FILE + again(store, package)), None)
    if is_deterministic(last.reason, last.exit_code):
        return Advice((_fix(package.path),), None)
    return Advice()


def is_deterministic(reason: str | None, exit_code: int | None = None) -> bool:
    """Return whether a plain retry most likely fails the same way."""
    if reason == Reason.SOFTWARE_MISSING:
        return exit_code in (126, 127)
    return reason in DETERMINISTIC or (reason or "").startswith("site:")


def _fix(target: str) -> str:
    return f"a plain retry would most likely fail again: fix the cause, then `d0ctl retry {target}`"


def _more_memory(
    store: Store, package: PackageView, last: AttemptView, nodes: list[NodeView]
) -> Advice:
    used = max(last.rss or 0, package.memory or 0)
    if not used:
        return Advice(options=" --memory 2GB" if package.memory is None else None)
    largest = max((node.node.room.memory or 0 for node in nodes), default=0)
    wanted = _grown(used)
    if largest and wanted > largest > used:
        wanted = largest
    if why := _unfit(store, package, nodes, wanted):
        fact = f"it used {size(used)} of memory, and no node can take it with more: {why}"
        return Advice((fact,), None)
    peak = (f"its peak was {size(last.rss)} of memory",) if last.rss else ()
    return Advice(peak, f" --memory {format_size(wanted)}")


def _more_time(package: PackageView, last: AttemptView) -> Advice:
    limit = package.wall_time
    if limit is None and last.started is not None and last.ended is not None:
        limit = last.ended - last.started
    if not limit:
        return Advice()
    return Advice(options=f" --wall-time {format_time(math.ceil(limit * 2))}")


def _grown(used: int) -> int:
    """Return an increased size, rounded."""
    more = int(used * GROWTH)
    step = STEP if more > STEP else STEP // 100
    return -(-more // step) * step


def _dropped_input(store: Store, package: PackageView) -> str | None:
    for file in one_package.inputs(store, package.id):
        is_needed = file.required and not file.dropped and not file.own
        if is_needed and file.file_dropped and not file.present:
            return file.name
    return None


def _unfit(
    store: Store, package: PackageView, nodes: list[NodeView], memory: int | None
) -> str | None:
    """Return why no node can ever take a package with this much memory; None if one can."""
    requirement = replace(requirement_of_package(store, package.id), memory=memory)
    reasons = {view.name: view.node.misfit(requirement) for view in nodes}
    if not reasons or None in reasons.values():
        return None
    return listed(f"`{name}`: {why}" for name, why in list(reasons.items())[:3])


def for_alike(
    store: Store, selector: str, paths: Sequence[str], reason: str, *, node: str = ""
) -> Advice:
    """Advise one retry for all packages that failed for a reason; `paths` are some of them.

    With a node, only for those that failed there.
    """
    from d0ctl.select import parse

    target = f"'{selector}'{f' --node {node}' * bool(node)} --failed-for {reason}"
    best: Advice | None = None
    for path in paths:
        package = browse.package(store, parse(path))
        package_advice = advice(store, package, one_package.attempts(store, package.id)[-1])
        if package_advice.options is None:
            continue
        if best is None or _requested(package_advice) > _requested(best):
            best = package_advice
    if best is not None:
        return Advice((), f" {target}{best.options}")
    package = browse.package(store, parse(paths[0]))
    package_advice = advice(store, package, one_package.attempts(store, package.id)[-1])
    fix = _fix(package.path)
    return Advice(
        tuple(_fix(target) if fact == fix else fact for fact in package_advice.facts), None
    )


def _requested(package_advice: Advice) -> float:
    """Return the amount in a suggested option, to choose the largest."""
    from d0ctl.units import parse_size, parse_time

    option, _, figure = (package_advice.options or "").strip().partition(" ")
    if not figure:
        return 0.0
    return parse_time(figure) if option == "--wall-time" else float(parse_size(figure))
