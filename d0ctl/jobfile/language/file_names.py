"""Rules for the names of inputs and outputs."""

import posixpath
import re
from fnmatch import fnmatchcase

from d0ctl.jobfile.language.field_types import BadValueError
from d0ctl.jobfile.yaml.faults import shown

_SEGMENT = "[A-Za-z0-9_][A-Za-z0-9_.+=,@%-]*"
_PLAIN = re.compile(f"{_SEGMENT}(?:/{_SEGMENT})*").fullmatch
_PLAIN_PATH = re.compile(f"/?{_SEGMENT}(?:/{_SEGMENT})*").fullmatch
_CONTROL = re.compile("[\x00-\x1f\x7f]").search
_FOREIGN = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(.*)", re.ASCII | re.DOTALL)

MAX_BASE_NAME_BYTES = 255
"""The limit of file systems."""

MAX_PATH_LENGTH = 4000


def base_name(file: str) -> str:
    """Return the name of a file in the directory of an attempt; a directory keeps its `/`."""
    name = file[file.rfind("/", 0, len(file) - 1) + 1 :]
    if ":" in name and name == file and (found := _FOREIGN.fullmatch(file)):
        return found[2]
    return name


def local_name(file: str, local: str | None) -> str:
    """Return the name of an input in its working directory.

    `local` is what `InputSpec` says: None for its base name, a folder with `/` at its end, or a
    name of its own.
    """
    if local is None:
        return base_name(file)
    if local.endswith("/"):
        return local + base_name(file)
    return local + "/" if file.endswith("/") else local


def path_below(file: str) -> str | None:
    """Return the folder of an input below its working directory, with `/`; None for no folder.

    A relative path keeps its folders, unless it leads out of the folder that it starts from, or
    they are a pattern.
    """
    named = foreign(file)
    folder = posixpath.normpath(named[1] if named else file).rpartition("/")[0]
    if not folder or folder.startswith("/") or ".." in folder.split("/") or is_pattern(folder):
        return None
    return folder + "/"


def renaming(file: str) -> str:
    """Check the name or folder that an input gets by `as`; a folder has `/` at its end.

    Raises ValueError for one that is not below the working directory.
    """
    try:
        name = output_name(file.removesuffix("/"))
    except BadValueError:
        raise ValueError from None
    return name + "/" if file.endswith("/") else name


def foreign(file: str) -> tuple[str, str] | None:
    """Return job and name of a file made in another job, written `JOB:NAME`."""
    found = _FOREIGN.fullmatch(file) if ":" in file else None
    return (found[1], found[2]) if found else None


def own_name(file: str) -> str:
    """Return the name of a file in the job that makes it."""
    named = foreign(file)
    return named[1] if named else file


def takes(match: str | None, name: str) -> bool:
    """Return whether a reader of a late output takes a file; `match` has one pattern per line."""
    return match is None or any(fnmatchcase(name, pattern) for pattern in match.split("\n"))


def is_pattern(file: str) -> bool:
    """Return whether the name of a late output is a pattern."""
    return any(sign in file for sign in "*?[")


def output_name(file: str) -> str:
    """Return the name of an output without `./` and `//`; a directory has `/` at its end.

    Raises BadValueError for an invalid one.
    """
    if _PLAIN(file) and len(file) <= MAX_BASE_NAME_BYTES:
        return file
    _check(file)
    if file.startswith("/"):
        raise BadValueError(f"output {shown(file)} must be a relative path")
    parts = [part for part in file.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise BadValueError(f"output {shown(file)} must not leave its directory by `..`")
    if not parts:
        raise BadValueError(f"output {shown(file)} is the whole working directory")
    if foreign(file):
        raise BadValueError(f"output {shown(file)} looks like a file of another job, `JOB:NAME`")
    return "/".join(parts) + ("/" if file.endswith(("/", "/.")) else "")


def input_name(file: str) -> str:
    """Return the name of an input without `./` in front. Raises BadValueError if it is invalid."""
    if _PLAIN_PATH(file) and len(file) <= MAX_BASE_NAME_BYTES:
        return file
    _check(file)
    written = file
    while file.startswith("./") and not foreign(file[2:]):
        file = file[2:].lstrip("/")
    if base_name(file).rstrip("/") in ("", ".", ".."):
        raise BadValueError(
            f"input {shown(written)} has no name: write that of a file or directory"
        )
    named = foreign(file)
    if named and named[1].startswith("/"):
        raise BadValueError(f"input {shown(file)} looks like a URL: write it under `locator`")
    return file


def _check(file: str) -> None:
    if not file:
        raise BadValueError("the name of a file is empty")
    if _CONTROL(file):
        raise BadValueError(f"the file name {shown(file)} has a control character")
    if not file.isascii() and any("\ud800" <= char <= "\udfff" for char in file):
        raise BadValueError(f"the file name {shown(file)} is not UTF-8")
    size = len(file.encode())
    if size > MAX_PATH_LENGTH or len(base_name(file).encode()) > MAX_BASE_NAME_BYTES:
        raise BadValueError(f"the file name {shown(file)} is too long")
