"""The files that a package reads and makes, as lists on its card."""

from collections.abc import Sequence

from msgspec import Struct

from d0ctl.model import Phase, phase_word
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.drawing.spans import cut_front
from d0ctl.store.views.shapes.of_package import AttemptView, InputView, OutputView
from d0ctl.units import count, size

PURGED = "purged"
"""The state of a file that was made, and of which d0ctl removed the last copy."""

LOST = "lost"
"""The state of a file that was made, and of which the last copy was lost."""

REMOVED = "removed"
"""The same in an archive, where nothing makes it again."""

UNCHECKED = ("none", "self")
"""Ways to acquire a file from outside that is not checked here; nor is a file at a locator."""

NAME = 60
"""How many columns of a file's name are shown."""

NAMES = 4
"""How many changed files are named."""


class Limits(Struct, frozen=True):
    """How many lines of each list fit, and how to see the rest."""

    files: int = 8
    attempts: int = 6
    changes: int = 12
    more: str = "--json prints all"


WHOLE = Limits(files=50, attempts=50, changes=500)
"""Room for everything."""

SCREEN = Limits(files=12, attempts=10, changes=0)
"""The limits of `status`; `history` has the changes."""


def inputs(
    sheet: Sheet,
    inputs: Sequence[InputView],
    attempts: Sequence[AttemptView],
    limits: Limits,
    phase: str,
) -> None:
    """Add the files that are read, except those that the package makes itself.

    Those that have changed since the last attempt say so: the size is that of the new contents. A
    package that is successful in this phase needs none of them any more.
    """
    shown = [file for file in inputs if not file.own]
    if not shown:
        return
    missing = phase != Phase.DONE and sum(
        not (file.present or file.dropped or file.maker_phase == "done") for file in shown
    )
    sheet.head("inputs", f"{missing} still missing" if missing else "")
    was_read = bool(attempts) and attempts[-1].outcome == "successful"
    sheet.table(
        [_input(sheet, file, was_read, phase != Phase.DONE) for file in shown[: limits.files]],
        give=0,
    )
    _more(sheet, len(shown), limits)
    if attempts:
        _changed(sheet, shown, attempts[-1])


def _input(sheet: Sheet, view: InputView, was_read: bool, is_needed: bool) -> list[Cell]:
    state, availability = "waiting", "missing, optional"
    if view.required or view.maker_path:  # it waits for a file that a package makes
        availability = "missing"
    if view.dropped or view.file_dropped:
        state = availability = "dropped"
    elif view.absence:
        state = "waiting" if view.present or not is_needed else "failed"
        availability = view.absence
    elif not was_read and not view.maker_path and (view.acquire in UNCHECKED or view.locator):
        availability = "not checked"
    elif view.present:
        state, availability = "done", "available" if view.size is None else size(view.size)
    elif view.maker_phase == "done":
        availability = _gone(sheet, view)
    origin = view.acquire
    if view.maker_path:
        origin = f"from {view.maker_path} ({phase_word(view.maker_phase)})"
    return [
        cut_front(view.name, NAME, ellipsis=sheet.glyphs.ellipsis),
        signs.glyph(state, sheet.glyphs),
        availability,
        (", ".join([origin, *_conditions(view)]), "faint"),
    ]


def gone(size: int | None, removed: float | None) -> str:
    """Say how a file of this size went whose maker is successful, and of which no copy is left."""
    return LOST if removed is None and size is not None else PURGED


def _changed(sheet: Sheet, shown: Sequence[InputView], last: AttemptView) -> None:
    """Name the files whose sizes above are not those that the last attempt read."""
    read = [file for file in shown if not file.dropped]
    for how in ("changed since", "made again since"):
        names = [file.local_name for file in read if changed_since(file, last) == how]
        if names:
            more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
            sheet.say(f"{how} attempt {last.number}: {', '.join(names[:NAMES])}{more}", "warn",
                      indent="  ")  # fmt: skip


def changed_since(view: InputView, attempt: AttemptView) -> str:
    """Say that a file is not what an attempt read; empty if no change of it is recorded."""
    if not view.has_changed_since(attempt):
        return ""
    return "changed since" if view.remade is None else "made again since"


def _conditions(view: InputView) -> list[str]:
    """Return the job file's conditions for an input."""
    properties = [f"locator {view.locator}"] if view.locator else []
    properties += [f"of {size(view.size_asked)}"] if view.size_asked is not None else []
    properties += [view.checksum] if view.checksum else []
    properties += [] if view.name.endswith(view.local_name) else [f"as {view.local_name}"]
    properties += ["writable"] if view.writable else []
    properties += [view.disposition] if view.disposition else []
    return properties if view.required or view.maker_path else [*properties, "not required"]


def outputs(
    sheet: Sheet, outputs: Sequence[OutputView], limits: Limits, *, missing: str = "not made yet"
) -> None:
    """Add the files that are made, and where their copies are; `missing` is said of others."""
    if not outputs:
        return
    sheet.head("outputs")
    sheet.table([_made(sheet, output, missing) for output in outputs[: limits.files]])
    _more(sheet, len(outputs), limits)


def _made(sheet: Sheet, output: OutputView, missing: str) -> list[Cell]:
    state, availability = "waiting", missing
    if not output.present and output.size is not None:
        availability = _gone(sheet, output)
    if output.dropped:
        state = availability = "dropped"
    elif output.absence:
        availability = output.absence
    elif output.present or (output.late and output.made):
        state, availability = (
            "done",
            count(output.made, "file") if output.late else size(output.size),
        )
    kind = "result" if output.result else output.disposition or output.dispositions
    conditions = [f"at least {size(output.min_size)}"] if output.min_size else []
    conditions += [output.checksum_asked] if output.checksum_asked else []
    copies = [
        *conditions,
        *output.copies,
        *(f"stored at {locator}" for locator in output.stored_at),
    ]
    return [
        cut_front(output.name, NAME, ellipsis=sheet.glyphs.ellipsis),
        signs.glyph(state, sheet.glyphs),
        availability,
        (f"{kind} partial".strip() if output.partial else kind, "faint"),
        ("  ".join(copies), "faint"),
    ]


def _gone(sheet: Sheet, view: InputView | OutputView) -> str:
    """Say how a file went that was made, and of which no copy is left."""
    return REMOVED if sheet.archive else gone(view.size, view.removed)


def _more(sheet: Sheet, number: int, limits: Limits) -> None:
    if number > limits.files:
        sheet.add((f"  and more: {limits.more}", "faint"))
