"""Rows of a catalogue, built-in or a plug-in, as values of a loop name."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from d0ctl.catalogues import BUILT_IN, BadSelection
from d0ctl.jobfile import local_files
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.yaml.document import Node, Scalar
from d0ctl.jobfile.yaml.faults import did_you_mean, escape, shown
from d0ctl.plugins import Plugin, PluginFailed, installed, named
from d0ctl.units import listed

Rows = tuple[Sequence[tuple[str, ...]], tuple[str, ...]]
"""Rows, and the names of their columns."""


def read_rows(node: Node, most: int, reading: Reading) -> Rows:
    """Read `catalogue: NAME QUERY`, up to a number of rows."""
    scalar = reading.scalar(node, "`catalogue`")
    if scalar is None:
        return (), ()
    name, _, query = reading.text(scalar).strip().partition(" ")
    if name in BUILT_IN:
        rows, columns = _built_in(name, query.strip(), scalar, most, reading)
    else:
        rows, columns = _of_plugin(name, query.strip(), scalar, most, reading)
    reading.refuse_reserved(
        scalar.position, map("".join, rows),
        lambda number: f"row {number:,} of catalogue {shown(name)}",
    )  # fmt: skip
    return rows, columns


def _of_plugin(name: str, query: str, scalar: Scalar, most: int, reading: Reading) -> Rows:
    """Query the catalogue of an installed package."""
    try:
        plugin = named("catalogue", name)
        if plugin is not None:
            rows, columns = plugin_rows(plugin, query, most)
            message = f"catalogue {shown(name)} has nothing for {shown(query)}"
        else:
            rows, columns = [], ()
            known = [*BUILT_IN, *(plugin.name for plugin in installed("catalogue"))]
            message = f"no installed package has a catalogue {shown(name)}"
            message += did_you_mean(name, known) or f"; there are {listed(map(shown, known))}"
    except PluginFailed as error:
        rows, columns, message = [], (), str(error)
    if not rows:
        reading.fault(scalar.position, message)
    return rows, columns


def _built_in(name: str, query: str, scalar: Scalar, most: int, reading: Reading) -> Rows:
    """Query a built-in catalogue with `FILE CONDITION`."""
    file, _, condition = query.partition(" ")
    if not file:
        rest = "FILE QUERY" if name == "sqlite" else "FILE CONDITION"
        reading.fault(scalar.position, f"catalogue `{name}` takes a file, as in `{name} {rest}`")
        return (), ()
    path = Path(local_files.absolute(reading.directory, file))
    try:
        rows = list(islice(BUILT_IN[name](path, condition.strip()), most + 1))
    except BadSelection as error:
        reading.fault(scalar.position, f"catalogue `{name}`: {escape(str(error))}")
        return (), ()
    if not rows or len(rows) > most:
        problem = f"has more than {most:,} rows" if rows else "has nothing"
        reading.fault(scalar.position, f"catalogue `{name}` {problem} for {shown(query)}")
        return (), ()
    return [tuple(row.values()) for row in rows], tuple(rows[0])


def plugin_rows(
    plugin: Plugin, query: str, most: int
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Query the plug-in, and check its rows. Raises PluginFailed."""
    rows: list[tuple[str, ...]] = []
    columns: tuple[str, ...] = ()
    for row in plugin.items(plugin.call(query), "rows"):
        if not isinstance(row, Mapping) or not all(isinstance(key, str) for key in row):
            raise plugin.failed("must return mappings of columns to values")
        columns = columns or tuple(row)
        if tuple(row) != columns or not columns:
            raise plugin.failed(f"has other columns in row {len(rows) + 1} than in the first")
        rows.append(tuple([str(value) for value in row.values()]))
        if len(rows) > most:
            raise plugin.failed(f"has more than {most:,} rows")
    return rows, columns
