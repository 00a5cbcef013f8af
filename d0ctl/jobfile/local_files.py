"""The files beside a job file, and glob matching.

Names stay texts and `os.path` is used: a job may have 10^6 of them, and as many `Path`
objects would take longer than everything else.
"""

# ruff: noqa: PTH100, PTH113, PTH116, PTH118, PTH122, PTH123, PTH208

import fnmatch
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote

from msgspec import Struct

from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.language.file_names import input_name
from d0ctl.jobfile.yaml.faults import shown
from d0ctl_wrapper.host import packing

MAX_ENTRIES = 1_000_000
"""The number of directory entries that one glob may read."""

MAX_SEARCH_S = 20.0
"""The time that one glob may take."""


_INTERPRETERS = {".py": "python3", ".pl": "perl", ".R": "Rscript"}
"""What reads scripts that shells can't, by the ends of their names."""


class TooWideError(Exception):
    """A glob that would read too much; the message says which one, and what."""


class Bounds(Struct):
    """The remaining budget of one glob: directory entries, and time on the monotonic clock."""

    pattern: str
    entries: int
    until: float

    def spend(self) -> None:
        """Count one entry. Raises TooWideError if it is one too many, or the time is over."""
        self.entries -= 1
        if self.entries < 0:
            raise self._too_wide("it reads too many directory entries")
        if self.entries % 1024 == 0 and time.monotonic() > self.until:
            raise self._too_wide("the search takes too long")

    def _too_wide(self, reason: str) -> TooWideError:
        way_out = "begin it in a smaller folder"
        return TooWideError(f"the glob {shown(self.pattern)} is too wide: {reason}; {way_out}")


def absolute(directory: str, name: str = "") -> str:
    """Return the absolute path of a name beside the job file, without resolving links."""
    if name.startswith("/"):
        return name
    return os.path.join(directory, name) if name else os.path.abspath(directory)


def same_path(first: str, second: str) -> bool:
    """Return whether two paths differ only in `./` and the like."""
    return first == second or os.path.normpath(first) == os.path.normpath(second)


def is_file(path: str) -> bool:
    """Return whether there is a regular file."""
    return os.path.isfile(path)


def size_of(path: str) -> int | None:
    """Return the size of a file, or of the files in a directory; None if there is none."""
    try:
        if path.endswith("/"):
            return packing.size(os.fsencode(path))
        return os.stat(path).st_size
    except (OSError, ValueError):
        return None


def is_program(path: str) -> bool:
    """Return whether the owner of a file may execute it."""
    return bool(os.stat(path).st_mode & stat.S_IXUSR)


def interpreter_of(path: str, *, by_shell: bool) -> str:
    """Return the program that should read a script without a `#!` line; empty if none should.

    A shell reads such a script itself, so that it only has to be one for this shell.
    """
    program = _INTERPRETERS.get(os.path.splitext(path)[1], "" if by_shell else "sh")
    if not program:
        return ""
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError:
        return ""
    return "" if head.startswith(b"#!") or b"\0" in head else program


def as_typed(path: str) -> str:
    """Return a path as it is typed in a shell: relative to the current folder if that has it."""
    try:
        return quote(path.removeprefix(f"{Path.cwd()}/"))
    except OSError:  # the folder was removed
        return quote(path)


def is_directory(path: str) -> bool | None:
    """Return whether a path is a directory; None if it does not exist."""
    try:
        return stat.S_ISDIR(os.stat(path.rstrip("/") or "/").st_mode)
    except (OSError, ValueError):
        return None


def matching(pattern: str, directory: str) -> list[str]:
    """Return the names that a glob matches, sorted, relative ones relative to `directory`.

    `**` stands for any number of folders, except links. Raises TooWideError
    for more than MAX_ENTRIES entries, or MAX_SEARCH_S.
    """
    bounds = Bounds(pattern, MAX_ENTRIES, time.monotonic() + MAX_SEARCH_S)
    head = "/" if pattern.startswith("/") else ""
    parts = [part for at, part in enumerate(pattern.split("/")) if part or at == pattern.count("/")]
    try:
        return sorted(set(_matches(head, tuple(parts), directory, bounds)))
    except ValueError:
        return []


def _matches(head: str, parts: tuple[str, ...], directory: str, bounds: Bounds) -> Iterator[str]:
    """Find the matches of the parts of a pattern below `head`, which ends with `/` or is empty."""
    part, rest = parts[0], parts[1:]
    if not part:
        if head and is_directory(os.path.join(directory, head)):
            yield head
    elif part == "**":
        for folder in _folders(head, directory, bounds):
            if rest:
                yield from _matches(folder, rest, directory, bounds)
            else:
                yield from (folder + entry.name for entry in _listed(folder, directory, bounds))
    elif not re.search(r"[*?\[]", part):
        if os.path.lexists(os.path.join(directory, head + part)):
            yield from _below(head + part, rest, directory, bounds)
    else:
        begin = re.split(r"[*?\[]", part, maxsplit=1)[0]
        fits = None  # is compiled only for a name that begins so: that takes 0.1 ms
        for entry in _listed(head, directory, bounds, part.startswith(".")):
            if not entry.name.startswith(begin):
                continue
            fits = fits or re.compile(fnmatch.translate(part)).match
            if fits(entry.name) and (not rest or is_directory(entry.path)):
                yield from _below(head + entry.name, rest, directory, bounds)


def _below(name: str, rest: tuple[str, ...], directory: str, bounds: Bounds) -> Iterator[str]:
    if rest:
        yield from _matches(f"{name}/", rest, directory, bounds)
    else:
        yield name


def _listed(
    folder: str, directory: str, bounds: Bounds, hidden: bool = False
) -> Iterator[os.DirEntry[str]]:
    """List a folder, hidden entries only on request; one that can't be read is empty."""
    try:
        with os.scandir(os.path.join(directory, folder)) as found:
            for entry in found:
                bounds.spend()
                if hidden or not entry.name.startswith("."):
                    yield entry
    except OSError:
        return


def _folders(head: str, directory: str, bounds: Bounds) -> Iterator[str]:
    """Iterate over a folder and all folders below it, each with `/` at its end."""
    pending = [head]
    while pending:
        folder = pending.pop()
        yield folder
        pending += [
            f"{folder}{entry.name}/"
            for entry in _listed(folder, directory, bounds)
            if entry.is_dir(follow_symlinks=False)
        ]


def beside(directory: str, name: str) -> list[str]:
    """Return the names of all entries of the folder of `name`, with that folder in front."""
    head = name[: name.rfind("/") + 1]
    try:
        return [head + entry for entry in sorted(os.listdir(os.path.join(directory, head)))]
    except (OSError, ValueError):
        return []


def lines_of(path: str) -> list[str]:
    """Return the lines of a text file. Raises OSError, or ValueError if it is not UTF-8."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(file)


class Globs:
    """The files beside the job file that patterns match.

    Each pattern is searched once, so that the expansion gets the files of the check. After one
    that is too wide, no other is searched.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._found: dict[str, tuple[str, ...]] = {}
        self._unfit: dict[str, str] = {}
        self._too_wide = ""

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Return the files that match and may be inputs."""
        if pattern not in self._found:
            self._found[pattern] = tuple(self._search(pattern))
        return self._found[pattern]

    def problem(self, pattern: str) -> str | None:
        """Return why a pattern gives no file, or not all of its files; None if it does."""
        names = self.matching(pattern)
        if pattern in self._unfit:
            return self._unfit[pattern]
        return None if names else self._too_wide or f"no file matches {shown(pattern)}"

    def _search(self, pattern: str) -> Iterable[str]:
        try:
            paths = [] if self._too_wide else matching(pattern, self._directory)
        except TooWideError as error:
            self._too_wide = str(error)
            return
        for name in paths:
            path = absolute(self._directory, name)
            if name.endswith("/") or is_file(path):
                try:
                    input_name(name)
                    yield name
                except BadValueError as error:
                    self._unfit[pattern] = str(error)
