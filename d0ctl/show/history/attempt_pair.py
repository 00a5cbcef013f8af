"""Two attempts beside each other: what differs between one that failed and another one."""

import json
from collections.abc import Iterator

from msgspec import Struct

from d0ctl.errors import NotFound
from d0ctl.select import parse
from d0ctl.show.cards import file_lists
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.following import attempts_at
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.views import browse, one_package
from d0ctl.store.views.shapes.of_package import AttemptView, InputView, PackageView
from d0ctl.units import count, duration, moment, size

UNKNOWN = "-"
"""The value of a property that a side does not have."""

LINES = 12
"""How many lines of each output are shown."""

INPUTS = 8
"""How many inputs are compared."""

NOT_KNOWN = (" since", " not compared")
"""Ends of values that may be equal or not: only the last change of a file is recorded."""


class Side(Struct, frozen=True):
    """An attempt with its package, its inputs, and what is known of its node now."""

    package: PackageView
    attempt: AttemptView
    inputs: list[InputView]
    facts: dict[str, object]


def sides(store: Store, first: str, second: str | None) -> tuple[Side, Side]:
    """Read the last attempts of two packages.

    With just one package, the other side is its previous attempt, or else the last attempt of a
    package of its stage that succeeded. Raises NotFound if there is none.
    """
    package = browse.package(store, parse(first))
    tries = attempts_at(store, package)
    if second is not None:
        other = browse.package(store, parse(second))
        return _side(store, package, tries[-1]), _side(store, other, attempts_at(store, other)[-1])
    if len(tries) > 1:
        return _side(store, package, tries[-2]), _side(store, package, tries[-1])
    path = browse.successful_beside(store, package)
    if path is None:
        raise NotFound(f"`{package.path}` has one attempt, and no other package of its stage has "
                       "succeeded: mark two packages to compare them")  # fmt: skip
    other = browse.package(store, parse(path))
    return _side(store, other, attempts_at(store, other)[-1]), _side(store, package, tries[-1])


def _side(store: Store, package: PackageView, attempt: AttemptView) -> Side:
    row = registry.find(store, attempt.node_name)
    facts = json.loads(row.facts or "{}") if row is not None else {}
    return Side(package, attempt, one_package.inputs(store, package.id), facts)


def draw(sheet: Sheet, pair: tuple[Side, Side], logs: tuple[str, str], now: float) -> None:
    """Draw both beside each other, what is different with a mark."""
    rows: list[list[Cell]] = []
    for name, value, other in _rows(pair, now):
        is_unknown = value.endswith(NOT_KNOWN) and value == other
        mark = "?" if is_unknown else "≠" if value != other else ""
        role = "warn" if mark else "faint"
        rows.append([(mark, "warn"), (name, "faint"), (value, role), (other, role)])
    sheet.table(rows)
    for side, log in zip(pair, logs, strict=True):
        sheet.head(f"last lines of {side.package.path}", f"attempt {side.attempt.number}")
        sheet.quote(log or side.attempt.stderr or "", LINES)
        if not (log or side.attempt.stderr):
            sheet.say("nothing", "faint", indent="  ")


def _rows(pair: tuple[Side, Side], now: float) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each property that a side has, and its value on both sides."""
    columns = [_values(side, now) for side in pair]
    for name in dict.fromkeys(name for values in columns for name in values):
        value, other = (values.get(name, UNKNOWN) for values in columns)
        if (value, other) != (UNKNOWN, UNKNOWN):
            yield name, value, other


def _values(side: Side, now: float) -> dict[str, str]:
    attempt, package, facts = side.attempt, side.package, side.facts
    began = attempt.started if attempt.started is not None else attempt.launched
    ended = now if attempt.ended is None else attempt.ended
    values = {
        "attempt": f"{package.path} {attempt.number}",
        "outcome": attempt.outcome or "running",
        "reason": attempt.reason or UNKNOWN,
        "exit": _exit(attempt),
        "node": attempt.node_name,
        "system": f"{facts.get('os') or '?'}, python {facts.get('python') or '?'}",
        "machine": f"{facts.get('machine') or '?'}, {facts.get('cpus') or '?'} CPUs",
        "started": moment(began, now),
        "took": duration(ended - began),
        "CPU time": duration(attempt.cpu) if attempt.cpu is not None else UNKNOWN,
        "memory": size(attempt.rss) if attempt.rss is not None else UNKNOWN,
        "requested": f"{count(attempt.cpus or 1, 'CPU')}, memory {size(attempt.memory)}",
        "inputs": f"{attempt.inputs} of {attempt.inputs_asked}"
        if attempt.inputs is not None
        else UNKNOWN,
    }
    settings = {
        **json.loads(package.environment or "{}"),
        **json.loads(package.wrapper_parameters or "{}"),
    }
    values |= {f"${name}": str(value) for name, value in sorted(settings.items())}
    values |= {f"input {number}": _input(file, attempt)
               for number, file in enumerate(side.inputs[:INPUTS], start=1)}  # fmt: skip
    if len(side.inputs) > INPUTS:
        values["more inputs"] = f"{len(side.inputs) - INPUTS} or more not compared"
    return values


def _input(file: InputView, attempt: AttemptView) -> str:
    changed = file_lists.changed_since(file, attempt)
    return f"{file.name}, {changed}" if changed else f"{file.name} {size(file.size)}"


def _exit(attempt: AttemptView) -> str:
    if attempt.signal:
        return f"signal {attempt.signal}"
    return UNKNOWN if attempt.exit_code is None else str(attempt.exit_code)
