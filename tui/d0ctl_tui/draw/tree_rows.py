"""A row of the tree as a line, and its width."""

from collections.abc import Sequence

from msgspec.structs import replace

from d0ctl.model import Counts, Phase, by_status, known_eta
from d0ctl.schedule.horizon import AT_ONCE_S
from d0ctl.show.cards.jobs import limits
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, cell_len, fit, foreign, pad, width
from d0ctl.store.views.shapes import JobSummary, LineSummary, PackageRow, StageSummary
from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl_tui.draw import package_rows, task_rows
from d0ctl_tui.draw.columns import GAP, LONG_BAR, Columns, Need
from d0ctl_tui.draw.row_cells import RowContext, brief, clock, front, state, tail

Row = JobSummary | StageSummary | LineSummary | PackageRow | BinaryView
"""The contents of a row of the tree."""

COUNT = 11
"""The largest width of numbers of packages."""

SHARE = "99% "
"""The widest percentage of packages that are not all done."""


def draw(row: Row | None, columns: Columns, context: RowContext) -> Line:
    """Return a row as a line."""
    if row is None:
        return ((" " * (2 * context.depth + 2), ""), ("gone", "faint"))
    if isinstance(row, PackageRow):
        return package_rows.draw(row, columns, context)
    if isinstance(row, BinaryView):
        return package_rows.draw_binary(row, columns, context)
    return _group(row, columns, context)


def need(row: Row | None, context: RowContext) -> Need:
    """Return how many columns a row needs."""
    if row is None:
        return Need()
    if isinstance(row, PackageRow):
        return package_rows.need(row, context)
    if isinstance(row, BinaryView):
        return package_rows.need_of_binary(row, context)
    before = 2 * context.depth + 3
    name = _name(row, context)
    bare = name[: _bare(row, name)]
    word = task_rows.status(row, context.job_hold)
    badges = _badges(row, context)
    time, extras = _end(row, context), _extras(row)
    needed = Need(
        before + width(bare), before + width(name),
        width(signs.mark(word, context.glyphs)) + sum(1 + width([badge]) for badge in badges),
        time=len(time), brief=len(brief(time)),
        researcher=cell_len(extras.get("researcher", "")), priority=len(extras.get("priority", "")),
    )  # fmt: skip
    if about := task_rows.about(row):
        return replace(needed, about=cell_len(about), remark=cell_len(about))
    tally = sum(GAP + width([span]) for span in _tally(row)) - GAP
    counts = task_rows.counts(row)
    room = _longest(counts) + len(SHARE) * _has_share(counts)
    return replace(needed, count=max(4, room, len(_done(row, context))), tally=tally)


def _group(
    row: JobSummary | StageSummary | LineSummary, columns: Columns, context: RowContext
) -> Line:
    glyphs = context.glyphs
    twisty = glyphs.open if context.opened else glyphs.shut
    name = _name(row, context)
    spans = front(name, _bare(row, name), columns, context, twisty)
    word = task_rows.status(row, context.job_hold)
    spans += state(word, columns, glyphs, _badges(row, context))
    if about := task_rows.about(row):
        text = pad(about, columns.about, ellipsis=glyphs.ellipsis) + " " * GAP
        spans.append((text, signs.role(word)))
    else:
        if columns.bar:
            bar = min(columns.bar, LONG_BAR)
            earned = task_rows.earned(row, context.progress.percents)
            spans += signs.bar(task_rows.counts(row), bar, glyphs, earned)
            spans.append((" " * (columns.bar - bar + GAP), ""))
        done = pad(_done(row, context), columns.count, right=True)
        spans.append((done + " " * GAP, "plain"))
        if columns.tally:
            spans += _cells(_tally(row), columns.tally, glyphs)
    return (*spans, *tail(_extras(row), _end(row, context), columns))


def _badges(row: JobSummary | StageSummary | LineSummary, context: RowContext) -> list[Span]:
    return signs.badges(row.counts, context.glyphs, row.acknowledged, context.late)


def _extras(row: JobSummary | StageSummary | LineSummary) -> dict[str, str]:
    """Return the extra columns of a job."""
    if not isinstance(row, JobSummary):
        return {}
    return {"researcher": foreign(row.originator.partition("@")[0]), "priority": str(row.priority)}


def _name(row: JobSummary | StageSummary | LineSummary, context: RowContext) -> list[Span]:
    if isinstance(row, JobSummary):
        sign = [(f" {context.glyphs.bell}", "mark")] if context.followed else []
        title = (f"  {foreign(row.title)}", "faint")
        return [(foreign(row.name), "strong"), *sign, *_remarks(row), title]
    number = (f"{row.seq}", "strong")
    named = row.name != str(row.seq)
    return [number, (f" {foreign(row.name)}", "plain")] if named else [number]


def _bare(row: JobSummary | StageSummary | LineSummary, name: Sequence[Span]) -> int:
    """Return how many spans of a name tell it from others: not its kind, nor its title."""
    if isinstance(row, JobSummary):
        return len(name) - 1 - len(_remarks(row))
    return len(name)


def _remarks(row: JobSummary) -> list[Span]:
    """Return what stands between the name of a job and its title."""
    old = [(f"  {signs.SOME_OUTDATED}", "warn")] if row.is_outdated else []
    return [*task_rows.kind(row), *old]


def _done(row: JobSummary | StageSummary | LineSummary, context: RowContext) -> str:
    counts = task_rows.counts(row)
    done, total = by_status(counts)["successful"], sum(counts.values())
    text = f"{signs.short(done)}/{signs.short(total)}"
    if not _has_share(counts):
        return text
    share = signs.percent(counts, task_rows.earned(row, context.progress.percents))
    return f"{share}% {text}"


def _has_share(counts: Counts) -> bool:
    """Return whether a row has a percentage, from the first package on until the last has ended."""
    totals = by_status(counts)
    begun = totals["launched"] + totals["successful"]
    left = totals["unscheduled"] + totals["scheduled"] + totals["launched"]
    return bool(begun and left) and len(SHARE) + _longest(counts) <= COUNT


def _longest(counts: Counts) -> int:
    """Return how many columns the numbers of done and all packages take at most."""
    return 2 * len(signs.short(sum(counts.values()))) + 1


def _tally(row: JobSummary | StageSummary | LineSummary) -> list[Span]:
    text = task_rows.tally(row) or signs.tally(row.counts, blocked=row.blocked, number=signs.short)
    if isinstance(row, JobSummary) and row.hold and row.ended is not None:
        text.insert(0, ("held", "warn"))
    if row.acknowledged:
        text.append((f"{signs.short(row.acknowledged)} acknowledged", "faint"))
    if isinstance(row, StageSummary) and row.final:
        text.append(("final", "faint"))
    if not isinstance(row, LineSummary):
        text += [(limit, "faint") for limit in limits(row)]
    return text


def _cells(cells: Sequence[Span], columns: int, glyphs: Glyphs) -> list[Span]:
    """Return words beside each other, as many as fit whole, then an ellipsis for the others."""
    spans: list[Span] = []
    for index, cell in enumerate(cells):
        longer = [*spans, (" " * GAP, ""), cell] if index else [cell]
        rest = 1 + len(glyphs.ellipsis) if index + 1 < len(cells) else 0
        if index and width(longer) + rest > columns:
            spans.append((f" {glyphs.ellipsis}", "faint"))
            break
        spans = longer
    fitted = fit(spans, columns, ellipsis=glyphs.ellipsis)
    return [*fitted, (" " * (columns - width(fitted) + GAP), "")]


def _end(row: JobSummary | StageSummary | LineSummary, context: RowContext) -> str:
    """Return when it ended, or will."""
    if isinstance(row, JobSummary) and row.ended is not None:
        return clock(row.ended, context.now)
    if isinstance(row, JobSummary) and context.job_hold:
        return ""
    at, is_least = context.estimate, isinstance(row, JobSummary) and task_rows.grows(row)
    if at is None:  # the reports of its packages and its stages say when not before
        reported = known_eta(Phase.RUNNING, context.progress.eta, context.now)
        at = max((end for end in (reported, context.least) if end is not None), default=None)
        totals = by_status(row.counts)
        left = totals["unscheduled"] + totals["scheduled"] + totals["launched"]
        is_least = is_least or context.progress.with_eta < left
    if at is None:
        return "late" if context.late and not context.job_hold else ""
    if _is_late(at, context) or (at <= context.now and not is_least):
        return "late"
    return (">" if is_least else "~") + clock(at, context.now, short=True)


def _is_late(at: float, context: RowContext) -> bool:
    """Return whether only stragglers are left: their estimated end is always now."""
    return context.late > 0 and at <= context.now + AT_ONCE_S
