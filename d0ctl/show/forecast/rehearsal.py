"""The results of a rehearsal."""

from collections.abc import Mapping

from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.jobs.rehearsal.rehearse import Rehearsed
from d0ctl.units import count, duration, size

MOST_NODES = 10
"""How many nodes are listed, the busiest first."""


def draw(sheet: Sheet, rehearsal: Rehearsed) -> None:
    """Draw how long it takes, what limits it, and the load of nodes and caches."""
    nodes = count(len(rehearsal.nodes), "node")
    sheet.head(f"rehearsed {rehearsal.job}", f"{count(rehearsal.packages, 'package')} on {nodes}")
    whole = rehearsal.outcome.makespan_s
    ran = rehearsal.packages - rehearsal.outcome.stuck
    until = f" for the {count(ran, 'package')} that run" if rehearsal.outcome.left else ""
    rows: list[list[Cell]] = [
        [("takes", "faint"), (f"{duration(whole)}{until}", "strong")],
        [("at least", "faint"),
         f"{duration(rehearsal.chain_s)} for the longest chain of packages, "
         f"{duration(rehearsal.work_s)} for the work of all CPUs"],
    ]  # fmt: skip
    rows += (
        _crowded(rehearsal)
        if rehearsal.outcome.left
        else [[("one more", "faint"), _one_more(rehearsal)]]
    )
    rows += _failures(rehearsal)
    if rehearsal.outcome.carried:
        rows.append([("carried", "faint"), f"{size(rehearsal.outcome.carried)} between clusters"])
    if rehearsal.earlier:
        rows.append(
            [("run times", "faint"), f"as in `{rehearsal.earlier}`, where not in the job file"]
        )
    sheet.table(rows)
    _stages(sheet, rehearsal)
    _nodes(sheet, rehearsal)


def _crowded(rehearsal: Rehearsed) -> list[list[Cell]]:
    """Return the row about packages that never run because caches are full."""
    caches = {
        rehearsal.clusters.get(node.cluster, node.name): node.disk for node in rehearsal.nodes
    }
    sizes = [f"`{name}` {size(room)}" for name, room in caches.items() if room is not None]
    rest = f" and {len(sizes) - MOST_NODES:,} more" if len(sizes) > MOST_NODES else ""
    what = (f"{count(rehearsal.outcome.stuck, 'package')}: no cache has room for the files of"
            f" {rehearsal.outcome.left:,} of them "
            f"({', '.join(sizes[:MOST_NODES])}{rest})")  # fmt: skip
    return [[("never run", "faint"), (what, "failed")]]


def _failures(rehearsal: Rehearsed) -> list[list[Cell]]:
    """Return rows about attempts that fail, if earlier ones are known."""
    outcome, rows, known = rehearsal.outcome, list[list[Cell]](), "earlier attempt"
    if not rehearsal.attempts:
        return rows
    retried, failed = outcome.retried.total(), outcome.failed.total()
    if not retried and not failed:
        earlier = f"{rehearsal.attempts_failed:,} of {count(rehearsal.attempts, known)}"
        rows.append([("failures", "faint"), f"none expected: {earlier} of all jobs failed"])
        return rows
    cost = f"{_gap(rehearsal.smooth_s, outcome.makespan_s)} longer"
    rows.append([("failures", "faint"),
                 f"{count(retried + failed, 'attempt')}, by {count(rehearsal.attempts, known)}:"
                 f" {cost}, {duration(outcome.wasted_s)} of run time x CPUs lost"])  # fmt: skip
    for verb, reasons in (("tried again", outcome.retried), ("failed for good", outcome.failed)):
        if reasons:
            named = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
            rows.append([(verb, "faint"), named])
    if outcome.drained:
        rows.append([("drained", "faint"), _times(rehearsal, outcome.drained)])
    if outcome.excluded:
        once = dict.fromkeys(outcome.excluded, 1)
        rows.append(
            [("excluded", "faint"), f"{_times(rehearsal, once)} by packages that failed there"]
        )
    if outcome.stuck and not outcome.left:
        rows.append([("never run", "faint"), f"{count(outcome.stuck, 'package')}, whose inputs are "
                                             "missing then"])  # fmt: skip
    return rows


def _times(rehearsal: Rehearsed, nodes: Mapping[int, int]) -> str:
    """Return the names of some nodes, with the number of times."""
    names = {node.id: node.name for node in rehearsal.nodes}
    tried = [f"`{names[node]}`" + (f" {count(n, 'time')}" if n > 1 else "")
            for node, n in list(nodes.items())[:MOST_NODES]]  # fmt: skip
    rest = len(nodes) - len(tried)
    return ", ".join(tried) + (f" and {rest:,} more" if rest else "")


def _one_more(rehearsal: Rehearsed) -> str:
    with_it = rehearsal.with_one_more_s
    gain = _gap(with_it, rehearsal.outcome.makespan_s)
    return f"{duration(with_it)} with another node like `{rehearsal.model}`: {gain} less"


def _gap(shorter: float, longer: float) -> str:
    """Return how much longer the second time is; `no` if people would read the same time twice."""
    is_longer = longer > shorter and duration(longer) != duration(shorter)
    return duration(longer - shorter) if is_longer else "no"


def _stages(sheet: Sheet, rehearsal: Rehearsed) -> None:
    sheet.head("stages")
    sheet.table([
        [stage.name, count(stage.packages, "package"),
         f"from {duration(stage.begins_s)} to {duration(stage.ends_s)}"]
        for stage in rehearsal.stages
    ])  # fmt: skip


def _nodes(sheet: Sheet, rehearsal: Rehearsed) -> None:
    use = sorted(rehearsal.use.items(), key=lambda pair: -pair[1])
    cpus = {node.name: node for node in rehearsal.nodes}
    sheet.head("nodes", "the busiest first" if len(use) > 1 else "")
    rows: list[list[Cell]] = []
    for name, part in use[:MOST_NODES]:
        node = cpus[name]
        peak = rehearsal.outcome.peaks.get(node.cluster, 0)
        cache = f"up to {size(peak)} of files in `{rehearsal.clusters.get(node.cluster)}`"
        speed = f", speed {node.speed:g}" if node.speed != 1 else ""
        rows.append([(name, "strong"), f"{part:.0%} busy", f"{count(node.cpus, 'CPU')}{speed}",
                     cache if peak else ""])  # fmt: skip
    sheet.table(rows)
    if len(use) > MOST_NODES:
        sheet.say(f"  and {len(use) - MOST_NODES:,} more", "faint")
