"""The card of a binary: its command, its attempts and its files."""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from d0ctl.model import Reason, Status
from d0ctl.show.cards.file_lists import Limits, inputs, outputs
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.lists import package_state, since
from d0ctl.store.views.shapes.of_package import (
    AttemptView,
    BinaryRecord,
    BinaryView,
    InputView,
    OutputView,
    PackageView,
)
from d0ctl.units import duration, moment, size


class Binary(Struct, frozen=True):
    """Everything on the card, read at one moment."""

    package: PackageView
    view: BinaryView
    records: list[BinaryRecord]
    inputs: list[InputView]
    outputs: list[OutputView]
    tries: list[AttemptView]
    is_late: bool = False
    """Whether its package is a straggler."""

    @property
    def path(self) -> str:
        """Its path."""
        return f"{self.package.path}/{self.view.seq}"


def draw(sheet: Sheet, binary: Binary, now: float, limits: Limits) -> None:
    """Draw the card."""
    package, view = binary.package, binary.view
    sheet.add((binary.path, "strong"), f"  binary {view.name}, stage {package.stage_name}, "
                                       f"line {package.line_name}")  # fmt: skip
    began = since(package, binary.tries)
    sheet.add(
        "package: ",
        *package_state(sheet, package, late=binary.is_late),
        (f"  since {moment(began, now)}", "faint"),
    )
    if requests := _asked(view):
        sheet.say(", ".join(requests), "faint")
    image = f"in image {view.image}" if view.image else ""
    stdin = f"stdin from {view.stdin}" if view.stdin else ""
    sheet.head("command", ", ".join(filter(None, (image, stdin))))
    for line in (view.script or " ".join(json.loads(view.argv or "[]"))).splitlines():
        sheet.add("  ", line)
    if binary.records:
        sheet.head("attempts")
        sheet.table([
            [
                (str(record.attempt), "strong"), record.node,
                (moment(record.started, now), "faint"), *use(record, now), (record.reason, "bad"),
            ]
            for record in binary.records
        ])  # fmt: skip
    inputs(sheet, binary.inputs, binary.tries, limits, package.phase)
    outputs(sheet, binary.outputs, limits)


def _asked(view: BinaryView) -> list[str]:
    """Return the job file's settings for it."""
    settings = [f"software {view.software}"] if view.software else []
    parameters = json.loads(view.parameters or "{}")
    settings += [f"{name}={value}" for name, value in parameters.items()]
    settings += [f"needs {name}" for name in json.loads(view.needs or "[]")]
    settings += [f"{view.cpu} % of a CPU"] if view.cpu is not None else []
    settings += [f"about {duration(view.runtime)}"] if view.runtime is not None else []
    settings += [f"{size(view.work_size)} of scratch files"] if view.work_size else []
    settings += ["run by sh"] if view.shell != "bash" else []
    settings += [_rule(rule) for rule in json.loads(view.log_rules or "[]")]
    if progress := json.loads(view.progress or "{}"):
        settings.append(_progress(progress))
    if view.check:
        limit = "" if view.check_timeout is None else f" in at most {duration(view.check_timeout)}"
        settings.append(f"check `{view.check}`{limit}")
    if events := json.loads(view.events or "{}"):
        settings.append(f"events {events['first']} to {events['last']}, part {events['part']}")
    return settings


def _rule(rule: dict[str, Any]) -> str:
    kind = ", required" if rule.get("required") else ", only noted" if rule.get("passive") else ""
    reason = f", {rule['reason']}" if "reason" in rule else ""
    return f"log rule `{rule['match']}`{kind}{reason}"


def _progress(progress: dict[str, Any]) -> str:
    if "log" in progress:
        return f"progress by `{progress['log']}` in its log"
    of = f" of {size(progress['of'])}" if progress.get("of") else ""
    return f"progress by the size of {progress['output']}{of}"


def list_all(sheet: Sheet, binaries: Sequence[BinaryView], last: int, now: float) -> None:
    """Add the binaries of a package, with how they ended; `last` is its last attempt."""
    if len(binaries) == 1 and binaries[0].started is None:
        return
    sheet.head("binaries")
    sheet.table([
        [
            f"{binary.seq} {binary.name}",
            signs.mark(state(binary), sheet.glyphs),
            *use(binary, now),
            (f"attempt {binary.attempt}" if binary.attempt not in (None, last) else "", "faint"),
        ]
        for binary in binaries
    ])  # fmt: skip


def state(binary: BinaryView | BinaryRecord) -> str:
    """Return the state of a binary."""
    if binary.started is None:
        return "skipped" if isinstance(binary, BinaryView) and binary.is_skipped else "waiting"
    if binary.ended is None:
        return "running"
    if binary.reason == Reason.KILLED:
        return Status.CANCELED
    return "failed" if binary.reason or binary.exit_code or binary.signal else Status.SUCCESSFUL


def use(binary: BinaryView | BinaryRecord, now: float) -> list[Cell]:
    """Return how a binary ended, how long it took, and what it used."""
    code = "" if binary.exit_code is None else f"exit {binary.exit_code}"
    took = ""
    if binary.started is not None:
        took = f"since {moment(binary.started, now)}"
        took = duration(binary.ended - binary.started) if binary.ended is not None else took
    return [
        (f"signal {binary.signal}", "bad")
        if binary.signal
        else (code, "bad" if binary.exit_code else ""),
        took,
        (f"{duration(binary.cpu_time)} of cpu" if binary.cpu_time is not None else "", "faint"),
        (f"peak {size(binary.rss)}" if binary.rss else "", "faint"),
    ]
