"""How full caches become."""

from collections.abc import Sequence

from d0ctl.schedule.disk_profile import HORIZON_S, Profile
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.store.files.selected_files import CONTROL
from d0ctl.units import count, duration, moment, size

STEP_S = 3600.0
"""The time of a row."""


def draw(sheet: Sheet, profiles: Sequence[Profile], now: float, *, is_whole: bool) -> None:
    """Draw a line for each cache; the whole profile has a row for each hour that changes it."""
    sheet.head("caches", f"the next {count(round(HORIZON_S / 3600), 'hour')}")
    sheet.table([_line(profile, now) for profile in profiles])
    for profile in profiles if is_whole else ():
        holds = "" if profile.cache.free is None else f", of {size(profile.cache.holds)}"
        sheet.head(profile.cache.name, f"the most in each hour{holds}")
        sheet.table([_row(profile, at, has, now, sheet) for at, has in profile.rows(STEP_S)])


def _line(profile: Profile, now: float) -> list[Cell]:
    cache, (peak_s, peak) = profile.cache, profile.peak
    space = f" of {size(cache.space)}" if cache.space is not None else ""
    space += f", {size(cache.free)} free on its disk" if cache.free is not None else ""
    grows = "does not grow"
    if peak > cache.used:
        grows = f"up to {size(peak)} at {moment(now + peak_s, now)}"
    full: Cell = ""
    if profile.full_s is not None:
        when = f"in {duration(profile.full_s)}" if profile.full_s else "now"
        full = (
            f"full {when}, {size(peak - (cache.holds or 0))} too much",
            "bad",
        )
    name = f"{cache.name} (this machine)" if cache.name == CONTROL else cache.name
    return [(name, "strong"), f"{size(cache.used)}{space}", grows, full]


def _row(profile: Profile, at_s: float, has: int, now: float, sheet: Sheet) -> list[Cell]:
    holds = profile.cache.holds
    part = "" if not holds else f"{has / holds:.0%}"
    gauge: Cell = signs.gauge(min(1.0, has / holds), 20, sheet.glyphs) if holds else ""
    return [(moment(now + at_s, now), "faint"), size(has), part, gauge]
