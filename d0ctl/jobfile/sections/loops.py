"""Loops of a job file, `for:`: names and the values they take."""

import re
from collections.abc import Sequence
from typing import Any

from d0ctl.jobfile.language.field_types import LOOP_NAME
from d0ctl.jobfile.language.placeholders import RESERVED, LoopGroup, LoopName
from d0ctl.jobfile.language.quoting import is_plain
from d0ctl.jobfile.recipe import Loop, Names
from d0ctl.jobfile.sections import other_files
from d0ctl.jobfile.sections.catalogues import read_rows
from d0ctl.jobfile.sections.groups import (
    GROUP_KEYS,
    Members,
    file_members,
    grouped,
    row_members,
    stage_members,
)
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.sections.loop_sources import (
    MAX_VALUES,
    RangeValues,
    Values,
    read_csv,
    read_glob,
    read_lines,
    read_list,
    read_range,
)
from d0ctl.jobfile.sections.splitters import Limit, Member, read_limit
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar
from d0ctl.jobfile.yaml.document import Sequence as ListNode
from d0ctl.jobfile.yaml.faults import did_you_mean, shown

SOURCES = ("glob", "list", "range", "csv", "lines", "catalogue")
_SPAN = re.compile(r"([0-9]{1,15})\s*(?:\.{2,3}|-|:|to)\s*([0-9]{1,15})", re.ASCII)

MOST_NAMES = 100
"""How many names of a loop may be combined: their iterators are nested."""

MAX_LISTED = 2_000_000
"""How many values and members of groups the loops of a file may list, beside ranges."""

NONE = Members(())
"""The contents of groups with a fault."""


def read_loop(node: Node, reading: Reading) -> Loop:
    """Read a `for:` with all its values; the line of a task has those of its files."""
    if isinstance(reading.known.contents, Loop):
        return reading.known.contents
    loop = Loop()
    if not isinstance(node, Mapping):
        reading.fault(
            node.position, "`for` takes names with their values, as in `for: {n: [1, 2]}`"
        )
        return loop
    if len(node.items) > MOST_NAMES:
        message = f"`for` has {len(node.items):,} names (at most {MOST_NAMES})"
        reading.fault(node.position, f"{message}; `zip` and csv files take more")
        return loop
    seen: set[str] = set()
    for name, (key, value) in node.items.items():
        if name == "zip":
            loop.groups.append(_zip(key, value, reading, seen))
        else:
            loop.groups.append(_side_by_side([key], [value], reading, seen))
    if not loop.groups:
        reading.fault(node.position, "`for` has no names")
    return loop


def plain_names(loop: Loop) -> frozenset[int]:
    """Return the indexes of names whose values are all plain words, and so no paths."""
    values = [values for group in loop.groups for values in group.values]
    return frozenset(index for index, each in enumerate(values) if _are_plain(each))


def _are_plain(values: Sequence[Any]) -> bool:
    if isinstance(values, RangeValues):
        return bool(values) and values.are_plain
    return all(isinstance(value, str) and is_plain(value) for value in values)


def _zip(key: Scalar, node: Node, reading: Reading, seen: set[str]) -> Names:
    if not isinstance(node, Mapping) or not node.items:
        reading.fault(
            key.position, "`zip` takes names with their values, as in `zip: {a: .., b: ..}`"
        )
        return Names({}, [()])
    keys, nodes = zip(*node.items.values(), strict=True)
    group = _side_by_side(list(keys), list(nodes), reading, seen)
    sizes = {name: len(values) for name, values in zip(group.names, group.values, strict=True)}
    if len(set(sizes.values())) > 1 and all(sizes.values()):
        sizes_text = ", ".join(f"`{name}` has {size:,}" for name, size in sizes.items())
        reading.fault(key.position, f"`zip` needs as many values of each name, but {sizes_text}")
    return group


def _side_by_side(keys: list[Scalar], nodes: list[Node], reading: Reading, seen: set[str]) -> Names:
    names: dict[str, LoopName] = {}
    values: list[Sequence[Any]] = []
    for key, node in zip(keys, nodes, strict=True):
        _check_name(key, reading, seen)
        if reading.listed["values"] > MAX_LISTED:
            names[key.text] = LoopName(0)
            values.append(())
            continue
        if isinstance(node, Mapping) and not set(GROUP_KEYS).isdisjoint(node.items):
            found: Sequence[Any]
            found, members = _groups(key, node, reading)
            are_files = not {"from", "glob", "cache"}.isdisjoint(node.items)
            names[key.text] = LoopName(
                0,
                is_group=True,
                are_files=are_files,
                is_late=members.is_late,
                is_open=members.is_open,
            )
        else:
            found, columns = _values(key, node, reading)
            are_numbers = isinstance(found, RangeValues) and bool(found)
            names[key.text] = LoopName(0, columns, are_numbers=are_numbers)
        values.append(found if _are_listed(found, key, reading) else ())
    return Names(names, values)


def _are_listed(values: Sequence[Any], key: Scalar, reading: Reading) -> bool:
    """Count the values of a name; record a fault when the loops list too many."""
    if isinstance(values, RangeValues):
        return True
    number = sum(len(each.members) if isinstance(each, LoopGroup) else 1 for each in values)
    reading.listed["values"] += number
    if reading.listed["values"] <= MAX_LISTED:
        return True
    message = f"with these, the loops of the file list more than {MAX_LISTED:,} values and files"
    reading.fault(key.position, message)
    return False


def _groups(key: Scalar, node: Mapping, reading: Reading) -> tuple[Sequence[LoopGroup], Members]:
    """Read the values of a name that are groups of the values of a source, with their members."""
    known = (*SOURCES, *GROUP_KEYS)
    unknown = [key for name, (key, _) in node.items.items() if name not in known]
    for scalar in unknown:
        hint = did_you_mean(scalar.text, known)
        reading.fault(scalar.position, f"a group has no key {shown(scalar.text)}{hint}")
    if unknown:
        return (), NONE
    sources = [name for name in node.items if name in (*SOURCES, "from", "cache")]
    if len(sources) != 1 or "by" not in node.items:
        example = f"`{key.text}: {{from: STAGE, by: 20}}`"
        single = f"; `by: 1` makes a line for each file, `{{{key.text}.first}}`"
        single *= "by" not in node.items
        reading.fault(node.position,
                      f"groups need `by` and one source, as in {example}{single}")  # fmt: skip
        return (), NONE
    if "match" in node.items and sources not in (["from"], ["cache"]):
        reading.fault(node.items["match"][0].position, "`match` needs `from` or `cache`")
    if "unread" in node.items and sources != ["cache"]:
        reading.fault(node.items["unread"][0].position, "`unread` needs `cache`")
    by = reading.scalar(node.items["by"][1], "`by`")
    limit = read_limit(by, reading) if by is not None else None
    if limit is None:
        return (), NONE
    members = _members(sources[0], node, limit, reading)
    return grouped(node, members, limit, reading), members


def _members(source: str, node: Mapping, limit: Limit, reading: Reading) -> Members:
    if source == "from":
        return stage_members(node, reading)
    return Members(_known_members(source, node, limit, reading))


def _known_members(source: str, node: Mapping, limit: Limit, reading: Reading) -> Sequence[Member]:
    value = node.items[source][1]
    if source == "cache":
        return [Member(file.name, file.size) for file in other_files.of_cache(node, reading)]
    if source == "csv":
        rows, columns = read_csv(value, reading)
        return row_members(rows, columns or (), node, reading) if rows else ()
    if source == "catalogue":
        rows, columns = read_rows(value, MAX_VALUES, reading)
        return row_members(rows, columns, node, reading) if rows else ()
    read = {"glob": read_glob, "list": read_list, "lines": read_lines, "range": read_range}[source]
    names = read(value, reading)
    if limit.kind in ("size", "plug-in"):
        return file_members(names, reading.directory)
    return list(map(Member, names))


def _check_name(key: Scalar, reading: Reading, seen: set[str]) -> None:
    name = key.text
    if name in RESERVED:
        reading.fault(key.position, f"`{name}` is a reserved word and can't be a loop name")
    elif not LOOP_NAME.fullmatch(name):
        message = f"the loop name {shown(name)} must be made of letters, digits and `_`"
        reading.fault(key.position, message)
    elif name in seen:
        reading.fault(key.position, f"the loop name `{name}` is used twice")
    seen.add(name)


def _values(key: Scalar, node: Node, reading: Reading) -> Values:
    """Read the values of a name: a list, or a mapping with one source."""
    if isinstance(node, ListNode):
        return read_list(node, reading), None
    sources = ", ".join(f"`{source}:`" for source in SOURCES)
    if not isinstance(node, Mapping) or len(node.items) != 1:
        reading.fault(node.position, f"`{key.text}` takes one of {sources}{_range_hint(node)}")
        return (), None
    source, (source_key, value) = next(iter(node.items.items()))
    if source not in SOURCES:
        message = f"`{source}` is not one of {sources}{did_you_mean(source, SOURCES)}"
        reading.fault(source_key.position, message)
        return (), None
    if source == "csv":
        return read_csv(value, reading)
    if source == "catalogue":
        return read_rows(value, MAX_VALUES, reading)
    if source == "glob":
        return read_glob(value, reading), None
    if source == "lines":
        return read_lines(value, reading), None
    return (read_list if source == "list" else read_range)(value, reading), None


def _range_hint(node: Node) -> str:
    """Show how a range is written, with the numbers of a text such as `1-5`."""
    meant = _SPAN.fullmatch(node.text.strip()) if isinstance(node, Scalar) else None
    return (
        f", as in `{{range: [{meant[1]}, {meant[2]}]}}`" if meant else ", as in `{range: [1, 5]}`"
    )
