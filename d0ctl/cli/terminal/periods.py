"""The past that `--since` names: a length of time, or the day or time at which it began."""

import re
import time
from datetime import datetime, timedelta

from d0ctl.errors import BadUsage
from d0ctl.units import parse_period

FORMS = "`8h`, `18:00`, `today`, `yesterday`, `2026-11-27` or `'2026-11-27 18:00'`"
_DAYS = {"today": 0, "yesterday": 1}
_CLOCK = r"(?a)([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?"
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

    Such as `7d`, `today`, `yesterday`, `2026-11-27`, `2026-11-27 18:00` or `18:00`, which is the
    last such time. Raises ValueError.
    """
    word = text.strip()
    if word in _DAYS:
        day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
        return now - (day - timedelta(days=_DAYS[word])).timestamp()
    if re.fullmatch(_CLOCK, word):
        return _since_clock(word, now)
    if not re.fullmatch(_DATE, word):
        return _period(text)
    try:
        seconds = now - datetime.fromisoformat(word).timestamp()
    except ValueError as error:
        raise ValueError(f"`{word}` is not in the calendar: {error}") from None
    if seconds < 0:
        raise ValueError(f"`{word}` is in the future")
    return seconds


def _since_clock(word: str, now: float) -> float:
    """Return the seconds since a time of day, today or else yesterday."""
    hour, minute, *second = map(int, word.split(":"))
    today = datetime.fromtimestamp(now).replace(hour=hour, minute=minute, microsecond=0)
    at = today.replace(second=second[0] if second else 0)
    return now - (at if at.timestamp() <= now else at - timedelta(days=1)).timestamp()


def _period(text: str) -> float:
    """Read a length of time. Raises ValueError, which names the other forms, too."""
    try:
        return parse_period(text)
    except ValueError as error:
        fault, such_as, _ = str(error).partition(" such as ")
        raise ValueError(fault + such_as + FORMS * bool(such_as)) from None
