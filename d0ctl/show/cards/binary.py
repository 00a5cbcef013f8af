"""The card of a binary: its command, its attempts and its files."""

import json

from msgspec import Struct

from d0ctl.show.cards.package import Limits, binary_use, inputs, outputs, state
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.store.views.shapes import BinaryRecord, BinaryView, InputView, OutputView, PackageView
from d0ctl.units import duration, moment, size


class Binary(Struct, frozen=True):
    """Everything on the card, read at one moment."""

    package: PackageView
    view: BinaryView
    records: list[BinaryRecord]
    inputs: list[InputView]
    outputs: list[OutputView]

    @property
    def path(self) -> str:
        """Its path."""
        return f"{self.package.path}/{self.view.seq}"


def draw(sheet: Sheet, binary: Binary, now: float, limits: Limits) -> None:
    """Draw the card."""
    package, view = binary.package, binary.view
    sheet.add((binary.path, "strong"), f"  binary {view.name}, stage {package.stage_name}, "
                                       f"line {package.line_name}")  # fmt: skip
    since = f"  since {moment(package.changed, now)}"
    sheet.add("package: ", *state(sheet, package), (since, "faint"))
    if words := _asked(view):
        sheet.add((", ".join(words), "faint"))
    image = f"in image {view.image}" if view.image else ""
    stdin = f"stdin from {view.stdin}" if view.stdin else ""
    sheet.head("command", ", ".join(filter(None, (image, stdin))))
    for line in (view.script or " ".join(json.loads(view.argv or "[]"))).splitlines():
        sheet.add("  ", line)
    if binary.records:
        sheet.head("attempts")
        sheet.table([
            [
                (str(one.attempt), "strong"), one.node, (moment(one.started, now), "faint"),
                *binary_use(one, now), (one.reason, "bad"),
            ]
            for one in binary.records
        ])  # fmt: skip
    inputs(sheet, binary.inputs, limits)
    outputs(sheet, binary.outputs, limits)


def _asked(view: BinaryView) -> list[str]:
    """What the job file says of it."""
    words = [f"software {view.software}"] if view.software else []
    parameters = json.loads(view.parameters or "{}")
    words += [f"{name}={value}" for name, value in parameters.items()]
    words += [f"needs {name}" for name in json.loads(view.needs or "[]")]
    words += [f"{view.cpu} % of a CPU"] if view.cpu is not None else []
    words += [f"about {duration(view.runtime)}"] if view.runtime is not None else []
    return words + ([f"{size(view.work_size)} of scratch files"] if view.work_size else [])
