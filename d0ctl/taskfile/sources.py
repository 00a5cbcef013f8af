"""Where the files of an input dataset come from, and a look at what is there now."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from d0ctl.catalogues import BUILT_IN
from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import FLAG
from d0ctl.jobfile.language.placeholders import Scope
from d0ctl.jobfile.sections import other_files
from d0ctl.jobfile.sections.catalogues import plugin_rows, read_rows
from d0ctl.jobfile.sections.level import Reading, kind_of
from d0ctl.jobfile.sections.loop_sources import (
    MAX_VALUES,
    RangeValues,
    read_csv,
    read_glob,
    read_lines,
    read_list,
    read_range,
)
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Scalar
from d0ctl.jobfile.yaml.document import Sequence as ListNode
from d0ctl.jobfile.yaml.faults import Faults, did_you_mean, shown
from d0ctl.jobfile.yaml.parser import parse
from d0ctl.plugins import PluginFailed, named
from d0ctl.taskfile.split_rules import convert

SOURCES = ("glob", "list", "lines", "csv", "catalogue", "range", "seeds", "cache", "node", "task")
"""The keys of an input dataset that say where its files come from; only one is used."""

HERE = ("glob", "list", "lines", "csv", "range", "seeds")
"""Those that need nothing but this machine."""

MORE = ("type", "match", "unread", "folder", "dataset", "early-start")
"""Its other keys."""


class Unavailable(Exception):
    """A dataset that can't be looked up at present; the message says why."""


class Unusable(Exception):
    """A dataset that can't be used until a person changes something; the message says why."""


class Found(Struct, frozen=True):
    """A file of a dataset as its source describes it."""

    name: str
    size: int | None = None
    events: int | None = None
    checksum: str | None = None


def read_source(name: str, node: Node, reading: Reading) -> tuple[str, Mapping[str, Any]] | None:
    """Read an entry of `inputs`: the type of the dataset, and its source as JSON can have it."""
    if isinstance(node, ListNode):
        return "input", {"list": _plain(node, reading)}
    if not isinstance(node, MappingNode):
        example = f"`{name}: {{glob: raw/*.raw}}`"
        reading.fault(node.position, f"a dataset takes a source, as in {example}, not "
                      f"{kind_of(node)}")  # fmt: skip
        return None
    for key, (written, _) in node.items.items():
        if key not in (*SOURCES, *MORE):
            hint = did_you_mean(key, (*SOURCES, *MORE))
            reading.fault(written.position, f"a dataset has no key {shown(key)}{hint}")
    sources = [key for key in SOURCES if key in node.items]
    if len(sources) != 1:
        known = ", ".join(f"`{source}`" for source in SOURCES)
        reading.fault(node.position, f"dataset {shown(name)} needs one source of {known}")
        return None
    kind = "input"
    if "type" in node.items:
        scalar = reading.scalar(node.items["type"][1], "`type`")
        kind = reading.text(scalar) if scalar is not None else kind
        if kind not in ("input", "lib"):
            reading.fault(node.items["type"][1].position, "`type` takes `input` or `lib`")
    value = node.items[sources[0]][1]
    if sources[0] == "range":
        read_range(value, reading)
    found = {key: _plain(node.items[key][1], reading)
             for key in (*sources, *MORE[1:]) if key in node.items}  # fmt: skip
    for key in ("dataset", "early-start"):
        if key in found and sources[0] != "task":
            reading.fault(node.items[key][0].position, f"`{key}` is for files of a `task`")
    _check_folder(node, found, reading)
    if "early-start" in found:
        scalar = reading.scalar(node.items["early-start"][1], "`early-start`")
        if scalar is not None:
            found["early-start"] = convert("early-start", scalar, FLAG, reading)
    if sources[0] == "seeds" and not str(found["seeds"]).isdigit():
        reading.fault(value.position, "`seeds` takes how many there are, as in `seeds: 1000`")
    return kind, found


def _check_folder(node: MappingNode, source: Mapping[str, Any], reading: Reading) -> None:
    """Compare `node` with the nodes that there are; it and `folder` need each other."""
    if ("node" in source) != ("folder" in source):
        reading.fault(node.position, "`node` and `folder` belong together, as in "
                      "`{node: farm01, folder: /data/raw}`")  # fmt: skip
    known = reading.known.nodes
    if "node" in source and known is not None and source["node"] not in known:
        hint = did_you_mean(source["node"], known) or ": d0ctl node list"
        reading.fault(node.items["node"][0].position,
                      f"there is no node {shown(source['node'])}{hint}")  # fmt: skip


def _plain(node: Node, reading: Reading) -> Any:
    """Return texts and lists with the values of parameters."""
    if isinstance(node, ListNode):
        return [_plain(item, reading) for item in node.items]
    scalar = reading.scalar(node, "a source")
    return reading.text(scalar) if scalar is not None else ""


def look_up(
    source: Mapping[str, Any], directory: str, known: KnownNames
) -> Sequence[Found] | RangeValues:
    """Return the files that there are now, in their order. Raises Unavailable, Unusable."""
    if "seeds" in source:
        return RangeValues(range(1, int(source["seeds"]) + 1), 0)
    faults = Faults(None, "a task file")
    read = _read(source, Reading(faults, directory, Scope(), known))
    if isinstance(read, RangeValues):
        return read
    files = list(read)
    _raise(faults, Unavailable)
    if not files:
        raise Unavailable("it has no files yet")
    _refuse_doubles(files)
    return files


def first(source: Mapping[str, Any], directory: str, number: int) -> tuple[str, ...]:
    """Return the first of the files that there are now on this machine, at most a number."""
    if "seeds" in source:
        return ("1", "2")[:number]
    if not any(key in source for key in HERE):
        return ()
    found: Iterable[Found | str] = _read(source, Reading(Faults(None), directory, Scope()))
    files = islice(found, number)
    return tuple(entry.name if isinstance(entry, Found) else entry for entry in files)


def _read(source: Mapping[str, Any], reading: Reading) -> Iterable[Found] | RangeValues:
    """Return the files of a source, as they are read. Raises Unusable."""
    tree = parse(json.dumps(source), reading.faults)
    assert isinstance(tree, MappingNode)
    kind = next(key for key in SOURCES if key in source)
    value = tree.items[kind][1]
    if kind == "range":
        values = read_range(value, reading)
        _raise(reading.faults, Unusable)
        assert isinstance(values, RangeValues)
        return values
    return _READERS[kind](tree, value, reading)


def _raise(faults: Faults, kind: type[Exception]) -> None:
    if faults:
        raise kind(faults.lines()[0])


def _refuse_doubles(found: Sequence[Found]) -> None:
    seen: set[str] = set()
    for source in found:
        if not source.name or not source.name.isprintable():
            raise Unusable(f"it has a file with the name {source.name!a}")
        if source.name in seen:
            raise Unusable(f"it has the file {shown(source.name)} twice")
        seen.add(source.name)


def _local(names: Iterable[str], reading: Reading) -> Iterable[Found]:
    """Describe files on this machine; a later file of the same name has another time."""
    for name in names:
        try:
            known = os.stat(local_files.absolute(reading.directory, name))  # noqa: PTH116
            yield Found(name, known.st_size, checksum=f"mtime:{known.st_mtime_ns}")
        except (OSError, ValueError):
            yield Found(name)


def _glob(_: MappingNode, value: Node, reading: Reading) -> Iterable[Found]:
    return _local(read_glob(value, reading), reading)


def _list(_: MappingNode, value: Node, reading: Reading) -> Iterable[Found]:
    return _local(read_list(value, reading), reading)


def _lines(_: MappingNode, value: Node, reading: Reading) -> Iterable[Found]:
    return _local(read_lines(value, reading), reading)


def _csv(_: MappingNode, value: Node, reading: Reading) -> Iterable[Found]:
    rows, columns = read_csv(value, reading)
    return _of_rows(rows, columns or ())


def _catalogue(tree: MappingNode, value: Node, reading: Reading) -> Iterable[Found]:
    """Ask a catalogue: one that fails is asked again, one that answers nonsense is not."""
    assert isinstance(value, Scalar)
    name, _, query = value.text.strip().partition(" ")
    if name in BUILT_IN:
        return _of_rows(*read_rows(value, MAX_VALUES, reading))
    try:
        plugin = named("catalogue", name)
        if plugin is None:
            raise Unusable(f"no installed package has a catalogue {shown(name)}")
        return _of_rows(*plugin_rows(plugin, query.strip(), MAX_VALUES))
    except PluginFailed as error:
        raise (Unusable if error.__cause__ is None else Unavailable)(str(error)) from error


def _cache(tree: MappingNode, value: Node, reading: Reading) -> Iterable[Found]:
    return [Found(file.name, file.size) for file in other_files.of_cache(tree, reading)]


def _of_rows(rows: Iterable[Sequence[str]], columns: Sequence[str]) -> Iterable[Found]:
    """Read the columns `file`, or else the first, and `size`, `events` and `checksum`."""
    positions = {column: at for at, column in enumerate(columns)}
    name = positions.get("file", positions.get("name", 0))
    size, events, checksum = (positions.get(key) for key in ("size", "events", "checksum"))
    for number, row in enumerate(islice(rows, MAX_VALUES), 1):
        yield Found(
            row[name], _number(row, size, number), _number(row, events, number),
            row[checksum] or None if checksum is not None else None,
        )  # fmt: skip


def _number(row: Sequence[str], at: int | None, number: int) -> int | None:
    if at is None or not row[at]:
        return None
    if not row[at].isdecimal() or len(row[at]) > 18:
        raise Unusable(f"row {number:,} has {shown(row[at])} where a whole number is needed")
    return int(row[at])


_READERS: Mapping[str, Callable[[MappingNode, Node, Reading], Iterable[Found]]] = {
    "glob": _glob, "list": _list, "lines": _lines, "csv": _csv, "catalogue": _catalogue,
    "cache": _cache,
}  # fmt: skip
