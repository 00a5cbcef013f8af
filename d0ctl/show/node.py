"""The card of a node: its state, its slots, why it takes nothing, and its packages."""

import json
from dataclasses import dataclass

from d0ctl.show import signs
from d0ctl.show.lists import packages
from d0ctl.show.package import explain
from d0ctl.show.sheet import Sheet
from d0ctl.show.why.common import Explanation
from d0ctl.store.connection import Row
from d0ctl.store.views.shapes import PackageRow
from d0ctl.units import count, moment, size


@dataclass(frozen=True, slots=True)
class Node:
    """Everything on the card, read at one moment."""

    row: Row
    used: int
    why: Explanation
    live: list[PackageRow]


def draw(sheet: Sheet, node: Node, now: float) -> None:
    """Draw the card."""
    row = node.row
    state = "drained" if row["drained"] and row["state"] == "up" else row["state"]
    sheet.add((row["name"], "strong"), f"  {row['destination'] or 'this machine'}")
    since = row["drained_at"] if state == "drained" else row["since"]
    words = f" since {moment(since, now)}, last heard {moment(row['contact'], now)}"
    if row["load"] is not None and row["state"] == "up":
        words += f", load {row['load']:.1f} then"
    sheet.add(signs.mark(state, sheet.glyphs), (words, "faint"))
    facts = json.loads(row["facts"] or "{}")
    told = [f"{node.used} of {count(row['cpus'], 'slot')} in use", size(row["memory"]),
            row["platform"], facts.get("os"), f"python {facts.get('python') or '?'}",
            f"cluster {row['cluster']}"]  # fmt: skip
    sheet.say("; ".join(str(word) for word in told if word), "faint")
    sheet.add(signs.gauge(node.used / max(1, row["cpus"]), min(40, sheet.columns), sheet.glyphs))
    explain(sheet, node.why)
    sheet.head("running here", count(len(node.live), "package"))
    packages(sheet, node.live, now)
