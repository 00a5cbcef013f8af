"""The tile of a job on the wall: readable from far, as large as the screen allows."""

from collections.abc import Sequence

from msgspec import Struct

from d0ctl.model import Counts, by_status
from d0ctl.schedule.estimates import Range
from d0ctl.show.cards.jobs import STOPPED, kept_back_by
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.signs import ASCII, Glyphs
from d0ctl.show.drawing.spans import Line, Span, cut_middle, fit, foreign, width
from d0ctl.show.forecast.estimates import LATE, rate, waits
from d0ctl.store.views.activity import NO_PROGRESS, RunningProgress, StageRate
from d0ctl.store.views.job_files.eta import Straggler
from d0ctl.store.views.shapes import FailureView, JobSummary
from d0ctl.units import count
from d0ctl_tui.draw import task_rows
from d0ctl_tui.draw.row_cells import clock
from d0ctl_tui.read.snapshot import NodeLine

LEAST_WIDTH, LEAST_HEIGHT, GAP = 38, 6, 2
"""The least columns and rows of a tile, and the columns between tiles."""

TALLEST = 12
"""The most rows of a tile."""

MINUTE_S = 60
"""After how many seconds of ends their rate is shown; that of a shorter time jumps."""

BIG_HEIGHT = 9
"""From how many rows on the percentage is in large digits."""

DIGITS = {
    "0": "█▀█ █ █ ▀▀▀", "1": "▀█   █  ▀▀▀", "2": "▀▀█ █▀▀ ▀▀▀", "3": "▀▀█  ▀█ ▀▀▀",
    "4": "█ █ ▀▀█   ▀", "5": "█▀▀ ▀▀█ ▀▀▀", "6": "█▀▀ █▀█ ▀▀▀", "7": "▀▀█   █   ▀",
    "8": "█▀█ █▀█ ▀▀▀", "9": "█▀█ ▀▀█ ▀▀▀", "%": "▀ ▄ ▄▀  ▀ ▀",
}  # fmt: skip
"""Large digits: three rows of three columns, one blank apart."""


class WallJob(Struct, frozen=True):
    """A job on the wall, read at one moment; `rate` is that of all its stages."""

    job: JobSummary
    status: str
    progress: RunningProgress = NO_PROGRESS
    rate: StageRate | None = None
    end: Range | None = None
    nodes_down: Sequence[str] = ()
    """The nodes that are down and have files that it waits for."""
    trouble: FailureView | None = None
    is_followed: bool = False
    obstacle: str = ""
    """What stops it, if it stands still or is a broken task."""
    stragglers: Sequence[Straggler] = ()

    @property
    def counts(self) -> Counts:
        """What its bar shows: packages, or of a task its files."""
        return task_rows.counts(self.job)

    @property
    def earned(self) -> float:
        """The finished parts of running packages, in what its bar shows."""
        return task_rows.earned(self.job, self.progress.percents)

    @property
    def percent(self) -> int:
        """How much of it is done, with the finished parts of running packages."""
        return signs.percent(self.counts, self.earned)


class Grid(Struct, frozen=True):
    """How tiles are laid out."""

    across: int
    width: int
    height: int


def grid(jobs: int, columns: int, rows: int) -> Grid:
    """Return the layout in which the tiles of so many jobs are largest."""
    most = max(1, (columns + GAP) // (LEAST_WIDTH + GAP))
    found = [Grid(most, _wide(columns, most), LEAST_HEIGHT)]
    for across in range(min(most, max(1, jobs)), 0, -1):
        down = -(-max(1, jobs) // across)
        height = min(TALLEST, (rows + 1) // down - 1)
        if height >= LEAST_HEIGHT:
            found.append(Grid(across, _wide(columns, across), height))
    return max(found, key=lambda layout: (layout.height, layout.width))


def _wide(columns: int, across: int) -> int:
    return (columns - GAP * (across - 1)) // across


def lines(jobs: Sequence[WallJob], columns: int, rows: int, now: float, glyphs: Glyphs
          ) -> list[Line]:  # fmt: skip
    """Return the wall, with a blank row between tiles."""
    layout = grid(len(jobs), columns, rows)
    found: list[Line] = []
    for first in range(0, len(jobs), layout.across):
        tiles = [tile(job, layout.width, layout.height, now, glyphs)
                 for job in jobs[first : first + layout.across]]  # fmt: skip
        if found:
            found.append(())
        for parts in zip(*tiles, strict=True):
            line: list[Span] = [*parts[0]]
            for number, part in enumerate(parts[1:], 1):
                line += [(" " * (number * (layout.width + GAP) - width(line)), ""), *part]
            found.append(tuple(line))
    return found


def nodes_down(nodes: Sequence[NodeLine], glyphs: Glyphs) -> Line:
    """Name the nodes that are down, and why each is."""
    if not nodes:
        return ()
    names = [foreign(f"{node.name} ({node.note})" if node.note else node.name) for node in nodes]
    down = count(len(nodes), "node")
    return (("  ", ""), (f"{glyphs.states['down']} {down} down: {', '.join(names)}", "bad"))


def tile(wall_job: WallJob, columns: int, height: int, now: float, glyphs: Glyphs) -> list[Line]:
    """Return a tile of this size."""
    job, counts = wall_job.job, wall_job.counts
    role = signs.role(wall_job.status)
    bell = f" {glyphs.bell}" if wall_job.is_followed else ""
    status = signs.mark(wall_job.status, glyphs)
    room = columns - width(status) - len(bell) - 2
    name = cut_middle(foreign(job.name), max(1, room), ellipsis=glyphs.ellipsis)
    head: list[Span] = [(f"{name}{bell} ", "title"), *status, (" ", "")]
    head.append((glyphs.rule * max(0, columns - width(head)), role))
    done, total = by_status(counts)["successful"], sum(counts.values())
    of = " files" if task_rows.has_files(job) else ""
    numbers: list[Span] = [(f"{wall_job.percent}%", "strong")]
    numbers.append((f"  {signs.short(done)}/{signs.short(total)}{of}", "plain"))
    if end := _end(wall_job, now):
        numbers.append((f"  {end}", "plain"))
    bar = tuple(signs.bar(counts, columns, glyphs, wall_job.earned))
    is_big = height >= BIG_HEIGHT and glyphs is not ASCII
    body: list[Sequence[Span]] = [head]
    if is_big:
        body += _large(f"{wall_job.percent}%", _tally(job), role)
    body += [bar] * (2 if is_big else 1)
    is_tallied = is_big and not task_rows.tally(job)
    body += [
        numbers,
        _rate(wall_job, glyphs, is_tallied=is_tallied),
        *([(foreign(text), "warn")] for text in kept_back_by(job, now)),
        _trouble(wall_job, now, glyphs),
    ]
    body += [()] * (height - len(body))
    return [fit(line, columns, ellipsis=glyphs.ellipsis) for line in body[:height]]


def _tally(job: JobSummary) -> list[Span]:
    """Return the numbers of packages, or of a task's files; of failed ones, how many were seen."""
    if of_task := task_rows.tally(job):
        return of_task
    cells = signs.tally(job.counts, blocked=job.blocked)
    if job.acknowledged and job.counts.get("failed"):
        failed, role = cells[0]
        cells[0] = f"{failed}, {signs.short(job.acknowledged)} acknowledged", role
    return cells


def _large(text: str, tally: Sequence[Span], role: str) -> list[list[Span]]:
    """Return a text in large digits, and beside each of its rows a number of packages."""
    rows = [" ".join(DIGITS[sign][4 * row : 4 * row + 3] for sign in text) for row in range(3)]
    cells = [*tally[:3], ("", ""), ("", ""), ("", "")]
    return [[(f"{row}   ", role), cells[number]] for number, row in enumerate(rows)]


def _end(job: WallJob, now: float) -> str:
    if job.job.ended is not None:
        return f"ended {clock(job.job.ended, now)}"
    if job.end is None or job.status in STOPPED:
        is_late = bool(job.stragglers) and job.status not in STOPPED
        return waits(job.nodes_down) or (LATE if is_late else "")
    if job.end.high <= now:
        return signs.LATE
    low, high = (clock(at, now, short=True) for at in (job.end.low, job.end.high))
    middle = clock(job.end.middle, now, short=True)
    return f"ends {middle}" + (f" ({low} to {high})" if low != high else "")


def _rate(job: WallJob, glyphs: Glyphs, *, is_tallied: bool) -> list[Span]:
    """Return running packages, those with problems, and the rate; failed ones if not tallied."""
    counts = job.job.counts
    spans: list[Span] = []
    if running := signs.launched(counts)[0][0]:
        spans.append((f"{glyphs.states['running']} {signs.short(running)}  ", "live"))
    if is_tallied:
        counts = {phase: number for phase, number in counts.items() if phase != "failed"}
    acknowledged = 0 if is_tallied else job.job.acknowledged
    for badge, role in signs.badges(counts, glyphs, acknowledged, len(job.stragglers)):
        spans.append((f"{badge}  ", role))
    if job.rate is not None and job.rate.seconds >= MINUTE_S:
        spans.append((rate(job.rate), "plain"))  # as `status` has it
    return spans


def _trouble(job: WallJob, now: float, glyphs: Glyphs) -> list[Span]:
    if job.obstacle:
        return [(f"{glyphs.states['failed']} {foreign(job.obstacle)}", "bad")]
    if (failed := job.trouble) is None:
        return _straggler(job, now, glyphs)
    return [
        (f"{glyphs.states['failed']} {clock(failed.ended, now, short=True)} ", "bad"),
        (f"{foreign(failed.path)} ", "strong"), (foreign(failed.reason or ""), "bad"),
        (f" {foreign(failed.node_name)}", "plain"),
    ]  # fmt: skip


def _straggler(job: WallJob, now: float, glyphs: Glyphs) -> list[Span]:
    """Name the package that has been a straggler for longest."""
    if not job.stragglers:
        return []
    first = job.stragglers[0]
    sign, role = signs.glyph(signs.STRAGGLER, glyphs)
    return [
        (f"{sign} {clock(first.started, now, short=True)} ", role),
        (f"{foreign(first.path)} ", "strong"), (signs.STRAGGLER, role),
        (f" {foreign(first.node)}", "plain"),
    ]  # fmt: skip
