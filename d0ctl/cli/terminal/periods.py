"""The past that `--since` names: a length of time, or the day or time at which it began."""

import re
import time
from datetime import datetime, timedelta

from d0ctl.errors import BadUsage
from d0ctl.units import parse_period

_DAYS = {"today": 0, "yesterday": 1}
_DATE = r"(?a)\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?"


def length(since: str | None) -> float | None:
    """Return the seconds of `--since`; None without it. Raises BadUsage."""
    return None if since is None else period(since)


def period(since: str) -> float:
    """Return the seconds of `--since`. Raises BadUsage."""
    try:
        return parse_since(since, time.time())
    except ValueError as error:
        raise BadUsage(f"`--since`: {error}") from None


def parse_since(text: str, now: float) -> float:
    """Read a period, or the local day or time at which it began; return its seconds until now.

    Such as `7d`, `today`, `yesterday`, `2026-11-27` or `2026-11-27 18:00`. Raises ValueError.
    """
    word = text.strip()
    if word in _DAYS:
        day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
        return now - (day - timedelta(days=_DAYS[word])).timestamp()
    if not re.fullmatch(_DATE, word):
        return parse_period(text)
    try:
        seconds = now - datetime.fromisoformat(word).timestamp()
    except ValueError as error:
        raise ValueError(f"`{word}` is not in the calendar: {error}") from None
    if seconds < 0:
        raise ValueError(f"`{word}` is in the future")
    return seconds
