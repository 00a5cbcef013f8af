"""What is told of a job, stage, line or node."""

import json
from collections.abc import Sequence

from d0ctl.model import by_status
from d0ctl.select import brief
from d0ctl.show import signs
from d0ctl.show.read import Node, Part
from d0ctl.show.sheet import Sheet
from d0ctl.show.spans import Span, foreign
from d0ctl.store.views.activity import Headway
from d0ctl.store.views.shapes import (
    FailureView,
    JobSummary,
    LineSummary,
    PackageRow,
    StageSummary,
)
from d0ctl.units import count, duration, moment, size
from d0ctl_tui.draw.rows import status_of

SAID = 4
"""How many lines of what a failed package said are told."""


def draw(sheet: Sheet, part: Part, now: float) -> None:
    """Lay out a job, stage or line."""
    _head(sheet, part, now)
    _bar(sheet, part)
    _why(sheet, part)
    _stages(sheet, part)
    _failed(sheet, part.failed, now)
    _live(sheet, part, now)
    if part.troubles:
        sheet.head("files that can't be carried")
        for trouble in part.troubles:
            sheet.say(trouble, "warn", indent="- ")
    _deeds(sheet, part, now)


def _head(sheet: Sheet, part: Part, now: float) -> None:
    job = part.job
    name = job.title if isinstance(part.row, JobSummary) else part.row.name
    sheet.add((foreign(part.path), "strong"), (f"  {foreign(name)}", "plain"))
    done = by_status(part.row.counts)["successful"]
    total = sum(part.row.counts.values())
    kept = "held" if job.hold else "paused" if job.pause else ""
    words: list[Span] = [*signs.mark(status_of(part.row, kept), sheet.glyphs)]
    for badge in signs.badges(part.row.counts, sheet.glyphs):
        words += [(" ", ""), badge] if badge[1] != words[0][1] else []
    words.append((f"  {count(done)} of {count(total, 'package')} done", "plain"))
    if part.dropped:
        words.append((f", {count(part.dropped, 'line')} dropped", "faint"))
    sheet.add(*words)
    if isinstance(part.row, JobSummary):
        told = f"submitted {moment(job.submitted, now)} by {foreign(job.originator)}"
        if job.ended is not None:
            told += f", ended {moment(job.ended, now)} after {duration(job.ended - job.submitted)}"
        sheet.add((f"{told}; priority {job.priority}", "faint"))
    if job.hold:
        why = f": {job.hold_note}" if job.hold_note else ""
        sheet.say(f"held by {job.hold_actor} since {moment(job.hold_since, now)}{why}", "warn")
    if isinstance(part.row, LineSummary) and part.row.dropped is not None:
        sheet.add((f"dropped {moment(part.row.dropped, now)}", "warn"))


def _bar(sheet: Sheet, part: Part) -> None:
    headway, total = part.headway, sum(part.row.counts.values())
    width = min(60, sheet.columns - 2)
    sheet.add(*signs.bar(part.row.counts, width, sheet.glyphs, headway.percents / 100))
    if headway.percents:
        done = by_status(part.row.counts)["successful"]
        share = (100 * done + headway.percents) / max(1, total)
        sheet.add((f"{share:.0f} % with what runs", "plain"))
    told: list[Span] = []
    for word, look in signs.tally(part.row.counts, blocked=part.row.blocked):
        told += [("  ", ""), (word, look)] if told else [(word, look)]
    if told:
        sheet.add(*told)


def _why(sheet: Sheet, part: Part) -> None:
    sheet.head("why")
    sheet.say(part.why.answer)
    for fact in part.why.facts:
        sheet.say(fact, "faint", indent="- ")
    if part.why.stderr:
        sheet.quote(part.why.stderr, SAID)
    sheet.commands(part.why.commands)


def _stages(sheet: Sheet, part: Part) -> None:
    if not part.stages:
        return
    sheet.head("stages")
    rows: list[list[Span]] = []
    for stage in part.stages[:40]:
        state = status_of(stage, "held" if part.job.hold else "paused" if part.job.pause else "")
        done = by_status(stage.counts)["successful"]
        total = sum(stage.counts.values())
        rows.append(
            [
                (f"{stage.seq} {foreign(stage.name)}", "plain"),
                (f"{sheet.glyphs.states[state]} {state}", signs.role(state)),
                (f"{signs.short(done)}/{signs.short(total)}", "plain"),
                (f"{_percent(part, stage, done, total):.0f} %", "faint"),
            ]
        )
    sheet.table(rows, give=0)


def _percent(part: Part, stage: StageSummary, done: int, total: int) -> float:
    running = part.stage_headways.get(stage.id, Headway())
    return (100 * done + running.percents) / max(1, total)


def _failed(sheet: Sheet, failed: Sequence[FailureView], now: float) -> None:
    if not failed:
        return
    sheet.head("failed last")
    for index, one in enumerate(failed):
        why = ": ".join(word for word in (one.reason, one.message) if word)
        about = f" on {one.node_name}, {moment(one.ended, now)}"
        glyph = sheet.glyphs.states["failed"]
        sheet.add((f"{glyph} ", "bad"), (foreign(one.path), "strong"), (foreign(about), "faint"))
        sheet.say(why or "for no known reason", "bad", indent="  ")
        if one.stderr and not index:
            sheet.quote(one.stderr, SAID)


def _live(sheet: Sheet, part: Part, now: float) -> None:
    if not part.live:
        return
    where = ", ".join(f"{n} on {name}" for name, n in list(part.where.items())[:6])
    sheet.head("running", foreign(where))
    packages(sheet, part.live, now)


def packages(sheet: Sheet, rows: Sequence[PackageRow], now: float) -> None:
    """Lay out packages, one a line."""
    sheet.table(
        [
            [
                (foreign(row.path), "strong"),
                (foreign(row.name), "plain"),
                (f"{sheet.glyphs.states.get(row.phase, ' ')} {row.phase}", look(row.phase)),
                (foreign(row.node), "plain"),
                (f"since {moment(row.started or row.changed, now)}", "faint"),
            ]
            for row in rows
        ]
    )


def look(state: str) -> str:
    """The look of a state."""
    return signs.role(state)


def _deeds(sheet: Sheet, part: Part, now: float) -> None:
    if not part.deeds:
        return
    sheet.head("what people did")
    sheet.table(
        [
            [
                (moment(deed.at, now), "faint"),
                (foreign(deed.actor), "plain"),
                (deed.verb, "plain"),
                (foreign(brief(deed.target)), "strong"),
                (foreign(deed.note), "faint"),
            ]
            for deed in part.deeds
        ]
    )


def draw_node(sheet: Sheet, node: Node, now: float) -> None:
    """Lay out a node."""
    row = node.row
    state = "drained" if row["drained"] and row["state"] == "up" else row["state"]
    sheet.add((foreign(row["name"]), "strong"),
              (f"  {foreign(row['destination'] or 'this machine')}", "plain"))  # fmt: skip
    words: list[Span] = [*signs.mark(state, sheet.glyphs)]
    since = row["drained_at"] if state == "drained" else row["since"]
    words.append((f" since {moment(since, now)}", "faint"))
    words.append((f", last heard {moment(row['contact'], now)}", "faint"))
    if row["load"] is not None and row["state"] == "up":
        words.append((f", load {row['load']:.1f} then", "faint"))
    sheet.add(*words)
    facts = json.loads(row["facts"] or "{}")
    told = [f"{node.used} of {count(row['cpus'], 'slot')} in use", size(row["memory"]),
            row["platform"], facts.get("os"), f"python {facts.get('python') or '?'}",
            f"cluster {row['cluster']}"]  # fmt: skip
    sheet.say("; ".join(str(word) for word in told if word), "faint")
    sheet.add(*signs.gauge(node.used / max(1, row["cpus"]), min(40, sheet.columns), sheet.glyphs))
    sheet.head("why")
    sheet.say(node.why.answer)
    for fact in node.why.facts:
        sheet.say(fact, "faint", indent="- ")
    sheet.commands(node.why.commands)
    sheet.head("here now", count(len(node.live), "package"))
    packages(sheet, node.live, now)
