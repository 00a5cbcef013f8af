"""A report as one page of HTML: figures, plots and tables, without external resources."""

from collections.abc import Sequence
from html import escape

from d0ctl.show.usage import bars, timeline
from d0ctl.show.usage.bars import Bar
from d0ctl.show.usage.figures import COLUMNS, TITLES, cells, ordered
from d0ctl.store.views.usage import NodeStay, Report, Usage
from d0ctl.units import clean, count, duration, iso

_STYLE = """
:root { --ink: #1d2530; --faint: #667080; --ground: #eef1f5; --line: #d5dae2; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --faint: #98a2b0; --ground: #252c36; --line: #38414e; --page: #171c23; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--page);
       max-width: 1280px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .6rem; }
p { margin: .2rem 0; color: var(--faint); }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; }
.tiles div { background: var(--ground); border-radius: 6px; padding: .6rem 1rem; min-width: 7rem; }
.tiles b { display: block; font-size: 1.35rem; }
.tiles span { color: var(--faint); font-size: .85rem; }
.pair { display: grid; gap: 0 2rem;
        grid-template-columns: repeat(auto-fit, minmax(min(430px, 100%), 1fr)); }
.key i { display: inline-block; width: .8em; height: .8em; border-radius: 2px;
         margin: 0 .3em 0 .8em; }
.key span { white-space: nowrap; }
svg { width: 100%; height: auto; display: block; }
svg text { font-size: 11px; fill: var(--ink); }
.name { text-anchor: end; } .tick { text-anchor: middle; fill: var(--faint) !important; }
.ground { fill: var(--ground); } .grid { stroke: var(--line); stroke-width: .6; }
.wide { overflow-x: auto; } .wide svg { min-width: 900px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; font-variant-numeric: tabular-nums; }
th { color: var(--faint); font-weight: 500; } th:first-child, td:first-child { text-align: left; }
"""

MOST_ROWS = 200
"""How many rows a table has."""


def page(report: Report, stays: Sequence[NodeStay], *, about: str, now: float) -> str:
    """Return the page; `about` names its subject."""
    whole, title = report.whole, escape(clean(f"d0ctl report: {about}"))
    body = [f"<h1>{title}</h1>", f"<p>{escape(_period(whole, now))}</p>", _tiles(whole)]
    if stays:
        body += ["<h2>Nodes and slots over time</h2>", _key(stays),
                 f'<div class="wide">{timeline.svg(stays)}</div>']  # fmt: skip
        body += ['<div class="pair">', _block("Efficiency of nodes", _efficiency(report, "node")),
                 _block("Efficiency of stages", _efficiency(report, "stage")),
                 _block("Failures by reason", _failures(report)),
                 _block("Wasted CPU time by node", _waste(report)), "</div>"]  # fmt: skip
        body += [_table(name.capitalize(), report.groups[group])
                 for group, name in TITLES.items() if report.groups[group]]  # fmt: skip
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">', f"<title>{title}</title>",
        f"<style>{_STYLE}</style>", "</head>", "<body>", *body, "</body>", "</html>", "",
    ])  # fmt: skip


def _period(whole: Usage, now: float) -> str:
    made = f"made {_minute(now)} UTC"
    if not whole.attempts:
        return f"no attempt has ended; {made}"
    return f"from {_minute(whole.first)} to {_minute(whole.last)} UTC; {made}"


def _minute(at: float | None) -> str:
    return (iso(at) or "")[:16].replace("T", " ")


def _tiles(whole: Usage) -> str:
    attempts, success, _, _, reserved, cpu, wasted, efficiency, wait, _, rate = cells(whole)
    tiles = [
        (attempts, "attempts ended"), (success, "successful, without killed ones"),
        (reserved, "reserved: run time × CPUs"), (cpu, "CPU time"),
        (wasted, "wasted (CPU or run time)"), (efficiency, "efficiency"),
        (wait, "mean wait for a slot"), (rate, "successful per hour"),
    ]  # fmt: skip
    shown = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in tiles)
    return f'<div class="tiles">{shown}</div>'


def _key(stays: Sequence[NodeStay]) -> str:
    outcomes = {stay.outcome for stay in stays}
    marks = "".join(f'<span><i style="background:{colour}"></i>{outcome}</span> '
                    for outcome, colour in timeline.COLOURS.items()
                    if outcome in outcomes)  # fmt: skip
    title = "CPUs in use" if len(stays) > timeline.MOST_BARS else "each bar is an attempt in a slot"
    more = timeline.left_out(stays)
    rest = f"; {count(more, 'less busy node')} not shown" if more else ""
    return f'<p class="key">{title}{rest}{marks}</p>'


def _block(title: str, plot: str) -> str:
    return f"<div><h2>{title}</h2>{plot}</div>"


def _efficiency(report: Report, group: str) -> str:
    known = [use for use in ordered(report.groups[group]) if use.efficiency is not None]
    return _bars([
        Bar(clean(use.name), use.efficiency or 0.0, f"{use.efficiency:.0%}", "#3b7dd8")
        for use in known
    ], "no CPU times are known")  # fmt: skip


def _failures(report: Report) -> str:
    most = max((number for _, number in report.failures), default=1)
    return _bars([Bar(clean(reason), number / most, count(number), timeline.COLOURS["failed"])
                  for reason, number in report.failures], "nothing has failed")  # fmt: skip


def _waste(report: Report) -> str:
    nodes = sorted(report.groups["node"], key=lambda use: -use.wasted_s)
    most = max((node.wasted_s for node in nodes), default=0.0)
    return _bars([Bar(clean(node.name), node.wasted_s / most, duration(node.wasted_s),
                      timeline.COLOURS["lost"])
                  for node in nodes if node.wasted_s > 0], "nothing was wasted")  # fmt: skip


def _bars(shown_bars: list[Bar], nothing: str) -> str:
    return bars.svg(shown_bars) if shown_bars else f"<p>{nothing}</p>"


def _table(title: str, usages: Sequence[Usage]) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("", *COLUMNS))
    rows = "".join(
        f"<tr><td>{escape(clean(use.name))}</td>"
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells(use))}</tr>"
        for use in ordered(usages)[:MOST_ROWS]
    )
    more = len(usages) - MOST_ROWS
    rest = f"<p>and {count(more)} more</p>" if more > 0 else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<h2>{title}</h2><div class="wide">{table}</div>{rest}'
