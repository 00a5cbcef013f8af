"""The types of fields: how their texts become numbers, flags, times and other values."""

import enum
import math
import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from msgspec import Struct

from d0ctl.jobfile.spec import Acquire, Disposition, MailMode
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.units import parse_fraction, parse_size, parse_time
from d0ctl_wrapper.protocol import checksum, locator

JOB_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*", re.ASCII)
LOOP_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
SOFTWARE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._+-]*)/([A-Za-z0-9][A-Za-z0-9._+-]*)", re.ASCII)
"""The name and the version of software."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
YES = ("yes", "true", "on")
"""How people write that something is so."""

_FLAGS = {**dict.fromkeys(YES, True), "no": False, "false": False, "off": False}
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)

MAX_NAME_LENGTH = 200
"""The longest name of a job, stage, line, package, binary or node, in characters."""

_E = TypeVar("_E", bound=enum.StrEnum)


def split_names(text: str) -> tuple[str, ...]:
    """Split a text into its words."""
    return tuple(text.split())


class BadValueError(ValueError):
    """A refused value; the message is the reason."""


class FieldType(Struct, frozen=True):
    """How the text of a field is converted; `convert` raises ValueError for a wrong one."""

    convert: Callable[[str], Any]
    expected: str


def accepting(check: Callable[[str], object]) -> Callable[[str], str]:
    """Make a converter that returns the texts that pass a check as they are."""

    def convert(value: str) -> str:
        if not check(value):
            raise ValueError
        return value

    return convert


def matching(form: str) -> Callable[[str], str]:
    """Make a converter that accepts texts that match an expression as a whole."""
    return accepting(re.compile(form, re.ASCII).fullmatch)


def one_of(*choices: str) -> Callable[[str], str]:
    """Make a converter that accepts some words."""
    return accepting(choices.__contains__)


text = accepting(bool)
"""Accepts any text that is not empty."""


def _is_line(value: str) -> bool:
    return bool(value.strip()) and value.isprintable()


def _is_image(value: str) -> bool:
    return bool(value) and value.isprintable() and " " not in value and value[0] != "-"


def label(value: str) -> str:
    """Accept a name of a stage, line, package or binary."""
    if not _is_line(value) or "/" in value:
        raise ValueError
    if len(value) > MAX_NAME_LENGTH:
        raise BadValueError(f"the name {shown(value)} is longer than {MAX_NAME_LENGTH} characters")
    return value


def line_reference(value: str) -> tuple[str, str]:
    """Accept a stage and a line of it, e.g. `gen/3`, `gen/n=7` or `gen/=`."""
    stage, slash, line = value.partition("/")
    if not slash:
        raise BadValueError(
            f"{shown(value)} is not a line, such as `{value}/3`, `{value}/NAME` or `{value}/=`; "
            "beside the `lines` of a stage, `after` takes whole stages"
        )
    return label(stage), label(line)


def job_name(value: str) -> str:
    """Accept a name of a job."""
    if not JOB_NAME.fullmatch(value) or len(value) > MAX_NAME_LENGTH:
        raise ValueError
    return value


def flag(value: str) -> bool:
    """Convert yes or no, as people and JSON write them."""
    if value.lower() not in _FLAGS:
        raise ValueError
    return _FLAGS[value.lower()]


def whole(least: int, most: int) -> Callable[[str], int]:
    """Make a converter of whole numbers within bounds."""

    def convert(value: str) -> int:
        if not _WHOLE.fullmatch(value) or not least <= int(value) <= most:
            raise ValueError
        return int(value)

    return convert


def word(choices: type[_E], but: Collection[_E] = ()) -> FieldType:
    """Make the type of a field that takes one of a few words."""
    known = [choice for choice in choices if choice not in but]

    def convert(value: str) -> _E:
        if value not in known:
            names = ", ".join(f"`{choice}`" for choice in known)
            raise BadValueError(f"{shown(value)} is not one of {names}{did_you_mean(value, known)}")
        return choices(value)

    return FieldType(convert, "a known word")


def pattern(value: str) -> str:
    """Accept a regular expression that compiles."""
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadValueError(f"{shown(value)} is not a regular expression: {error}") from error
    return value


def native(value: str, plain: bool) -> Any:
    """Convert a scalar as JSON would: numbers, true, false and null, else text."""
    if not plain:
        return value
    if value in ("true", "false"):
        return value == "true"
    if value in ("", "null", "~"):
        return None
    if found := _NUMBER.fullmatch(value):
        is_whole = not found[2] and not found[3] and len(value) <= 18
        number = int(value) if is_whole else float(value)
        return number if math.isfinite(number) else value
    return value


def checked(check: Callable[[str], str]) -> Callable[[str], str]:
    """Make a converter from a check that nodes use as well, with its messages."""

    def convert(value: str) -> str:
        try:
            return check(text(value))
        except ValueError as error:
            raise BadValueError(f"{shown(value)} {error}") from error

    return convert


def positive_time(text: str) -> float:
    """Convert a time greater than 0."""
    if not (seconds := parse_time(text)):
        raise BadValueError(f"{shown(text)} is not a time of more than 0")
    return seconds


def unfit_variable(name: str) -> str | None:
    """Return why an environment variable can't have a name; None if it can."""
    if not name.isidentifier() or not name.isascii():
        return f"{shown(name)} is not a valid name for an environment variable"
    if name.startswith("D0CTL_"):
        return f"{shown(name)} can't be set: d0ctl sets the variables `D0CTL_*` itself"
    return None


TEXT = FieldType(text, "a text")
ONE_LINE = FieldType(accepting(_is_line), "one line without control characters")
IMAGE = FieldType(accepting(_is_image), "an image without spaces that does not begin with `-`")
LABEL = FieldType(label, "a name without `/`, line ends and control characters")
LINE = FieldType(line_reference, "a line such as `gen/3`, `gen/NAME` or `gen/=`")
JOB = FieldType(job_name, "a name of letters, digits, `_` and `-` that begins with a letter")
FLAG = FieldType(flag, "`yes` or `no`")
SIZE = FieldType(parse_size, "a size such as `200MB`, `1.5 GiB` or `4096`")
TIME = FieldType(parse_time, "a time such as `20m`, `1h30m` or `90` seconds")
POSITIVE_TIME = FieldType(
    positive_time, "a time of more than 0 such as `20m`, `1h30m` or `90` seconds"
)
FRACTION = FieldType(parse_fraction, "a fraction such as `97%` or `0.97`")
PERCENT = FieldType(whole(0, 100), "a whole number from 0 to 100")
COUNT = FieldType(whole(0, 10_000_000), "a whole number, 0 or more")
LIMIT = FieldType(whole(1, 10_000_000), "a whole number, 1 or more")
CPUS = FieldType(whole(1, 100_000), "a whole number of CPUs, 1 or more")
GPUS = FieldType(whole(0, 1000), "a whole number of GPUs")
REQUEST_TYPES = {"cpus": CPUS, "memory": SIZE, "gpus": GPUS, "disk": SIZE}
"""The types of the resources in `d0ctl.units`, by name."""
LOCATOR = FieldType(checked(locator.check), locator.EXPECTED)
CHECKSUM = FieldType(checked(checksum.normal), checksum.EXPECTED)
PATTERN = FieldType(pattern, "a regular expression")
ACQUIRE = word(Acquire)
MAIL_MODE = word(MailMode)
OUTPUT_DISPOSITION = word(Disposition)
INPUT_DISPOSITION = word(Disposition, but=(Disposition.FORWARD, Disposition.STORE))
