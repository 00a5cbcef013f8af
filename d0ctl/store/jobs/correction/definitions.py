"""The definition of a package as texts that can be compared, from a job file or from rows."""

import json
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from d0ctl.jobfile.language.file_names import base_name, local_name
from d0ctl.jobfile.language.quoting import without_absent
from d0ctl.jobfile.spec import GROUP, InputSpec, LineSpec, PackageSpec
from d0ctl.store.connection import Row, as_json
from d0ctl.store.jobs.submission.insertion import REQUIREMENT
from d0ctl.store.jobs.submission.intake import STARTUP
from d0ctl.store.jobs.submission.intake_rows import (
    BinaryRow,
    FileRow,
    InputRow,
    asked_by,
    binary_row,
    input_row,
    listed,
    output_row,
)

_RUNS = ("script", "shell", "argv", "software", "parameters", "image", "events", "stdin")
_WATCHED = (
    "name", "needs", "cpu", "runtime", "work_size", "log_rules", "progress", "check",
    "check_timeout",
)  # fmt: skip
_TAKES = ("acquire", "locator", "size", "checksum", "local")
_KEEPS = ("required", "disposition")
_STORES = ("dispositions", "locator", "size", "min_size", "checksum")
_GROUP_IN_JSON = json.dumps(GROUP).strip('"')
EXPECTED = frozenset(["stage", "rank", "seconds", "expected", "chain"])
"""Fields of a requirement that a package does not request."""

ASKED = tuple(name for name in REQUIREMENT if name not in EXPECTED)
"""The requests of a package to a node; its run time is expected, not requested."""


class Definition(NamedTuple):
    """The definition of a package: `recipe` is what it runs, reads and makes; `whole` also has its
    requests and guards.
    """

    recipe: bytes
    whole: bytes
    files: bytes
    """What it reads and makes, by name."""
    reads: tuple[str, ...]
    """The names of its inputs."""
    makes: tuple[str, ...]
    dispositions: tuple[tuple[str, str], ...]
    """Its files with dispositions, and these."""
    guards: bytes
    """How its binaries are watched and verified, what it does after a failure, and so on."""
    requests: bytes
    """Its wall time, and what it requests of a node."""


def of_line(line: LineSpec) -> list[Definition]:
    """Return the definitions of the packages of a line in a job file."""
    return [
        of_spec(package, line.early_start and number == 1)
        for number, package in enumerate(line.packages, 1)
    ]


def of_spec(spec: PackageSpec, is_early: bool) -> Definition:
    """Return the definition of a package in a job file."""
    parts = _Parts(attrgetter)
    for number, binary in enumerate(spec.binaries, 1):
        parts.binary(number, BinaryRow(*binary_row(0, number, binary)))
        for position, entry in enumerate(binary.inputs):
            _read(parts, number, position, entry)
        for output in binary.outputs:
            row = FileRow(*output_row(0, 0, 0, number, output))
            parts.output(number, row.name, row.late, output.min_count if row.late else None, row)
    if spec.wrapper is not None:
        _read(parts, STARTUP, 0, spec.wrapper)
    return parts.definition(
        (as_json(spec.wrapper_parameters), as_json(spec.environment)),
        (
            spec.name, spec.wall_time, spec.looping, as_json(spec.policy),
            base_name(spec.wrapper.file) if spec.wrapper else None,
            *listed(asked_by(spec, is_early)),
        ),
    )  # fmt: skip


def _read(parts: "_Parts", binary: int, position: int, entry: InputSpec) -> None:
    row = InputRow(*input_row(0, binary, 0, position, 0, entry))
    parts.input(binary, position, entry.file, entry.match, int(entry.writable), row)


def of_rows(
    package: Row, binaries: Iterable[Row], inputs: Sequence[Row], outputs: Iterable[Row]
) -> Definition:
    """Return the definition of a package in the database."""
    parts = _Parts(itemgetter)
    for row in binaries:
        parts.binary(row["seq"], row)
    patterns = {(row["binary"], row["file_id"]) for row in inputs}
    listed_inputs = [row for row in inputs if (row["binary"], row["pattern_id"]) not in patterns]
    for binary, rows in groupby(listed_inputs, itemgetter("binary")):
        for position, row in enumerate(rows):
            parts.input(binary, position, row["file"], row["match"], row["writable"], row)
    for row in outputs:
        parts.output(row["binary"], row["name"], row["late"], row["min_count"], row)
    asked = [package[name] for name in ASKED]
    return parts.definition(
        (package["wrapper_parameters"], package["environment"]),
        (
            package["name"], package["wall_time"], package["looping"], package["policy"],
            package["wrapper"], *asked,
        ),
    )  # fmt: skip


def recipe_without_dropped(
    package: Row, binaries: Iterable[Row], inputs: Sequence[Row], outputs: Iterable[Row]
) -> bytes | None:
    """Return the recipe of a package without its dropped inputs; None if it has all of them."""
    left = [row for row in inputs if not row["dropped"]]
    if len(left) == len(inputs):
        return None
    return of_rows(package, binaries, left, outputs).recipe


class _Parts:
    """The facts about a package, in parts; `getter` makes a function that reads columns."""

    def __init__(self, getter: Callable[..., Callable[[Any], tuple[Any, ...]]]) -> None:
        self._runs, self._watched = getter(*_RUNS), getter(*_WATCHED)
        self._takes, self._keeps, self._stores = getter(*_TAKES), getter(*_KEEPS), getter(*_STORES)
        self._recipe: list[tuple[Any, ...]] = []
        self._rest: list[tuple[Any, ...]] = []
        self._reads: list[tuple[str, str | None]] = []
        self._makes: list[str] = []
        self._local_names: dict[int, set[str]] = {}
        """The inputs of binaries with groups of inputs, by their numbers."""
        self._named_dispositions: list[tuple[str, str]] = []
        self._guards: list[tuple[Any, ...]] = []

    def binary(self, number: int, row: Any) -> None:
        runs = self._runs(row)
        self._recipe.append(("binary", number, runs))
        if _has_groups(runs):
            self._local_names[number] = set()
        self._rest.append(("binary", number, watched := tuple(map(_plain, self._watched(row)))))
        self._guards.append(("binary", number, watched[1:]))  # names make no difference

    def input(
        self, binary: int, position: int, file: str, match: str | None, writable: int, row: Any
    ) -> None:
        entry = ("input", binary, position, file)
        self._recipe.append((*entry, match, writable, taken := self._takes(row)))
        self._rest.append((*entry, keeps := self._keeps(row)))
        self._reads.append((file, match))
        if binary in self._local_names:
            self._local_names[binary] |= {file, local_name(file, taken[-1])}
        if keeps[1]:
            self._named_dispositions.append((file, keeps[1]))

    def output(self, binary: int, name: str, late: int, least: int | None, row: Any) -> None:
        self._recipe.append(("output", binary, 0, name, late))
        self._rest.append(("output", binary, 0, name, least, stores := self._stores(row)))
        if stores[0]:
            self._named_dispositions.append((name, stores[0]))
        self._makes.append(name)
        self._guards.append(("output", name, least, stores[_STORES.index("min_size")]))

    def definition(self, values: Iterable[Any], requests: Sequence[Any]) -> Definition:
        for at, part in enumerate(self._recipe):
            if part[0] == "binary" and part[1] in self._local_names:
                self._recipe[at] = (*part[:2], self._without_absent(part))
        recipe = _digest([*sorted(self._recipe, key=_position), values])
        whole = _digest([recipe, *sorted(self._rest, key=_position), tuple(map(_plain, requests))])
        files = _digest((sorted(self._reads, key=str), sorted(self._makes)))
        named = tuple(sorted(self._named_dispositions))
        reads = tuple(name for name, _ in self._reads)
        _, wall_time, *guards, _ = map(_plain, requests[:5])
        asked = [_plain(value) for name, value in zip(ASKED, requests[5:], strict=True)
                 if name != "early"]  # fmt: skip
        return Definition(
            recipe, whole, files, reads, tuple(self._makes), named,
            _digest((sorted(self._guards, key=itemgetter(0, 1)), guards)),
            _digest((wall_time, asked)),
        )  # fmt: skip

    def _without_absent(self, binary: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what a binary runs; only its inputs are left in its groups, as at a launch."""
        names, (script, shell, argv, *rest) = self._local_names[binary[1]], binary[2]
        if script is not None:
            script = without_absent(script, names)
        elif argv is not None:
            argv = [without_absent(word, names) for word in json.loads(argv)]
        return (script, shell, argv, *rest)


def _has_groups(runs: tuple[Any, ...]) -> bool:
    return GROUP in (runs[0] or "") or _GROUP_IN_JSON in (runs[2] or "")


def _position(part: tuple[Any, ...]) -> tuple[Any, ...]:
    return part[:4] if part[0] != "binary" else part[:2]


def _plain(value: Any) -> Any:
    """Return a number as both the database and job files write it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest(parts: object) -> bytes:
    return blake2b(repr(parts).encode(), digest_size=16).digest()
