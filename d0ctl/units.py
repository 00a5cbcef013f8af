"""The only place where sizes, times and fractions are read from text and written as text."""

import math
import re

_SIZES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGTP]?)(i?)B?", re.IGNORECASE)
_TIMES = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_TIME = re.compile(r"(?:(\d+)d)? ?(?:(\d+)h)? ?(?:(\d+)m)? ?(?:(\d+(?:\.\d+)?)s)?", re.ASCII)
_SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_FRACTION = re.compile(r"(\d+(?:\.\d+)?) ?(%?)", re.ASCII)

MOST_BYTES = 2**63 - 1
"""What a database column holds."""

MOST_SECONDS = 100 * 366 * 86400
"""A century; more is a slip of the pen."""


def parse_size(text: str) -> int:
    """Read `200MB`, `1.5 GiB` or plain bytes; raises ValueError for anything else."""
    found = _SIZE.fullmatch(text.strip())
    if not found or (found[3] and not found[2]):
        raise ValueError(f"`{text}` is not a size such as `200MB`, `1.5 GiB` or `4096`")
    prefix = found[2].upper()
    factor = _BINARY_SIZES[prefix] if found[3] else _SIZES[prefix]
    whole, _, part = found[1].partition(".")
    if len(whole) > 19 or (size := _times(whole, part, factor)) > MOST_BYTES:
        raise ValueError(f"`{text}` is more bytes than any disk has")
    return size


def _times(whole: str, part: str, factor: int) -> int:
    """Multiply a decimal number by `factor` without the rounding of floats."""
    return int(whole) * factor + (int(part) * factor // 10 ** len(part) if part else 0)


def format_size(size: int) -> str:
    """Write bytes in the largest decimal unit that `parse_size` reads back exactly."""
    for prefix in "PTGMK":
        if size and size % _SIZES[prefix] == 0:
            return f"{size // _SIZES[prefix]}{prefix}B"
    return str(size)


def parse_time(text: str) -> float:
    """Read `20m`, `1h30m`, `90s`, `2d` or plain seconds; raises ValueError for anything else."""
    stripped = text.strip()
    if len(stripped) > 60:
        raise ValueError(f"`{stripped[:20]}...` is not a time such as `20m`, `1h30m` or `90`")
    if _SECONDS.fullmatch(stripped):
        seconds = float(stripped)
    elif stripped and (found := _TIME.fullmatch(stripped)):
        parts = zip(found.groups(), _TIMES.values(), strict=True)
        seconds = sum(float(number) * factor for number, factor in parts if number)
    else:
        raise ValueError(f"`{text}` is not a time such as `20m`, `1h30m` or `90`")
    if seconds > MOST_SECONDS:
        raise ValueError(f"`{text}` is more than a hundred years")
    return float(seconds)


def format_time(seconds: float) -> str:
    """Write seconds as `parse_time` reads them back, as in `1h30m`."""
    whole, part = int(seconds), seconds - int(seconds)
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    text = "".join(
        f"{number}{unit}" for number, unit in ((days, "d"), (hours, "h"), (minutes, "m")) if number
    )
    if part:
        return str(seconds) if math.ulp(seconds) > 1e-9 else f"{seconds:.9f}".rstrip("0")
    return f"{text}{rest}s" if rest or not text else text


def parse_fraction(text: str) -> float:
    """Read `97%` or `0.97` as 0.97; raises ValueError outside of 0 to 1."""
    found = _FRACTION.fullmatch(text.strip())
    fraction = float(found[1]) / (100 if found[2] else 1) if found else -1.0
    if not 0 <= fraction <= 1:
        raise ValueError(f"`{text}` is not a fraction such as `97%` or `0.97`")
    return fraction
