"""The entries of `inputs`, and `stdin`."""

from collections.abc import Iterable

from d0ctl.jobfile.language.compiled_text import constant
from d0ctl.jobfile.language.field_types import (
    ACQUIRE,
    CHECKSUM,
    FLAG,
    INPUT_DISPOSITION,
    LOCATOR,
    SIZE,
    FieldType,
    split_names,
)
from d0ctl.jobfile.language.file_names import renaming
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.recipe import BinaryRecipe, InputRecipe
from d0ctl.jobfile.sections.catalogues import read_rows
from d0ctl.jobfile.sections.files.locators import locator_type
from d0ctl.jobfile.sections.files.outputs import entries
from d0ctl.jobfile.sections.groups import row_members
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.sections.loop_sources import MAX_VALUES, read_lines
from d0ctl.jobfile.sections.other_files import of_cache
from d0ctl.jobfile.spec import Acquire
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar
from d0ctl.jobfile.yaml.faults import shown

INPUT_KEYS = split_names(
    "file from match glob list catalogue cache unread as locator size checksum acquire disposition "
    "required writable"
)
SEVERAL = ("list", "catalogue", "cache")
"""The keys of an entry that names several files when the job file is read."""

AS = FieldType(renaming, "a relative path without `..`; a folder has `/` at its end")


def read_inputs(node: Node | None, reading: Reading) -> list[InputRecipe]:
    """Read the entries of `inputs`."""
    return [recipe for item in entries(node) for recipe in _input(item, reading)]


def read_stdin(level: Level, reading: Reading) -> InputRecipe | None:
    """Read the name of the file for the standard input."""
    scalar = level.scalar("stdin")
    if scalar is None:
        return None
    if scalar.text.endswith("/") or _group(scalar, reading) is not None:
        reading.fault(scalar.position, f"`stdin` takes one file, not {shown(scalar.text)}")
        return None
    file = reading.template(scalar, strict=True)
    return InputRecipe(scalar.position, Fields(), file=file, is_flat=reading.is_flat)


def _input(node: Node, reading: Reading) -> list[InputRecipe]:
    """Read one entry; one that names several files makes one entry for each."""
    if isinstance(node, Mapping) and not set(SEVERAL).isdisjoint(node.items):
        return _several(node, reading)
    recipe = _one_input(node, reading)
    return [] if recipe is None else [recipe]


def _several(node: Mapping, reading: Reading) -> list[InputRecipe]:
    """Read an entry whose files a list, a catalogue or the cache of a node names."""
    level = Level(node, "an input", INPUT_KEYS, reading)
    key, *others = [key for key in (*SEVERAL, "file", "from", "glob") if key in level]
    scalar = level.scalar(key)
    if key != "cache":
        others += [key for key in ("match", "unread") if key in level]
    if others:
        reading.fault(level.position(others[0]), f"`{others[0]}` can't be combined with `{key}`")
    fields = _input_fields(level, reading)
    if scalar is None or others:
        return []
    if key == "cache":
        fields.fixed.setdefault("required", False)
        names: Iterable[str] = [file.name for file in of_cache(node, reading)]
    elif key == "catalogue":
        rows, columns = read_rows(scalar, MAX_VALUES, reading)
        names = (
            [member.name for member in row_members(rows, columns, node, reading)] if rows else ()
        )
    else:
        names = [name.strip() for name in read_lines(scalar, reading)]
    return [
        InputRecipe(
            scalar.position,
            fields,
            file=constant(scalar, name),
            is_flat=reading.is_flat,
            listed_in=None if key == "cache" else scalar.text,
        )
        for name in names
    ]


def _one_input(node: Node, reading: Reading) -> InputRecipe | None:
    if isinstance(node, Scalar):
        group = _group(node, reading)
        if group is not None:
            return InputRecipe(node.position, Fields(), group=group, is_flat=reading.is_flat)
        return InputRecipe(
            node.position,
            Fields(),
            file=reading.template(node, strict=True),
            is_flat=reading.is_flat,
        )
    if not isinstance(node, Mapping):
        reading.fault(node.position, f"an input takes a file name or keys, not {kind_of(node)}")
        return None
    level = Level(node, "an input", INPUT_KEYS, reading)
    ways = [key for key in ("file", "from", "glob") if key in level]
    if len(ways) != 1:
        written = " and ".join(f"`{key}`" for key in ways) if ways else "none"
        reading.fault(
            node.position,
            "an input needs one of `file`, `from`, `glob`, `list`, `catalogue` and `cache`, but "
            f"has {written}",
        )
        return None
    if "unread" in level:
        reading.fault(level.position("unread"), "`unread` needs `cache`")
    if "match" in level and ways != ["from"]:
        reading.fault(level.position("match"), "`match` needs `from` or `cache`")
    fields = _input_fields(level, reading)
    scalar, match = level.scalar(ways[0]), level.scalar("match")
    if scalar is None:
        return None
    if ways == ["from"]:
        pattern = reading.template(match, strict=True) if match is not None else None
        return InputRecipe(
            scalar.position,
            fields,
            stage=reading.text(scalar),
            match=pattern,
            is_flat=reading.is_flat,
        )
    group = _group(scalar, reading)
    if ways == ["file"] and group is not None:
        return InputRecipe(scalar.position, fields, group=group, is_flat=reading.is_flat)
    template = reading.template(scalar, strict=True)
    if ways == ["glob"]:
        return InputRecipe(scalar.position, fields, glob=template, is_flat=reading.is_flat)
    return InputRecipe(scalar.position, fields, file=template, is_flat=reading.is_flat)


def _input_fields(level: Level, reading: Reading) -> Fields:
    """Read the fields of an entry about its files, however it names them."""
    fields = Fields()
    types = {"size": SIZE, "acquire": ACQUIRE, "disposition": INPUT_DISPOSITION, "required": FLAG,
             "writable": FLAG}  # fmt: skip
    level.fields({"checksum": CHECKSUM, "as": AS, **types}, fields)
    if "locator" in level:
        is_brought = fields.fixed.get("acquire", Acquire.PRE_FETCH) is Acquire.PRE_FETCH
        level.fields({"locator": locator_type(reading, "fetch") if is_brought else LOCATOR}, fields)
    return fields


def _group(scalar: Scalar, reading: Reading) -> int | None:
    """Return the index of the loop value whose files an input takes, e.g. `{part}`."""
    loop = reading.scope.loops.get(scalar.text.strip("{}"))
    is_whole = loop is not None and loop.is_group and scalar.text[:1] + scalar.text[-1:] == "{}"
    return loop.index if loop is not None and is_whole else None


def check_groups(binary: BinaryRecipe, reading: Reading) -> None:
    """Record a fault for a group in a text whose files are not among the inputs."""
    taken = {entry.group for entry in binary.inputs}
    for text in binary.texts:
        for insertion in text.insertions:
            name = insertion.placeholder.name
            if insertion.group is None or insertion.group in taken:
                continue
            if reading.scope.loops[name].are_files:
                message = f'`{{{name}}}` needs `inputs: "{{{name}}}"`, so that its files are there'
                reading.fault(insertion.position, message)
