"""What a rehearsal found."""

from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.jobs.rehearsal import Rehearsed
from d0ctl.units import count, duration, size

MOST_NODES = 10
"""How many nodes are listed, the busiest first."""


def draw(sheet: Sheet, found: Rehearsed) -> None:
    """Draw how long it takes, what bounds that, and what nodes and caches have to do."""
    nodes = count(len(found.nodes), "node")
    sheet.head(f"rehearsed {found.job}", f"{count(found.packages, 'package')} on {nodes}")
    whole = found.outcome.makespan_s
    rows: list[list[Cell]] = [
        [("takes", "faint"), (duration(whole), "strong")],
        [("at least", "faint"),
         f"{duration(found.chain_s)} for the longest chain of packages, "
         f"{duration(found.work_s)} for the work of all CPUs"],
        [("one more", "faint"), _one_more(found)],
    ]  # fmt: skip
    if found.outcome.carried:
        rows.append([("carried", "faint"), f"{size(found.outcome.carried)} between clusters"])
    if found.earlier:
        rows.append([("run times", "faint"), f"as in `{found.earlier}`, where not in the job file"])
    sheet.table(rows)
    _stages(sheet, found)
    _nodes(sheet, found)


def _one_more(found: Rehearsed) -> str:
    with_it = found.with_one_more_s or 0.0
    saved = found.outcome.makespan_s - with_it
    gain = f"{duration(saved)} less" if saved > 0 else "no less"
    return f"{duration(with_it)} with another node like `{found.model}`: {gain}"


def _stages(sheet: Sheet, found: Rehearsed) -> None:
    sheet.head("stages")
    sheet.table([
        [one.name, count(one.packages, "package"),
         f"from {duration(one.begins_s)} to {duration(one.ends_s)}"]
        for one in found.stages
    ])  # fmt: skip


def _nodes(sheet: Sheet, found: Rehearsed) -> None:
    use = sorted(found.use.items(), key=lambda pair: -pair[1])
    cpus = {node.name: node for node in found.nodes}
    sheet.head("nodes", "the busiest first" if len(use) > 1 else "")
    rows: list[list[Cell]] = []
    for name, part in use[:MOST_NODES]:
        node = cpus[name]
        peak = found.outcome.peaks.get(node.cluster, 0)
        cache = f"up to {size(peak)} of files in `{found.clusters.get(node.cluster)}`"
        speed = f", speed {node.speed:g}" if node.speed != 1 else ""
        rows.append([(name, "strong"), f"{part:.0%} busy", f"{count(node.cpus, 'CPU')}{speed}",
                     cache if peak else ""])  # fmt: skip
    sheet.table(rows)
    if len(use) > MOST_NODES:
        sheet.say(f"  and {len(use) - MOST_NODES:,} more", "faint")
