"""Where the values of a loop come from: lists, ranges, globs, and files beside the job file."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast, overload

from d0ctl.jobfile import local_files
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.stage_advice import instead_of_glob
from d0ctl.jobfile.yaml.document import Node, Scalar
from d0ctl.jobfile.yaml.document import Sequence as ListNode
from d0ctl.jobfile.yaml.faults import did_you_mean, shown

MAX_VALUES = 10_000_000
"""The largest number of values of a loop name, and of packages of a job."""

_NUMBER = re.compile(r"-?[0-9]{1,15}", re.ASCII)


class RangeValues(Sequence[str]):
    """The numbers of a range as texts, made on demand; leading zeros are kept."""

    def __init__(self, numbers: range, width: int) -> None:
        self._numbers = numbers
        self._format = f"0{width}d" if width else "d"

    @property
    def are_plain(self) -> bool:
        """Return whether none is negative, so that a command line needs no quotes for them."""
        return min(self._numbers[0], self._numbers[-1]) >= 0

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        if self._format == "d":
            return map(str, self._numbers)
        return (format(number, self._format) for number in self._numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "RangeValues": ...
    def __getitem__(self, index: int | slice) -> "str | RangeValues":
        if isinstance(index, slice):
            raise TypeError
        return format(self._numbers[index], self._format)


Values = tuple[Sequence[Any], tuple[str, ...] | None]
"""The values of a name, and their columns if they are rows."""


def read_list(node: Node, reading: Reading) -> Sequence[str]:
    """Read the values of a list."""
    if not isinstance(node, ListNode) or not node.items:
        reading.fault(node.position, "`list` takes values, as in `list: [10, 20]`")
        return ()
    scalars = [reading.scalar(item, "a value of `list`") for item in node.items]
    return [reading.text(scalar) for scalar in scalars if scalar is not None]


def read_range(node: Node, reading: Reading) -> Sequence[str]:
    """Read a range of numbers."""
    items = node.items if isinstance(node, ListNode) else []
    scalars = [reading.scalar(item, "`range`") for item in items]
    texts = [reading.text(scalar) for scalar in scalars if scalar is not None]
    if len(texts) not in (2, 3) or not all(_NUMBER.fullmatch(text) for text in texts):
        reading.fault(node.position, "`range` takes the first and the last number, as in `[1, 5]`")
        return ()
    first, last, step = int(texts[0]), int(texts[1]), int(texts[2]) if len(texts) == 3 else 1
    numbers = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
    if not numbers:
        reading.fault(node.position, f"the range `[{', '.join(texts)}]` is empty")
    if len(numbers) > MAX_VALUES:
        message = f"the range has {len(numbers):,} numbers (at most {MAX_VALUES:,})"
        reading.fault(node.position, message)
        return ()
    padded = len(texts[0]) > 1 and texts[0].lstrip("-").startswith("0")
    return RangeValues(numbers, len(texts[0]) if padded else 0)


def read_glob(node: Node, reading: Reading) -> Sequence[str]:
    """Read the names of the files beside the job file that match a pattern."""
    scalar = reading.scalar(node, "`glob`")
    if scalar is None:
        return ()
    key = ("glob", reading.text(scalar))
    if key in reading.sources:
        return cast("list[str]", reading.sources[key])
    try:
        names = local_files.matching(reading.text(scalar), reading.directory)
    except local_files.TooWideError as error:
        reading.fault(scalar.position, str(error))
        return ()
    if not names:
        pattern = reading.text(scalar)
        advice = instead_of_glob(pattern, reading.stages)
        reading.fault(scalar.position, f"no file matches {shown(pattern)}{advice}")
    for name in names:
        if not name.isascii() and any("\ud800" <= char <= "\udfff" for char in name):
            reading.fault(scalar.position, f"the name of {shown(name)} is not UTF-8")
    reading.refuse_reserved(
        scalar.position, names, lambda number: f"the name of {shown(names[number - 1])}"
    )
    if not reading.faults:
        reading.sources[key] = names
    return names


def _read(scalar: Scalar, reading: Reading) -> list[str] | None:
    """Return the lines of a text file beside the job file."""
    name = reading.text(scalar)
    path = local_files.absolute(reading.directory, name)
    if not local_files.is_file(path):
        near_by = did_you_mean(name, local_files.beside(reading.directory, name))
        message = f"there is no file {shown(name)} {reading.faults.beside}{near_by}"
        reading.fault(scalar.position, message)
        return None
    try:
        read = local_files.lines_of(path)
    except UnicodeDecodeError:
        reading.fault(scalar.position, f"{shown(name)} is not UTF-8 text")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        reading.fault(scalar.position, f"{shown(name)} can't be read: {reason.lower()}")
    else:
        reading.refuse_reserved(
            scalar.position, read, lambda number: f"line {number:,} of {shown(name)}"
        )
        return read
    return None


def read_lines(node: Node, reading: Reading) -> Sequence[str]:
    """Read the non-empty lines of a text file beside the job file."""
    scalar = reading.scalar(node, "a list file")
    key = ("lines", reading.text(scalar) if scalar is not None else "")
    if key in reading.sources:
        return cast("list[str]", reading.sources[key])
    read = _read(scalar, reading) if scalar is not None else None
    if scalar is None or read is None:
        return ()
    values = [line.rstrip("\r\n") for line in read if line.strip()]
    if not values:
        reading.fault(scalar.position, f"{shown(reading.text(scalar))} has no lines")
    if not reading.faults:
        reading.sources[key] = values
    return values


def read_csv(node: Node, reading: Reading) -> Values:
    """Read the rows of a table beside the job file, and its columns."""
    scalar = reading.scalar(node, "`csv`")
    key = ("csv", reading.text(scalar) if scalar is not None else "")
    if key in reading.sources:
        return cast("Values", reading.sources[key])
    read = _read(scalar, reading) if scalar is not None else None
    if scalar is None or read is None:
        return (), ()
    name = shown(reading.text(scalar))
    rows: list[tuple[str, ...]] = []
    header: tuple[str, ...] = ()
    reader = csv.reader(read, strict=True)
    try:
        header = tuple(column.strip() for column in next(reader, ()))
        for row in reader:
            if row and len(row) != len(header):
                counts = f"{len(row)} values, but the header has {len(header)}"
                reading.fault(scalar.position, f"{name}: line {reader.line_num} has {counts}")
            elif row:
                rows.append(tuple(row))
    except csv.Error as error:
        reading.fault(scalar.position, f"{name}: line {reader.line_num}: {error}")
    if len(set(header)) < len(header):
        reading.fault(scalar.position, f"{name}: two columns have the same name")
    if not rows:
        reading.fault(scalar.position, f"{name} has no rows below its header")
    if not reading.faults:
        reading.sources[key] = rows, header
    return rows, header
