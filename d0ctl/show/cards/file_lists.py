"""The files that a package reads and makes, as lists on its card."""

from collections.abc import Sequence

from msgspec import Struct

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.drawing.spans import cut_front
from d0ctl.store.views.shapes import InputView, OutputView
from d0ctl.units import count, size

NAME = 60
"""How many columns of a file's name are shown."""


class Limits(Struct, frozen=True):
    """How many lines of each list fit, and how to see the rest."""

    files: int = 8
    attempts: int = 6
    changes: int = 12
    more: str = "enter shows them"


WHOLE = Limits(files=50, attempts=50, changes=500)
"""Room for everything."""

SCREEN = Limits(files=12, attempts=10, changes=0, more="--json prints all")
"""The limits of `status`; `history` has the changes."""


def inputs(sheet: Sheet, inputs: Sequence[InputView], limits: Limits) -> None:
    """Add the files that are read, except those that the package makes itself."""
    shown = [one for one in inputs if not one.own]
    if not shown:
        return
    missing = sum(not (one.present or one.dropped or one.maker_phase == "done") for one in shown)
    sheet.head("inputs", f"{missing} still missing" if missing else "")
    sheet.table([_input(sheet, one) for one in shown[: limits.files]], give=0)
    _more(sheet, len(shown), limits)


def _input(sheet: Sheet, one: InputView) -> list[Cell]:
    state, words = "waiting", "missing" if one.required else "missing, optional"
    if one.dropped or one.file_dropped:
        state = words = "dropped"
    elif one.present:
        state, words = "done", "available" if one.size is None else size(one.size)
    elif one.maker_phase == "done":
        words = "removed: no longer needed"
    origin = f"from {one.maker_path} ({one.maker_phase})" if one.maker_path else one.acquire
    return [
        cut_front(one.name, NAME, ellipsis=sheet.glyphs.ellipsis),
        signs.glyph(state, sheet.glyphs),
        words,
        (", ".join([origin, *_conditions(one)]), "faint"),
    ]


def _conditions(one: InputView) -> list[str]:
    """Return the job file's conditions for an input."""
    words = [f"locator {one.locator}"] if one.locator else []
    words += [f"of {size(one.size_asked)}"] if one.size_asked is not None else []
    words += [one.checksum] if one.checksum else []
    words += [] if one.name.endswith(one.local_name) else [f"as {one.local_name}"]
    words += ["writable"] if one.writable else []
    words += [one.disposition] if one.disposition else []
    return words if one.required or one.maker_path else [*words, "not required"]


def outputs(sheet: Sheet, outputs: Sequence[OutputView], limits: Limits) -> None:
    """Add the files that are made, and where their copies are."""
    if not outputs:
        return
    sheet.head("outputs")
    sheet.table([_made(sheet, one) for one in outputs[: limits.files]])
    _more(sheet, len(outputs), limits)


def _made(sheet: Sheet, one: OutputView) -> list[Cell]:
    state, words = "waiting", "removed: no longer needed" if one.is_purged else "not made yet"
    if one.dropped:
        state = words = "dropped"
    elif one.present or (one.late and one.made):
        state, words = "done", count(one.made, "file") if one.late else size(one.size)
    kind = "result" if one.result else one.dispositions
    conditions = [f"at least {size(one.min_size)}"] if one.min_size else []
    conditions += [one.checksum_asked] if one.checksum_asked else []
    copies = [*conditions, *one.copies, *(f"stored at {locator}" for locator in one.stored_at)]
    return [
        cut_front(one.name, NAME, ellipsis=sheet.glyphs.ellipsis),
        signs.glyph(state, sheet.glyphs),
        words,
        (f"{kind} partial".strip() if one.partial else kind, "faint"),
        ("  ".join(copies), "faint"),
    ]


def _more(sheet: Sheet, number: int, limits: Limits) -> None:
    if number > limits.files:
        sheet.add((f"  and more: {limits.more}", "faint"))
