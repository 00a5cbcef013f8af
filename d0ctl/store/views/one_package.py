"""The attempts, binaries, files and changes of one package; every read is limited."""

import json
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from d0ctl.errors import NotFound
from d0ctl.model import Reason
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.holder import as_heard
from d0ctl.store.rows import make
from d0ctl.store.views.shapes.of_package import (
    Acknowledgement,
    AttemptView,
    BinaryRecord,
    BinaryView,
    EventView,
    Failures,
    InputView,
    NoteView,
    OutputView,
    PackageSample,
    PackageView,
    PeakUse,
    ProgressView,
)
from d0ctl.units import count

if TYPE_CHECKING:
    from d0ctl.store.files.edited_files import Present
    from d0ctl.store.views.shapes.node_choice import NodeChoiceView

MOST_INPUTS = 50
"""How many inputs or outputs of a package are shown."""

MOST_LOOKED_AT = 5_000
"""How many inputs of a package are read to choose those to show."""

_ABSENT = "does not exist"
"""How the message of an attempt says that it did not find a file."""


class NodeFailure(NamedTuple):
    """The latest of the attempts that failed alike on a node."""

    id: int
    node_name: str
    message: str | None
    stderr: str | None


def attempts(store: Store, package: int) -> list[AttemptView]:
    """Return every try at a package."""
    return [make(AttemptView, row) for row in store.rows("attempts", package=package)]


def peak_disk(store: Store, attempt: int) -> int:
    """Return the most disk space that the files of an attempt took; 0 if it is unknown."""
    return int(store.value("peak_disk", attempt=attempt) or 0)


def peak_memory_of_alike(store: Store, stage: int) -> int:
    """Return the most memory that packages of a stage took that ran out of it; 0 if unknown."""
    return int(store.value("peak_memory_of_alike", stage=stage) or 0)


def peak_use(store: Store, package: int) -> PeakUse:
    """Return the most memory and disk that a package and others of its stage are known to take."""
    row = store.row("peak_use", package=package)
    assert row is not None
    return PeakUse(row["memory"] or 0, row["disk"] or 0)


def is_failure_of_stage(store: Store, stage: int, last: AttemptView) -> bool:
    """Return whether several packages of a stage failed like an attempt, and none succeeded."""
    alike = {"reason": last.reason, "binary": last.binary, "exit_code": last.exit_code,
             "signal": last.signal}  # fmt: skip
    return bool(store.value("is_failure_of_stage", stage=stage, **alike))


def alike_by_node(store: Store, stage: int, last: AttemptView) -> list[NodeFailure]:
    """Return of each node the latest attempt of a stage that failed like an attempt, by name.

    Nodes on which the stage has succeeded since are left out.
    """
    rows = store.rows("latest_alike_by_node", stage=stage, reason=last.reason,
                      binary=last.binary, exit_code=last.exit_code)  # fmt: skip
    return [NodeFailure(*(row[name] for name in NodeFailure._fields)) for row in rows]


def binaries(store: Store, package: int) -> list[BinaryView]:
    """Return the binaries of a package, their commands as people wrote them."""
    return [_readable(make(BinaryView, row)) for row in store.rows("binaries", package=package)]


def _readable(binary: BinaryView) -> BinaryView:
    """Return a binary with `{inputs}` in place of the stand-in for its inputs until the launch."""
    script, arguments, check = (
        binary.script or "",
        json.loads(binary.argv or "[]"),
        binary.check or "",
    )
    if not any(mark in text for mark in "\1\2" for text in (script, *arguments, check)):
        return binary
    from d0ctl.jobfile.language.quoting import as_written  # seldom needed, and slow to import

    return replace(
        binary,
        script=binary.script and as_written(script),
        check=binary.check and as_written(check),
        argv=binary.argv and json.dumps([as_written(word) for word in arguments]),
    )


def binary(store: Store, package: PackageView, number: int) -> BinaryView:
    """Return one binary of a package. Raises NotFound."""
    all_binaries = binaries(store, package.id)
    for view in all_binaries:
        if view.seq == number:
            return view
    raise NotFound(
        f"package `{package.path}` has {count(len(all_binaries), 'binary', 'binaries')}, "
        f"so there is no binary {number}",
        hint=f"d0ctl status {package.path}",
    )


def binary_records(store: Store, package: int, number: int) -> list[BinaryRecord]:
    """Return the record of a binary in each attempt that ran it, the first attempt first."""
    rows = store.rows("binary_records", package=package, binary=number)
    return [make(BinaryRecord, row) for row in rows]


def inputs(store: Store, package: int, limit: int = MOST_INPUTS) -> list[InputView]:
    """Return the inputs of a package, missing ones first."""
    rows = store.rows("inputs", package=package, limit=limit, window=MOST_LOOKED_AT)
    return [make(InputView, row) for row in rows]


def as_now(store: Store, package: int, files: Sequence[InputView]) -> list[InputView]:
    """Return inputs; files of this machine that were changed since they were known, as now.

    Only a limited number of files is looked at.
    """
    if not any(file.maker_path is None and file.size is not None for file in files):
        return [*files]
    from d0ctl.store.files import edited_files  # late: not for packages that read only made files

    edited = edited_files.edited_since_read(store, package)
    return [_as_now(file, edited.get(file.name)) for file in files]


def _as_now(file: InputView, now: "Present | None") -> InputView:
    if now is None or file.maker_path is not None:
        return file
    return replace(file, size=now.size, replaced=None if now.is_read else inf, renewed=None)


def renewed_inputs(store: Store, package: int, attempt: AttemptView) -> list[InputView]:
    """Return the inputs that are there, with other contents than an attempt has read."""
    return [file for file in as_now(store, package, inputs(store, package))
            if file.present and not file.file_dropped and file.has_changed_since(attempt)
            and (file.remade is None or (file.replaced or 0.0) > attempt.launched)]  # fmt: skip


def not_found(store: Store, package: int) -> str:
    """Return the message of the last attempt if it did not find a file; else an empty text."""
    tries = attempts(store, package)
    if not tries or tries[-1].reason != Reason.MISSING_INPUT:
        return ""
    message = tries[-1].message or ""
    return message if _ABSENT in message else ""


def outputs(store: Store, package: int, limit: int = MOST_INPUTS) -> list[OutputView]:
    """Return the outputs of a package."""
    return [make(OutputView, row) for row in store.rows("outputs", package=package, limit=limit)]


def progress(store: Store, package: int) -> ProgressView | None:
    """Return the progress of a package; None until its wrapper has reported."""
    row = store.row("package_progress", package=package)
    return None if row is None else as_heard(store, ProgressView, [row])[0]


def samples(store: Store, package: int) -> list[PackageSample]:
    """Return what a launched package has used in its current attempt, the oldest first."""
    return [make(PackageSample, row) for row in store.rows("package_samples", package=package)]


def notes(store: Store, package: int, limit: int = 100) -> list[NoteView]:
    """Return the remarks about the attempts of a package, most of them of wrappers."""
    return [
        make(NoteView, row) for row in store.rows("attempt_notes", package=package, limit=limit)
    ]


def acknowledgement(store: Store, package: int) -> Acknowledgement | None:
    """Return the acknowledgement of a package's failure; None if there is none."""
    row = store.row("acknowledgement", package=package)
    return None if row is None else make(Acknowledgement, row)


def failure_history(store: Store, package: int) -> list[Failures]:
    """Return the failures of a package by reason."""
    return [make(Failures, row) for row in store.rows("failures", package=package)]


def events(store: Store, package: int) -> list[EventView]:
    """Return every change of phase of a package."""
    return [make(EventView, row) for row in store.rows("events", package=package)]


def destination(store: Store, package: int) -> Row | None:
    """Return where the task of a package has its outputs merged, if d0ctl chose its nodes."""
    return store.row("destination_of_package", package=package)


def node_choice(store: Store, package: int) -> "NodeChoiceView | None":
    """Return why a package got its last node; None if that was not recorded."""
    row = store.row("choice_of_package", package=package)
    if row is None:
        return None
    from d0ctl.store.views.shapes.node_choice import NodeChoiceView  # late: few pages have one

    return make(NodeChoiceView, row)


def full_node(store: Store, package: int) -> int | None:
    """Return the node on which a launched package waits for a slot; None if it does not."""
    row = store.row("full_node_of", package=package)
    return None if row is None else int(row["node_id"])
