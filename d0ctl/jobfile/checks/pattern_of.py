"""The pattern that some names have in common, for advice."""

import re
import string
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile


def pattern_of(names: Sequence[str], without: Collection[str]) -> str:
    """Return a pattern that matches these names, but not others; empty if there is none."""
    first = _beginning(names).rstrip(string.digits)
    last = _beginning([name[::-1] for name in names])[::-1].lstrip(string.digits)
    pattern = f"{first}*{last}" if len(set(names)) > 1 else names[0]
    is_plain = re.fullmatch(r"[\w./*+-]+", pattern) and not pattern.startswith("-")
    matches = all(fnmatchcase(name, pattern) for name in names)
    matches_others = any(fnmatchcase(name, pattern) for name in without)
    return pattern if is_plain and matches and not matches_others else ""


def _beginning(names: Sequence[str]) -> str:
    """Return what all names begin with."""
    lowest, highest = min(names), max(names)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(lowest, highest, strict=False))
    return "".join(sign for sign, _ in alike)
