"""What a job would do: its stages and lines, their inputs, where it could run, how long."""

from collections.abc import Callable, Collection, Sequence
from itertools import repeat
from math import ceil

from d0ctl.jobfile.preview import LinePreview, Preview, Source, StagePreview
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.nodes.fitting import Fit
from d0ctl.store.views.job_files.forecast import Absent, RunTimes
from d0ctl.units import count, duration, listed

Counting = Callable[[str, Collection[str]], Absent]
"""Returns how many files of a job are missing or dropped."""

SHORT_S = 1.0
"""Packages shorter than this take about as long to start and to be delivered as to run."""

MOST_NAMED = 3
"""How many files or nodes are named; the rest are counted."""


def overview(sheet: Sheet, preview: Preview, fits: Sequence[Fit], earlier: RunTimes) -> None:
    """Draw each stage, and how long it all may take."""
    grouped = {stage.name for stage in preview.stages if stage.change == "open"}
    for stage in preview.stages:
        fitting = [fit for fit in fits if fit.stage == stage.name]
        _stage(sheet, stage, fitting, earlier, preview.late, grouped)
    sheet.add()
    sheet.say(_estimate(preview.stages, fits, earlier))


def _stage(
    sheet: Sheet,
    stage: StagePreview,
    fits: Sequence[Fit],
    earlier: RunTimes,
    late: Collection[str],
    grouped: Collection[str],
) -> None:
    size = count(stage.lines, "line")
    if stage.packages != stage.lines:
        size += f", {count(stage.packages, 'package')}"
    change = f", {CHANGES[stage.change]}" if stage.change else ""
    sheet.head(f"{stage.number}  {stage.name}", f"{size}{change}")
    rows: list[list[Cell]] = []
    if order := _order(stage):
        rows.append([("runs", "faint"), order])
    if stage.reads:
        files = [
            _with_late(source, names, late, earlier) + " for each group" * (source.name in grouped)
            for source, names in stage.reads.items()
        ]
        rows.append([("reads", "faint"), listed(files)])
    rows.append([("makes", "faint"), _made(stage)])
    if fits:
        rows.append([("runs on", "faint"), _nodes(fits)])
    if (each := seconds(stage, earlier)) is not None:
        rows.append([("takes", "faint"), _each(each)])
    sheet.table(rows, indent=3)


CHANGES = {
    "split": "splits its inputs",
    "merge": "merges its inputs",
    "open": "for all groups of late outputs until these are known",
}
"""The number of lines compared with that of the stages that a stage reads: more, fewer."""


def _each(seconds: float) -> str:
    return f"about {duration(seconds)} each" if seconds >= 0.05 else "less than 0.1 s each"


def _order(stage: StagePreview) -> str:
    """Return the conditions of a stage besides its position: when it runs, and how much of it."""
    conditions = [f"after {listed(f'`{name}`' for name in stage.after)}"] if stage.after else []
    if stage.lines_after:
        conditions.append(f"after lines of {listed(f'`{name}`' for name in stage.lines_after)}")
    if stage.is_final:
        conditions.append("after all other stages, whether they succeed or not")
    if stage.require < 1:
        conditions.append(f"if {stage.require * 100:g} % of the packages it reads from succeed")
    if stage.max_running is not None:
        conditions.append(f"at most {count(stage.max_running, 'package')} at a time")
    return ", ".join(conditions)


def _made(stage: StagePreview) -> str:
    if not stage.makes:
        return "only logs"
    noun = "result" if stage.makes == stage.results else "file"
    named = stage.makes - len(stage.patterns)
    files = [count(named, noun)] if named else []
    if stage.patterns:
        matching = _some([f"`{pattern}`" for pattern in stage.patterns])
        files.append(f"{noun}s that match {matching}")
    made = listed(files) + " for each group" * (stage.change == "open")
    if noun == "result" or not stage.results:
        return made
    are = "a result" if stage.results == 1 else "results"
    return f"{made}, {'some' if stage.patterns else f'{stage.results:,}'} of them {are}"


def _with_late(
    source: Source, names: Collection[str], late: Collection[str], earlier: RunTimes
) -> str:
    """Return how many files come from where; for late outputs how many there were before."""
    patterns = sorted(name for name in names if name in late)
    if not patterns:
        return _files(source, len(names))
    description = f"files that match {_some([f'`{name}`' for name in patterns])} of `{source.name}`"
    if earlier.job is not None and all(name in earlier.late for name in patterns):
        files = count(sum(earlier.late[name] for name in patterns), "file")
        description += f", {files} in `{earlier.job}`"
    named = len(names) - len(patterns)
    return f"{_files(source, named)} and {description}" if named else description


def _files(source: Source, number: int) -> str:
    """Return how many files come from where."""
    files = count(number, "file")
    match source.kind:
        case "stage":
            return f"{files} of `{source.name}`"
        case "job":
            return f"{files} of job `{source.name}`"
        case "here":
            return f"{files} beside the job file"
        case "locator":
            return f"{files} by `{source.name}:`"
        case "node":
            return f"{files} on the node"
    return f"{files} that the program fetches"


def reasons(fits: Sequence[Fit]) -> dict[str, str | None]:
    """Return why nodes will never take packages of a stage; None for one that may take some."""
    able = {name for fit in fits for name, why in fit.nodes.items() if why is None}
    return {name: None if name in able else why for fit in fits for name, why in fit.nodes.items()}


def _nodes(fits: Sequence[Fit]) -> str:
    """Return which nodes take the packages of a stage, and which do not, or never will."""
    away = {name: word for fit in fits for name, word in fit.away.items()}
    verdicts = {name: why or away.get(name) for name, why in reasons(fits).items()}
    able = [name for name, why in verdicts.items() if why is None]
    unable = {name: why for name, why in verdicts.items() if why is not None}
    summary = _some(able) if able else "no node"
    if unable:
        named = [f"{name} ({why})" for name, why in list(unable.items())[:MOST_NAMED]]
        more = [f"{len(unable) - MOST_NAMED:,} more"] if len(unable) > MOST_NAMED else []
        summary += f"; not on {listed([*named, *more])}"
    return summary


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return listed([*names[:MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def seconds(stage: StagePreview, earlier: RunTimes) -> float | None:
    """Return how long a package of a stage takes; None if nothing is known."""
    if stage.runtime and stage.packages:
        return stage.runtime / stage.packages
    return earlier.seconds.get(stage.name)


def _estimate(stages: Sequence[StagePreview], fits: Sequence[Fit], earlier: RunTimes) -> str:
    """Return how long the job may take on the nodes there are, stage by stage."""
    total, slots_seen, shortest, unknown = 0.0, 0, SHORT_S, list[str]()
    fitting = {fit.stage for fit in fits if None in fit.nodes.values()}
    if unfit := list(dict.fromkeys(f"`{fit.stage}`" for fit in fits if fit.stage not in fitting)):
        return f"no estimate: no node can run packages of {listed(unfit)}"
    for stage in stages:
        each = seconds(stage, earlier)
        cpus = max((fit.cpus for fit in fits if fit.stage == stage.name), default=0)
        if each is None or not stage.packages:
            unknown.append(f"`{stage.name}`")
            continue
        slots = max(1, cpus // max(1, stage.cpus))
        slots_seen, shortest = max(slots_seen, cpus), min(shortest, each)
        total += max(ceil(stage.packages / slots), stage.packages / max(1, stage.lines)) * each
    if unknown:
        why = "give `runtime`, or run it once"
        return f"no estimate: the run time of packages of {listed(unknown)} is unknown; {why}"
    source = (
        f" as in `{earlier.job}`"
        if earlier.job and not all(stage_preview.runtime for stage_preview in stages)
        else ""
    )
    start = "" if shortest >= SHORT_S else ", plus the start of each package"
    return (f"about {duration(total)} on {count(slots_seen, 'CPU')}{source}{start}, "
            "if nothing else runs")  # fmt: skip


def line(preview: LinePreview, absent: Counting) -> list[Cell]:
    """Return a line of a stage, in columns: its number, its loop values, what it reads, makes."""
    reads = listed(_named(source, names, absent) for source, names in preview.reads.items())
    if preview.after:
        reads += f"{', ' if reads else ''}after {_some(preview.after)}"
    return [
        (preview.path, "strong"),
        preview.name if preview.name != preview.path.rpartition("/")[2] else "",
        count(preview.packages, "package") if preview.packages > 1 else "",
        reads,
        "->",
        _some(preview.makes) if preview.makes else "nothing",
    ]


def _named(source: Source, names: Sequence[str], absent: Counting) -> str:
    """Return files by their names if they are few."""
    files = _some(names) if len(names) <= MOST_NAMED else _files(source, len(names))
    if source.kind == "job":
        missing, dropped = absent(source.name, names)
        parts = [f"job `{source.name}`"] if len(names) <= MOST_NAMED else []
        parts += [f"{missing:,} not made yet"] if missing else []
        more = ", ".join([*parts, *([f"{dropped:,} dropped"] if dropped else [])])
        return f"{files} ({more})" if more else files
    if source.kind in ("locator", "self", "node") and len(names) <= MOST_NAMED:
        where = {"locator": f"by `{source.name}:`", "self": "fetched", "node": "on the node"}
        return f"{files} ({where[source.kind]})"
    return files


def graph(sheet: Sheet, preview: Preview) -> None:
    """Draw which stage gets files from where: a row for each edge."""
    rows: list[list[Cell]] = []
    sizes = {stage.name: count(stage.lines, "line") for stage in preview.stages}
    for stage in preview.stages:
        for source, names in stage.reads.items():
            is_stage = source.kind == "stage"
            rows.append([
                (source.name, "strong") if is_stage else _files(source, len(names)),
                sizes.get(source.name, "") if is_stage else "",
                "->", (stage.name, "strong"), sizes[stage.name],
                (_number(len(names), known=names.isdisjoint(preview.late)) if is_stage else "",
                 "faint"),
            ])  # fmt: skip
        for name, how in [*zip(stage.after, repeat("after it")),
                          *zip(stage.lines_after, repeat("after lines of it"))]:  # fmt: skip
            rows.append([(name, "strong"), sizes[name], "->", (stage.name, "strong"),
                         sizes[stage.name], (how, "faint")])  # fmt: skip
        if stage.is_final:
            rows.append(["all others", "", "->", (stage.name, "strong"), sizes[stage.name],
                         ("final", "faint")])  # fmt: skip
        if not (stage.reads or stage.after or stage.lines_after or stage.is_final):
            rows.append(["nothing", "", "->", (stage.name, "strong"), sizes[stage.name], ""])
        if stage.results:
            known = not stage.patterns and stage.change != "open"
            rows.append([(stage.name, "strong"), sizes[stage.name], "->", "results", "",
                         (_number(stage.results, known=known), "faint")])  # fmt: skip
    sheet.table(rows, indent=0)


def _number(files: int, *, known: bool) -> str:
    """Return how many files there are, if that is known before late outputs are made."""
    return count(files, "file") if known else "files"


def accepted(summary: str, warnings: int) -> str:
    """Say that a job file has no faults, and how large its job is."""
    return f"ok: {summary}" + (f", {count(warnings, 'warning')}" if warnings else "")
