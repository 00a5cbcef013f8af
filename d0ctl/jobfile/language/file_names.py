"""The only place that knows what a file may be called."""

import re

from d0ctl.jobfile.language.field_types import WrongError
from d0ctl.jobfile.yaml.faults import shown

_SEGMENT = "[A-Za-z0-9_][A-Za-z0-9_.+=,@%-]*"
_PLAIN = re.compile(f"{_SEGMENT}(?:/{_SEGMENT})*").fullmatch
_PLAIN_PATH = re.compile(f"/?{_SEGMENT}(?:/{_SEGMENT})*").fullmatch
_CONTROL = re.compile("[\x00-\x1f\x7f]").search
_FOREIGN = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(.*)", re.ASCII | re.DOTALL)

MOST_IN_A_BASE_NAME = 255
"""Bytes of a base name, as file systems have it."""

MOST_IN_A_PATH = 4000


def base_name(file: str) -> str:
    """Return the name under which a file lies in an attempt's directory."""
    name = file[file.rfind("/") + 1 :]
    if ":" in name and name == file and (found := _FOREIGN.fullmatch(file)):
        return found[2]
    return name


def foreign(file: str) -> tuple[str, str] | None:
    """Return job and name of a file made in another job, written `JOB:NAME`."""
    found = _FOREIGN.fullmatch(file) if ":" in file else None
    return (found[1], found[2]) if found else None


def is_pattern(file: str) -> bool:
    """Tell whether a late output's name stands for others; one that does not is a plain name."""
    return any(sign in file for sign in "*?[")


def output_name(file: str) -> str:
    """Return an output's name without `./` and doubled `/`; raises WrongError where it can't be."""
    if _PLAIN(file) and len(file) <= MOST_IN_A_BASE_NAME:
        return file
    _judge(file)
    if file.startswith("/"):
        raise WrongError(f"output {shown(file)} must be relative to where the binary runs")
    parts = [part for part in file.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise WrongError(f"output {shown(file)} must not leave its directory by `..`")
    if not parts or file.endswith(("/", "/.")):
        raise WrongError(
            f"output {shown(file)} names a directory: pack it into one file, as "
            "`tar -cf NAME.tar NAME` does, and declare that"
        )
    if foreign(file):
        raise WrongError(f"output {shown(file)} reads like a file of another job, `JOB:NAME`")
    return "/".join(parts)


def input_name(file: str) -> str:
    """Return an input's name without leading `./`; raises WrongError where it can't be."""
    if _PLAIN_PATH(file) and len(file) <= MOST_IN_A_BASE_NAME:
        return file
    _judge(file)
    while file.startswith("./") and not foreign(file[2:]):
        file = file[2:].lstrip("/")
    if not base_name(file) or base_name(file) in (".", ".."):
        raise WrongError(f"input {shown(file)} names a directory, not a file")
    named = foreign(file)
    if named and named[1].startswith("/"):
        raise WrongError(f"input {shown(file)} looks like a URL, which goes under `locator`")
    return file


def _judge(file: str) -> None:
    if not file:
        raise WrongError("the name of a file is empty")
    if _CONTROL(file):
        raise WrongError(f"the file name {shown(file)} has a control character")
    if not file.isascii() and any("\ud800" <= char <= "\udfff" for char in file):
        raise WrongError(f"the file name {shown(file)} is not UTF-8")
    size = len(file.encode())
    if size > MOST_IN_A_PATH or len(base_name(file).encode()) > MOST_IN_A_BASE_NAME:
        raise WrongError(f"the file name {shown(file)} is too long")
