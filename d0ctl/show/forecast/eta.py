"""The page of the estimate of a job: when it ends, what limits that, and its stages."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from d0ctl.schedule.estimates import JobLeft, Range, StageLeft
from d0ctl.schedule.horizon import Horizon
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.forecast.estimates import (
    UNDRIVEN,
    end,
    per_minute,
    sizes,
    unknown_packages,
    verdict,
)
from d0ctl.store.views.job_files.eta import at
from d0ctl.units import count, duration, listed

if TYPE_CHECKING:
    from d0ctl.schedule.quota import Limit


def draw(
    sheet: Sheet, of: Horizon, job: int, names: Mapping[int, str], now: float, *, driven: bool
) -> None:
    """Draw when a job ends, what limits it, and how long its stages take.

    If its end has no estimate, there are no figures that would limit it, only the known work.
    """
    left = of.jobs[job]
    interval = of.end(job) if driven else None
    sheet.head(left.name, verdict(of, job, left, interval, names, now) if driven else UNDRIVEN)
    if left.has_any:
        rows: list[list[Cell]] = [[("left of it", "faint"), work]] if (work := _work(left)) else []
        alone = max((stage.alone.middle for stage in left.stages), default=0.0)
        if alone and not left.nodes_down:
            until = f"packages on nodes that take no new ones end in {duration(alone)}"
            rows.append([("already there", "faint"), until])
        sheet.table([*rows, *_limits(of, job, interval)])
    if left.held or left.stuck:
        sheet.say(f"not counted: {_not_counted(left)}")
    stages: list[list[Cell]] = [
        [names.get(stage.seq, str(stage.seq)), count(stage.packages, "package"),
         each(stage), sizes(stage.sizes),
         f"from {count(stage.runs, 'run')}" if stage.runs and stage.seconds is not None else "",
         end(at(of.stage_end(job, stage.seq), now), now) * driven]
        for stage in left.stages
        if stage.packages
    ]  # fmt: skip
    if stages:
        sheet.head("packages that have not begun")
        sheet.table(stages)


def _limits(of: Horizon, job: int, interval: Range | None) -> list[list[Cell]]:
    """Return what limits the estimated end of a job; nothing without an estimate."""
    if interval is None:
        return []
    capacity = of.capacity
    throttled = f", {count(len(capacity.limited), 'node')} throttled" if capacity.limited else ""
    rows: list[list[Cell]] = [
        [("before it", "faint"),
         f"{duration(of.before(job))} of jobs with a higher priority, or older"],
        [("longest chain", "faint"), f"{duration(of.jobs[job].longest_chain)} on a standard node"],
        [("nodes", "faint"),
         f"{count(capacity.cpus, 'CPU')} worth {capacity.power:,.1f} standard ones{throttled}"],
    ]  # fmt: skip
    if after := max((stage.after.middle for stage in of.jobs[job].stages), default=0.0):
        text = f"packages that wait for files of other jobs end in {duration(after)}"
        rows.append([("other jobs", "faint"), text])
    if limits := of.jobs[job].limits:
        rows.append([("limits", "faint"), f"at most {listed(map(_at_most, limits))}"])
    return rows


def _at_most(limit: "Limit") -> str:
    """Say how many packages a limit allows."""
    number = [] if limit.most is None else [f"{count(limit.most, 'package')} at once"]
    return listed(number if limit.rate is None else [*number, _launches(1 / limit.rate)])


def _launches(every: float) -> str:
    rare = f"a launch every {duration(every)}"
    return rare if every > 60 else f"{per_minute(1, every)} launches a minute"


def _work(left: JobLeft) -> str:
    """Say how much work is left of a job; empty if all of it waits, as for nodes that are down."""
    work = left.work
    between = f"({duration(work.low)} to {duration(work.high)})"
    known = f"{duration(work.middle)} of run time x CPUs {between} on a standard node"
    blind = sum(stage.blind for stage in left.stages)
    if not (left.unknown_packages or blind):
        return known if work.high else ""  # unknown ones wait for a person, and are not counted
    running = f"{count(blind, 'running package')} whose run time is unknown"
    more = unknown_packages(left) if left.unknown_packages else running
    # What the running packages of a stage of unknown run time need is only a guess by their age.
    unknown = left.unknown
    is_known = any(of.seq not in unknown and (of.packages or of.running) for of in left.stages)
    return f"{known}, and {more}" if work.high and is_known else more


def each(stage: StageLeft) -> str:
    """Say how long a package of a stage takes."""
    if stage.unmeasured:
        return f"run time of some unknown, such as {stage.unmeasured}"
    if (seconds := stage.seconds) is None:
        return "run time unknown"
    low, high = duration(seconds.low), duration(seconds.high)
    return f"{duration(seconds.middle)} of run time x CPUs each ({low} to {high})"


def _not_counted(left: JobLeft) -> str:
    """Say which packages run only after a person did something."""
    texts = [f"{count(left.held, 'package is', 'packages are')} held"] if left.held else []
    if left.stuck:
        others = "failed, canceled or held ones"
        texts.append(f"{count(left.stuck, 'package waits', 'packages wait')} for {others}")
    return ", ".join(texts)
