"""Estimates in words: when jobs and packages begin and end, or why that is unknown; their use."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from d0ctl.model import Counts
from d0ctl.schedule.estimates import JobLeft, Range, Sizes
from d0ctl.schedule.horizon import Horizon
from d0ctl.show.drawing.signs import estimate
from d0ctl.store.due_times import PackageTimes
from d0ctl.units import count, duration, listed, size

if TYPE_CHECKING:
    from d0ctl.store.views.activity import StageRate

ENDED = frozenset({"done", "failed", "canceled", "dropped"})
"""The phases of packages that have ended."""

LEAST_ENDS, SPREAD = 5, 1.28
"""How many ends an estimate by their rate needs, and its range in standard deviations."""

MOST_NAMED = 3
"""How many nodes or jobs a text names; it counts the rest."""

LATE = "late"
"""Said of the end of jobs and stages that wait for stragglers."""

UNDRIVEN = "no estimate of its end: no daemon is running, so nothing new starts"


def end(interval: Range | None, now: float) -> str:
    """Say when something ends, with the range; empty if unknown."""
    return "" if interval is None else f"ends {estimate(interval, now)}"


def end_without(interval: Range | None, stuck: int, now: float) -> str:
    """Say when a job ends, and that some packages have not run then; empty if unknown."""
    waiting = count(stuck, "package that waits", "packages that wait")
    lacking = f", without {waiting} for failed, canceled or held ones" if stuck else ""
    return "" if interval is None else f"{end(interval, now)}{lacking}"


def waits(nodes: Sequence[str]) -> str:
    """Say which nodes have to come back before anybody knows when a job ends; empty if none."""
    if not nodes:
        return ""
    return f"some of its packages or inputs are on {_named(nodes)} down"


def _named(names: Sequence[str]) -> str:
    """Begin what is said of nodes or jobs: `n1` and `n2`, which are."""
    first = [f"`{name}`" for name in names[:MOST_NAMED]]
    more = [f"{len(names) - MOST_NAMED:,} more"] if len(names) > MOST_NAMED else []
    return f"{listed(first + more)}, which {'is' if len(names) == 1 else 'are'}"


def unknown_packages(left: JobLeft) -> str:
    """Say how many packages of a job have an unknown run time."""
    return f"{count(left.unknown_packages, 'package')} whose run time is unknown"


def of_new_job(interval: Range | None, now: float, *, is_going: bool) -> str:
    """Say when a new job ends, if it takes a second or more; else empty."""
    if interval is None or interval.high - now < 1:
        return ""
    return f"{'' if is_going else 'started now, '}it {end(interval, now)}"


def verdict(
    of: Horizon,
    job: int,
    left: JobLeft,
    interval: Range | None,
    names: Mapping[int, str],
    now: float,
) -> str:
    """Say when a job ends, or why that is unknown."""
    if interval is not None:
        return end(interval + Range(now, now, now), now)
    if not (left.has_any or left.held):
        return "no estimate of its end" if left.stuck else "nothing is left to run"
    if of.is_late(job):
        return f"{LATE}: {count(of.stragglers(job), 'straggler')}"
    if left.is_halted:
        return "no estimate of its end: it is held or paused"
    if left.held:
        return f"no estimate of its end: {count(left.held, 'package is', 'packages are')} held"
    if left.suspended:
        suspended = count(left.suspended, "package is", "packages are")
        return f"no estimate of its end: {suspended} suspended"
    if left.nodes_down:
        return f"no estimate of its end: {waits(left.nodes_down)}"
    if left.needs_nodes and not of.capacity.power:
        taken = "suspended packages have all CPUs" if of.capacity.suspended else ""
        return f"no estimate of its end: {taken or 'no node takes packages'}"
    if left.unfit:
        return f"no estimate of its end: no node takes {count(left.unfit, 'package')} of it"
    if left.is_known() and (ahead := of.unknown_ahead(job)) is not None:
        first = f"{unknown_packages(ahead)}, and comes before it"
        return f"no estimate of its end: job `{ahead.name}` has {first}"
    if left.is_known() and left.endless_makers:
        return f"no estimate of its end: {_waits_for_files(of, left)}"
    if left.is_known():
        return "no estimate of its end: packages whose end is unknown have all CPUs"
    return f"no estimate of its end: {_unknown(left, names)}{_known(of, job, left, now)}"


def _waits_for_files(of: Horizon, left: JobLeft) -> str:
    """Say whose files a job waits for without an estimate of when they are made."""
    makers = [of.jobs[job] for job in left.endless_makers]
    if halted := [maker.name for maker in makers if maker.is_halted]:
        return f"it waits for files of {_named(halted)} held or paused"
    named = _named([maker.name for maker in makers])
    return f"it waits for files of {named} without an estimated end"


def _unknown(left: JobLeft, names: Mapping[int, str]) -> str:
    """Say of which packages the run time is unknown."""
    stages = [stage for stage in left.stages if stage.seq in left.unknown][:5]
    wholly = [f"`{names.get(of.seq, str(of.seq))}`" for of in stages if not of.unmeasured]
    texts = [f"of packages of {listed(wholly)}"] if wholly else []
    texts += [f"of packages such as `{of.unmeasured}`" for of in stages if of.unmeasured]
    return f"the run time {listed(texts)} is unknown until some are done"


def _known(of: Horizon, job: int, left: JobLeft, now: float) -> str:
    """Say when the stages end whose run time is known; empty if none has, or no estimate."""
    known = [stage.seq for stage in left.stages
             if stage.seq not in left.unknown and (stage.packages or stage.running)]  # fmt: skip
    ends = [its_end for seq in known if (its_end := of.stage_end(job, seq)) is not None]
    if not ends or len(ends) < len(known):
        return ""
    last = max(ends, key=lambda its_end: its_end.middle) + Range(now, now, now)
    return f"; the others end {estimate(last, now)}"


def rate(stage_rate: "StageRate | None") -> str:
    """Say how many packages of a stage succeed in a minute; empty if none did lately."""
    if stage_rate is None or not stage_rate.done:
        return ""
    return f"{per_minute(stage_rate.done, stage_rate.seconds)} a minute"


def pace(stage_rate: "StageRate", counts: Counts, now: float, *, with_end: bool) -> str:
    """Say how fast packages of a stage end and fail, and `with_end` when it ends if that goes on.

    That is for stages without an estimate, which would be another one, and in which all packages
    may move. The range holds the rates that give so many ends in four of five cases.
    """
    rates = f"{per_minute(stage_rate.ended, stage_rate.seconds)} a minute end"
    if stage_rate.failed:
        rates += f", {per_minute(stage_rate.failed, stage_rate.seconds)} a minute fail"
    rates += f" (last {duration(stage_rate.seconds)})"
    left = sum(number for phase, number in counts.items() if phase not in ENDED)
    is_stuck = counts.get("unreachable") or counts.get("held")
    if not left or is_stuck or not with_end or stage_rate.ended < LEAST_ENDS:
        return rates
    middle, spread = left * stage_rate.seconds / stage_rate.ended, SPREAD / stage_rate.ended**0.5
    times = Range(middle / (1 + spread), middle, middle / (1 - spread)) + Range(now, now, now)
    return f"{rates}; at this rate it {end(times, now)}"


def per_minute(number: int, seconds: float) -> str:
    """Write a rate per minute."""
    value = 60 * number / seconds
    return count(round(value)) if value >= 10 else f"{value:.1f}".removesuffix(".0")


def of_package(path: str, times: PackageTimes | None, now: float) -> str | None:
    """Say when a package begins and ends; None if unknown."""
    if times is None:
        return None
    if times.wall_time is not None:
        return reaches_wall_time(times.wall_time, times.end.middle, now)
    if times.start is None:
        return f"`{path}` {end(times.end, now)}"
    if times.start.high <= now:  # it waits for something else than CPUs
        return f"`{path}` takes {_about(times.end + Range(-now, -now, -now))} once it begins"
    return f"`{path}` begins {estimate(times.start, now)} and {end(times.end, now)}"


def _about(seconds: Range) -> str:
    """Write a time with its range."""
    if seconds.high < 1:
        return "less than a second"
    low, middle, high = map(duration, (seconds.low, seconds.middle, seconds.high))
    return f"about {middle}" + (f" ({low} to {high})" if low != high else "")


def reaches_wall_time(wall_time: float, until: float, now: float) -> str:
    """Say that a package will be ended by its wall time."""
    return (f"at this rate it does not end before its wall time of {duration(wall_time)}: "
            f"it is ended in {duration(max(0.0, until - now))}")  # fmt: skip


def sizes(amounts: Sizes) -> str:
    """Say how much memory and disk a package uses; empty if nothing is known."""
    parts = [
        f"{size(use.middle)} of {resource} ({size(use.low)} to {size(use.high)})"
        for resource, use in (("memory", amounts.memory), ("outputs", amounts.output),
                              ("work files", amounts.work))
        if use is not None and use.high
    ]  # fmt: skip
    return listed(parts)
