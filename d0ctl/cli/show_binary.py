"""The screen of one binary: its command, its files, and how it did in each attempt."""

from collections.abc import Callable, Sequence

from d0ctl.cli import documents
from d0ctl.cli.show_package import ending, show_inputs, show_outputs
from d0ctl.cli.terminal.output import emit, emit_json, mark, paint, table
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import BinaryRecord, PackageView
from d0ctl.units import clean, duration, moment, size


def drawing(
    store: Store, package: PackageView, number: int, json: bool, now: float
) -> Callable[[], None]:
    """Read all about a binary; what is returned prints it. Raises NotFound."""
    binary = browse.binary(store, package, number)
    records = browse.binary_records(store, package.id, number)
    inputs = [file for file in browse.inputs(store, package.id) if file.binary == number]
    outputs = [file for file in browse.outputs(store, package.id) if file.binary == number]
    path = f"{package.path}/{number}"
    if json:
        document = documents.binary(path, package, binary, records, inputs, outputs)
        return lambda: emit_json(document)

    def draw() -> None:
        emit(f"{paint(clean(path), 'strong')}  binary {clean(binary.name)}, "
             f"stage {clean(package.stage_name)}, line {clean(package.line_name)}")  # fmt: skip
        emit(f"its package is {mark(package.status)} since {moment(package.changed, now)}")
        _command(binary.script or " ".join(documents.words(binary.argv)))
        _records(records, now)
        show_inputs(inputs)
        show_outputs(outputs)
        emit()
        emit(
            paint(f"d0ctl why {path}    d0ctl logs {path}    d0ctl status {package.path}", "faint")
        )

    return draw


def _command(text: str) -> None:
    emit()
    emit(paint("command", "strong"))
    for line in text.splitlines():
        emit(f"  {clean(line)}")


def _records(records: Sequence[BinaryRecord], now: float) -> None:
    if not records:
        return
    emit()
    emit(paint("attempts", "strong"))
    rows = [
        [
            str(record.attempt),
            clean(record.node),
            moment(record.started, now),
            duration(record.ended - record.started) if record.ended and record.started else "",
            ending(record),
            clean(record.reason or ""),
            f"cpu {duration(record.cpu_time)}" if record.cpu_time is not None else "",
            f"peak {size(record.rss)}" if record.rss else "",
        ]
        for record in records
    ]
    table(rows, indent="  ")
