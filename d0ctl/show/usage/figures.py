"""The figures of a report, as people read them."""

from collections.abc import Sequence
from itertools import compress
from pathlib import Path

from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.views.usage import Report, Usage
from d0ctl.units import clean, count, duration

COLUMNS = ("attempts", "success", "run time", "longest", "reserved", "CPU time", "wasted CPU",
           "efficiency", "mean wait", "longest wait", "per hour")  # fmt: skip
"""The column headings of the figures."""

SHORT = ("attempts", "success", "run", "", "reserved", "CPU", "wasted", "eff.", "wait", "", "")
"""The same for a terminal on which the others have no room: those without a name are left out."""

WIDE = 150
"""From how many columns on the long headings are used."""

TITLES = {"node": "nodes", "software": "software", "researcher": "researchers", "job": "jobs",
          "stage": "stages", "package": "packages"}  # fmt: skip
"""The heading of the table of each group."""

WASTED = ("wasted: CPU time of failed and lost attempts, or their run time if their CPU time is "
          "not known")  # fmt: skip
"""What the figure of that name counts."""


def nothing(selector: str | None, period: float | None) -> str:
    """Say that no attempt has ended, or none of those that were asked for."""
    of = "" if selector is None else f" of `{selector}`"
    return f"no attempt{of} has ended{'' if period is None else f' in the last {duration(period)}'}"


def wrote(file: Path) -> str:
    """Say where the page is."""
    return f"wrote {clean(str(file))}"


MOST_SHOWN = 15
"""How many rows of a group are shown."""


def cells(usage: Usage) -> tuple[str, ...]:
    """Return the figures of a group, in the order of `COLUMNS`."""
    return (
        count(usage.attempts),
        _percent(usage.success),
        duration(usage.run_s),
        duration(usage.longest_run_s),
        duration(usage.reserved_s),
        duration(usage.cpu_s),
        duration(usage.wasted_s),
        _percent(usage.efficiency),
        duration(usage.wait_s),
        duration(usage.longest_s),
        "-" if usage.per_hour is None else f"{usage.per_hour:,.1f}",
    )


def ordered(usages: Sequence[Usage]) -> list[Usage]:
    """Order by use, the largest first."""
    return sorted(usages, key=lambda use: (-use.reserved_s, -use.attempts, use.name))


def draw(sheet: Sheet, report: Report, groups: Sequence[str]) -> None:
    """Draw a table for each group."""
    for group in groups:
        usages = ordered(report.groups[group])
        if not usages:
            continue
        sheet.head(TITLES[group])
        heads = COLUMNS if sheet.columns >= WIDE else SHORT
        rows: list[list[Cell]] = [[("", "faint"), *((name, "faint") for name in heads if name)]]
        rows += [
            [(use.name, "strong"), *compress(cells(use), heads)] for use in usages[:MOST_SHOWN]
        ]
        sheet.table(rows, right=range(1, len(rows[0])), give=0)
        if len(usages) > MOST_SHOWN:
            more = count(len(usages) - MOST_SHOWN)
            sheet.add((f"  and {more} more: --csv and --json print all", "faint"))
    if any(use.wasted_s for group in groups for use in report.groups[group]):
        sheet.add()
        sheet.say(WASTED, "faint")


def _percent(part: float | None) -> str:
    """Return a part in percent: 100% only if it is all, 0% only if it is none."""
    if part is None:
        return "-"
    if 0 < part < 1:
        return "<1%" if part < 0.005 else ">99%" if part >= 0.995 else f"{part:.0%}"
    return f"{part:.0%}"
