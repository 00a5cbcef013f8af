"""Dropped lines, the inputs that packages lack because of them, and outdated packages."""

import json
import shlex
from collections.abc import Container, Sequence
from typing import NamedTuple

from msgspec import Struct

from d0ctl.model import Phase
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.units import listed

MOST_NAMED = 100
"""How many missing inputs are named; the rest is counted."""

MOST_COUNTED = 1000
"""Among how many packages of a job those are counted that keep no files."""

MOST_RESTORED = 3
"""Up to how many lines, or ranges of lines, are named that have to be restored for them."""

MOST_LINES = 100
"""How many lines these may be."""

NOT_KEPT = "not kept, as the package has no `outputs`"
"""How the remark of a wrapper on files without outputs begins."""


class Shortfall(Struct, frozen=True):
    """How many of its inputs a package gets, of how many, and the names of missing ones."""

    path: str
    phase: str
    supplied: int
    asked: int
    names: tuple[str, ...]
    has_run: bool = True
    """Whether its last attempt lacked inputs, too: a failed package loses some after it ran."""
    restoring: tuple[str, ...] = ()
    """The arguments of `restore-line` by which it gets all of them; empty if none are known."""
    is_outdated: bool = False
    """Whether it has succeeded with another definition, maybe other inputs, than it has now."""

    def sentence(self, most: int = 5) -> str:
        """`97 of 100 inputs, missing: ...`, and by which command it gets these, if it is known."""
        names = [*self.names[:most]]
        more = self.asked - self.supplied - len(names)
        if more > 0:
            names.append(f"{more:,} more")
        them = "it" if self.asked - self.supplied == 1 else "them"
        command = shlex.join(["d0ctl", "restore-line", *self.restoring])
        how = f"; to get {them}: `{command}`" if self.restoring else ""
        job = self.path.partition("/")[0]
        if how and self.phase == Phase.DONE and not self.restoring[0].startswith(f"{job}/"):
            how += f", then `d0ctl update {self.path} --again`"
        then = " at that time" * self.is_outdated
        inputs = f"{self.supplied:,} of {self.asked:,} inputs{then}"
        return f"{inputs}, missing: {listed(names)}{how}"


REMOVED = 2
"""`named` of a line that was dropped because its job file no longer has it."""


class DroppedLines(NamedTuple):
    """How many lines of a job are dropped, and how many of these its job file no longer has."""

    lines: int
    removed: int

    @property
    def lacking(self) -> int:
        """How many lines a person dropped whose files the results lack."""
        return self.lines - self.removed


def dropped_lines(store: Store, job: int) -> DroppedLines:
    """Count the dropped lines of a job."""
    row = store.row("dropped_lines", job=job)
    assert row is not None
    return DroppedLines(row["lines"], row["removed"])


def unlisted_lines(
    store: Store, job: int, stage: int | None = None, line: int | None = None
) -> list[tuple[int, int]]:
    """Return the successful lines of a job, or of a part, that its job file no longer has.

    They are the numbers of their stages and their own.
    """
    rows = store.rows("unlisted_lines", job=job, stage=stage, line=line, limit=MOST_COUNTED)
    return [(row["stage"], row["line"]) for row in rows]


def dropped_among(store: Store, job: int, lines: Container[tuple[str, str]]) -> int:
    """Count the dropped lines of a job among those with these names, each after its stage's."""
    dropped = store.rows("dropped_line_names", job=job)
    return sum((row["stage"], row["name"]) in lines for row in dropped)


def shortfall(store: Store, package: int, path: str, phase: str) -> Shortfall | None:
    """Return the missing inputs of a package; None if it gets all."""
    names = [row[0] for row in store.rows("left_out_inputs", package=package, limit=MOST_NAMED)]
    if not names:
        return None
    row = store.row("count_inputs", package=package)
    assert row is not None
    has_run = phase != Phase.FAILED or bool(store.value("lacked_inputs", package=package))
    return Shortfall(path, phase, row["given"], row["asked"], tuple(names), has_run,
                     _restoring(store, package), row["outdated"] == 1)  # fmt: skip


def _restoring(store: Store, package: int) -> tuple[str, ...]:
    """Return by which lines a package gets its missing inputs, if they can be restored now: with
    --again if a package has succeeded without them.
    """
    lines = store.rows("lines_lacked", package=package, limit=MOST_LINES + 1)
    is_refused = any(row["named"] == REMOVED or row["is_ending"] for row in lines)
    paths = [f"{row['job']}/{row['stage']}/{row['line']}" for row in lines]
    parts = paths if len(paths) <= MOST_RESTORED else _condensed(paths)
    is_long = len(lines) > MOST_LINES or len(parts) > MOST_RESTORED
    if store.home.archive or is_refused or is_long or not lines:
        return ()
    found = [store.row("line_launched_without", line=row["id"]) for row in lines]
    readers = [row["phase"] for row in found if row is not None]
    if any(phase != Phase.DONE for phase in readers):
        return ()
    return (*parts, *["--again"] * bool(readers))


def _condensed(paths: Sequence[str]) -> list[str]:
    from d0ctl.select.condense import condense  # late: few packages lack so many

    return [str(part) for part in condense(paths)]


def short_packages(store: Store, job: int, most: int) -> list[Shortfall]:
    """Return packages of a job that lack files of dropped lines, at most so many.

    Also those of final stages that lack what did not exist when they began.
    """
    found = (
        shortfall(store, row["id"], row["path"], row["phase"])
        for row in store.rows("short_packages", job=job, limit=most)
    )
    return [entry for entry in found if entry is not None]


def waits_for_dropped(store: Store, job: int) -> bool:
    """Return whether a waiting package of a job needs a file of a dropped line."""
    return store.row("waits_for_dropped", job=job) is not None


def could_read_absent(store: Store, package: int) -> bool:
    """Return whether a package of a final stage began without a file that was made since."""
    return bool(store.value("could_read_absent", package=package))


def not_kept(store: Store, job: int) -> tuple[str, str] | None:
    """Return the last package of a job, and the remark on its files, if it keeps none of them."""
    row = store.row("last_not_kept", job=job, text=NOT_KEPT)
    return None if row is None else (row["path"], row["text"])


def count_not_kept(store: Store, job: int) -> int:
    """Count the packages of a job that keep none of their files, among its first ones."""
    return int(store.value("count_not_kept", job=job, text=NOT_KEPT, limit=MOST_COUNTED))


class NotCopied(NamedTuple):
    """Outputs that no package reads, but that are not results, as they have dispositions."""

    files: int
    name: str
    """The first of them."""


def not_copied(store: Store, job: int) -> NotCopied | None:
    """Return the outputs that are no results because of their dispositions; None if none are."""
    row = store.row("not_copied", job=job)
    return NotCopied(*row) if row is not None and row["files"] else None


class DoubtfulRead(NamedTuple):
    """A package and a file that it has read: one from outside, of which `maker` made an unkept
    namesake, or one that `maker` had not completed.
    """

    reader: str
    maker: str
    name: str


def read_from_outside(store: Store, job: int) -> list[DoubtfulRead]:
    """Return packages that have read a file from outside that an earlier one made anew."""
    rows = store.rows("read_from_outside", job=job, text=NOT_KEPT, limit=MOST_NAMED)
    return [DoubtfulRead(row["reader"], row["maker"], row["name"]) for row in rows]


def partial_read(store: Store, job: int) -> list[DoubtfulRead]:
    """Return packages that have succeeded with files that their makers had not completed."""
    rows = store.rows("partial_read", job=job, limit=MOST_NAMED)
    return [DoubtfulRead(row["reader"], row["maker"], row["name"]) for row in rows]


class Outdated(NamedTuple):
    """How many successful packages are out of date.

    Those `by_recipe` ran with another recipe or other inputs than the job has now; the others have
    read files that were changed since, or that such packages made (`by_makers`). A person can
    accept the results of `acceptable` ones; `unacceptable` ones would read or make other files now.
    """

    packages: int
    by_recipe: int
    acceptable: int
    unacceptable: int
    by_makers: int


class NeedingLines(NamedTuple):
    """Lines with packages that are out of date and can't run again without a dropped file."""

    lines: tuple[str, ...]
    file: str


def lines_needing_dropped(store: Store, job: int) -> NeedingLines | None:
    """Return the first such lines of a job, and a file of another job that they need."""
    rows = store.rows("lines_needing_dropped", job=job)
    if not rows:
        return None
    lines = dict.fromkeys(f"{row['job']}/{row['stage']}/{row['line']}" for row in rows)
    return NeedingLines(tuple(lines), f"{rows[0]['maker']}:{rows[0]['file']}")


class RetryParameters(NamedTuple):
    """Some packages, and the parameters of a retry, as KEY=VALUE, with which all of them ran."""

    packages: int
    parameters: tuple[str, ...]


def outdated_packages(
    store: Store, job: int, stage: int | None = None, line: int | None = None
) -> Outdated:
    """Count the successful packages of a job, or of a stage or line, that are out of date."""
    return Outdated(*store.rows("count_outdated", job=job, stage=stage, line=line)[0])


def retry_parameters(
    store: Store, job: int, stage: int | None = None, line: int | None = None
) -> RetryParameters | None:
    """Return with which parameters of a retry packages ran that are out of date by their recipe."""
    return _parameters(store.rows("parameters_of_outdated", job=job, stage=stage, line=line))


def retry_parameters_of(selected: Selection) -> RetryParameters | None:
    """Return with which parameters of a retry the selected packages ran."""
    return _parameters(selected.rows("parameters_of_selected"))


def _parameters(rows: Sequence[Row]) -> RetryParameters | None:
    found = [RetryParameters(row["packages"], tuple(json.loads(row["parameters"])))
             for row in rows if row["parameters"] is not None]  # fmt: skip
    return found[0] if len(found) == 1 else None


def ahead_of(store: Store, job: int) -> list[str]:
    """Return the jobs that have got or lost lines since a job took files of a stage of them."""
    return [row["name"] for row in store.rows("ahead_of", job=job)]


def needs_remarks(store: Store, job: int) -> bool:
    """Return whether packages of a job are out of date, or lack files that were not kept.

    Also whether its job file no longer has some of them, or a job that it reads has other lines.
    """
    return bool(
        outdated_packages(store, job).packages
        or store.row("done_with_earlier", job=job, edited="{}", stage=None, line=None)
        or not_kept(store, job)
        or read_from_outside(store, job)
        or partial_read(store, job)
        or unlisted_lines(store, job)
        or ahead_of(store, job)
    )


def outdated(selected: Selection, *, restored: bool = False) -> Outdated:
    """Count the selected packages that are out of date; `restored` with those of dropped lines."""
    return Outdated(*selected.rows("count_outdated_of_selected", restored=restored)[0])
