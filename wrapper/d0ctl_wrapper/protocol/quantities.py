"""The only place on a node where times and sizes become words for people."""

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def size(number: float) -> str:
    """Write bytes as people read them."""
    unit = _UNITS[0]
    for unit in _UNITS:
        if number < 999.5:
            break
        if unit != _UNITS[-1]:
            number /= 1000.0
    return "%.0f %s" % (number, unit) if number >= 10 or unit == "B" else "%.1f %s" % (number, unit)


def span(seconds: float) -> str:
    """Write a length of time, not more exactly than a sentence needs it."""
    if seconds < 9.95:
        return "%.1f s" % seconds
    whole = round(seconds)
    if whole < 60:
        return "%d s" % whole
    if whole < 3600:
        return "%d min" % (whole // 60)
    if whole < 86400:
        return "%d h %02d min" % (whole // 3600, whole % 3600 // 60)
    return "%d d %d h" % (whole // 86400, whole % 86400 // 3600)


def share(fraction: float) -> str:
    """Write a part of a whole."""
    return "%.0f %%" % (100.0 * fraction)
