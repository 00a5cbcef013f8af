"""The only place that looks at the files beside a job file.

Names stay texts here and `os.path` is used: a job may have 10^6 of them, as many `Path`
objects would take longer than all the rest.
"""

# ruff: noqa: PTH100, PTH113, PTH116, PTH118, PTH123, PTH207, PTH208

import glob
import os
import stat
from itertools import islice

MOST_MATCHES = 10_000_000


def absolute(directory: str, name: str = "") -> str:
    """Return the absolute path of a name beside the job file, with no link resolved."""
    if name.startswith("/"):
        return name
    return os.path.join(directory, name) if name else os.path.abspath(directory)


def same_path(first: str, second: str) -> bool:
    """Tell whether two paths are the same but for `./` and the like."""
    return first == second or os.path.normpath(first) == os.path.normpath(second)


def is_file(path: str) -> bool:
    """Tell whether there is a file that can be read to its end."""
    return os.path.isfile(path)


def is_directory(path: str) -> bool | None:
    """Tell a directory from a file; None where there is neither."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return None


def matching(pattern: str, directory: str) -> list[str]:
    """Return the names that a glob matches, sorted, relative ones relative to `directory`."""
    try:
        found = glob.iglob(pattern, root_dir=directory, recursive=True)
        return sorted(islice(found, MOST_MATCHES))
    except (OSError, ValueError):
        return []


def beside(directory: str, name: str) -> list[str]:
    """Return the names of all that lies where `name` should, each written as `name` is."""
    head = name[: name.rfind("/") + 1]
    try:
        return [head + entry for entry in sorted(os.listdir(os.path.join(directory, head)))]
    except (OSError, ValueError):
        return []


def lines_of(path: str) -> list[str]:
    """Return the lines of a text file; raises OSError, or ValueError where it is no UTF-8."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(file)
