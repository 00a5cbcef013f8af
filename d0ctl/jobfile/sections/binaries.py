"""The lower levels of a job file: binary, input and output."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from d0ctl.jobfile.language.field_types import (
    ACQUIRE,
    CHECKSUM,
    COUNT,
    FLAG,
    IMAGE,
    INPUT_DISPOSITION,
    LABEL,
    LOCATOR,
    OUTPUT_DISPOSITION,
    PATTERN,
    PERCENT,
    SIZE,
    SOFTWARE,
    TEXT,
    TIME,
    BadValueError,
    FieldType,
    words,
)
from d0ctl.jobfile.language.file_names import renaming
from d0ctl.jobfile.language.placeholders import Scope, Template, constant
from d0ctl.jobfile.language.script import Run, compile_arguments, compile_script
from d0ctl.jobfile.language.values import Fields, TextValue, mapping_value
from d0ctl.jobfile.recipe import BinaryRecipe, InputRecipe, OutputRecipe
from d0ctl.jobfile.sections import file_commands
from d0ctl.jobfile.sections.catalogues import read_rows
from d0ctl.jobfile.sections.groups import row_members
from d0ctl.jobfile.sections.late_outputs import check_late_keys
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.sections.locators import locator_type
from d0ctl.jobfile.sections.log_rules import read_verification
from d0ctl.jobfile.sections.loops import MAX_VALUES, read_lines
from d0ctl.jobfile.sections.other_files import of_cache
from d0ctl.jobfile.spec import Acquire
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.plugins import PluginFailed
from d0ctl_wrapper import merge_types

BINARY_KEYS = words(
    "name run merge shell image software parameters inputs stdin outputs runtime work-size cpu "
    "needs log-rules progress check check-timeout events"
)
INPUT_KEYS = words(
    "file from match glob list catalogue cache unread as locator size checksum acquire disposition "
    "required writable"
)
SEVERAL = ("list", "catalogue", "cache")
"""The keys of an entry that names several files when the job file is read."""
OUTPUT_KEYS = words("file locator size min-size checksum disposition result late min-count")
PLAIN_TYPES = {"runtime": TIME, "work-size": SIZE, "cpu": PERCENT, "image": IMAGE}
"""The keys of a binary that hold one text."""

AS = FieldType(renaming, "a relative path without `..`; a folder has `/` at its end")
SHELLS = ("bash", "sh")
PROGRESS_TYPES = {"log": PATTERN, "output": TEXT, "of": SIZE}
"""The keys of `progress` with their types."""


def read_binary(node: Mapping, reading: Reading, level: Level | None = None) -> BinaryRecipe:
    """Make the recipe of a binary; `level` has its keys if it is written in the short form."""
    level = level or Level(node, "a binary", BINARY_KEYS, reading)
    fields = Fields()
    if level.what == "a binary":
        level.fields({"name": LABEL}, fields)
    level.fields(PLAIN_TYPES, fields)
    if "software" in level:
        level.fields({"software": _software_type(level)}, fields)
    level.lists({"needs": TEXT}, fields)
    level.trees({"parameters": False}, fields)
    read_verification(level, fields)
    _progress(level, fields)
    inner = reading.within(_with_parameters(level, reading.scope))
    text = level.scalar("check")
    run = _run(level, inner) if "merge" not in level else _merge(level, inner)
    check = compile_script(text, inner.scope, reading.faults) if text is not None else None
    inputs = _inputs(level.get("inputs"), reading)
    stdin = _stdin(level, reading)
    inputs += [stdin] if stdin is not None else []
    outputs = _outputs(level.get("outputs"), reading)
    constant = all(entry.is_constant for entry in inputs)
    binary = BinaryRecipe(node.position, fields, run, check, inputs, outputs, constant, stdin)
    _check_groups(binary, reading)
    return binary


def _software_type(level: Level) -> FieldType:
    """Make the type of a field that names software, which needs a script if there is no `run`."""
    known, alone = level.reading.known.software, "run" not in level

    def convert(value: str) -> str:
        if not SOFTWARE.fullmatch(value):
            raise ValueError
        if known is not None and value not in known:
            meant = did_you_mean(value, known) or f": d0ctl software add {value} --archive FILE"
            raise BadValueError(f"there is no software {shown(value)}{meant}")
        if known is not None and alone and not known[value]:
            raise BadValueError(f"software {shown(value)} has no `script`: add `run`")
        return value

    return FieldType(convert, "software as NAME/VERSION, such as `reco/v12-01`")


def _with_parameters(level: Level, scope: Scope) -> Scope:
    """Add the parameters of a binary to the names known in its `run:`."""
    node = level.get("parameters")
    if not isinstance(node, Mapping):
        return scope
    own: dict[str, Template | None] = {
        name: level.reading.template(value) if isinstance(value, Scalar) else None
        for name, (_, value) in node.items.items()
    }
    return Scope(scope.loops, {**scope.parameters, **own})


def _progress(level: Level, fields: Fields) -> None:
    node = level.get("progress")
    if isinstance(node, Scalar):
        cells = {"log": level.reading.text_value("progress", node, PATTERN)}
        fields.set("progress", mapping_value(node.position, cells), level.reading.faults)
    elif (rule := level.mapping("progress")) is not None:
        inner = Level(rule, "`progress`", PROGRESS_TYPES, level.reading)
        if ("log" in inner) == ("output" in inner) or ("of" in inner and "log" in inner):
            message = "`progress` takes `log: REGEX`, or `output: NAME` with or without `of: SIZE`"
            level.reading.fault(rule.position, message)
            return
        values = {name: inner.value(name, kind) for name, kind in PROGRESS_TYPES.items()}
        cells = {name: value for name, value in values.items() if isinstance(value, TextValue)}
        fields.set("progress", mapping_value(rule.position, cells), level.reading.faults)


def _run(level: Level, reading: Reading) -> Run | None:
    """Read `run:`, a text for a shell or a list of arguments."""
    shell = level.scalar("shell")
    if shell is not None and shell.text not in SHELLS:
        hint = did_you_mean(shell.text, SHELLS)
        reading.fault(shell.position, f"`shell` takes `bash` or `sh`, not `{shell.text}`{hint}")
    node = level.get("run")
    if isinstance(node, Sequence) and node.items:
        scalars = [reading.scalar(item, "an element of `run`") for item in node.items]
        elements = [scalar for scalar in scalars if scalar is not None]
        if shell is not None:
            reading.fault(
                shell.position, "a list under `run` is executed without a shell: remove `shell`"
            )
        if elements and not elements[0].text:
            reading.fault(elements[0].position, "the first element of `run` must name the program")
        return compile_arguments(elements, reading.scope, reading.faults)
    if isinstance(node, Scalar) and node.text.strip():
        name = shell.text if shell is not None else "bash"
        return compile_script(node, reading.scope, reading.faults, name)
    if node is not None:
        reading.fault(node.position, f"`run` takes a text or a list, not {kind_of(node)}")
    elif "software" in level:
        if shell is not None:
            reading.fault(shell.position, "`shell` needs `run`; software has its own")
        level.scalar("software")
    else:
        reading.fault(level.position("run"), f"{level.what} needs `run`")
    return None


def _merge(level: Level, reading: Reading) -> Run | None:
    """Read `merge: yes`: the inputs are merged into the only output, according to its type."""
    scalar = level.scalar("merge")
    if scalar is None or not _is_yes(scalar, reading):
        return _run(level, reading)
    for key in ("run", "shell", "software", "stdin"):
        if key in level:
            reading.fault(level.position(key), f"`merge` replaces `{key}`: remove one")
    name = _name_of_only(_entries(level.get("outputs")))
    if name is None:
        reading.fault(scalar.position, "`merge` needs one output, by its name, and no other")
        return None
    if not _entries(level.get("inputs")):
        reading.fault(scalar.position, "`merge` needs `inputs`")
    text = name.text.lower()
    try:
        command = _merge_command(text, reading)
    except PluginFailed as error:
        reading.fault(name.position, str(error))
        return None
    if command is not None:
        written = command.replace("{output}", "{outputs}")
        return compile_script(replace(scalar, text=written), reading.scope, reading.faults, "sh")
    if merge_types.kind_of(text) is None:
        known = ", ".join(f"`{suffix}`" for suffix in merge_types.KINDS)
        reading.fault(
            name.position,
            f"{shown(name.text)} is not of a type that can be merged: {known}; "
            "`merge` in the site file, or a plug-in, adds others",
        )
    words = [replace(scalar, text=word) for word in (merge_types.PROGRAM, "{outputs}")]
    return compile_arguments(words, reading.scope, reading.faults)


def _merge_command(text: str, reading: Reading) -> str | None:
    """Return the command that merges into a file: the site's, or that of a plug-in.

    Raises PluginFailed.
    """
    site = reading.known.merge or {}
    own = [suffix for suffix in site if text.endswith(suffix)]
    if own or merge_types.kind_of(text) is not None:
        return site[max(own, key=len)] if own else None
    plugin = file_commands.merging_plugin(text)
    return None if plugin is None else file_commands.merge_command(plugin)


def _is_yes(scalar: Scalar, reading: Reading) -> bool:
    try:
        return bool(FLAG.convert(scalar.text))
    except ValueError:
        message = f"`merge` takes {FLAG.expected}, not {shown(scalar.text)}"
        reading.fault(scalar.position, message)
        return False


def _name_of_only(outputs: list[Node]) -> Scalar | None:
    """Return the name of the only output."""
    node = outputs[0] if len(outputs) == 1 else None
    if isinstance(node, Mapping):
        node = node.items["file"][1] if "file" in node.items and "late" not in node.items else None
    return node if isinstance(node, Scalar) else None


def _entries(node: Node | None) -> list[Node]:
    if node is None:
        return []
    return node.items if isinstance(node, Sequence) else [node]


def _inputs(node: Node | None, reading: Reading) -> list[InputRecipe]:
    return [recipe for item in _entries(node) for recipe in _input(item, reading)]


def _stdin(level: Level, reading: Reading) -> InputRecipe | None:
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
    way, *others = [key for key in (*SEVERAL, "file", "from", "glob") if key in level]
    scalar = level.scalar(way)
    if way != "cache":
        others += [key for key in ("match", "unread") if key in level]
    if others:
        reading.fault(level.position(others[0]), f"`{others[0]}` can't be combined with `{way}`")
    fields = _input_fields(level, reading)
    if scalar is None or others:
        return []
    if way == "cache":
        fields.fixed.setdefault("required", False)
        names: Iterable[str] = [file.name for file in of_cache(node, reading)]
    elif way == "catalogue":
        rows, columns = read_rows(scalar, MAX_VALUES, reading)
        names = (
            [member.name for member in row_members(rows, columns, node, reading)] if rows else ()
        )
    else:
        names = [name.strip() for name in read_lines(scalar, reading)]
    return [
        InputRecipe(scalar.position, fields, file=constant(scalar, name), is_flat=reading.is_flat)
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
        written = " and ".join(f"`{way}`" for way in ways) if ways else "none"
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


def _check_groups(binary: BinaryRecipe, reading: Reading) -> None:
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


def _outputs(node: Node | None, reading: Reading) -> list[OutputRecipe]:
    recipes = (_output(item, reading) for item in _entries(node))
    return [recipe for recipe in recipes if recipe is not None]


def _output(node: Node, reading: Reading) -> OutputRecipe | None:
    if isinstance(node, Scalar):
        return OutputRecipe(node.position, reading.template(node, strict=True), Fields())
    if not isinstance(node, Mapping):
        reading.fault(node.position, f"an output takes a file name or keys, not {kind_of(node)}")
        return None
    level = Level(node, "an output", OUTPUT_KEYS, reading)
    fields = Fields()
    types = {"size": SIZE, "min-size": SIZE, "result": FLAG, "late": FLAG, "min-count": COUNT}
    level.fields({"locator": locator_type(reading, "store"), "checksum": CHECKSUM, **types}, fields)
    check_late_keys(level, fields)
    disposition = level.get("disposition")
    if disposition is not None:
        list_value = reading.list_value("disposition", disposition, OUTPUT_DISPOSITION, frozenset)
        fields.set("dispositions", list_value, reading.faults)
    scalar: Any = level.scalar("file")
    if scalar is None:
        if "file" not in level:
            reading.fault(node.position, "an output needs `file`")
        return None
    return OutputRecipe(scalar.position, reading.template(scalar, strict=True), fields)
