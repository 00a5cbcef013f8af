"""The level of a binary in a job file."""

from collections.abc import Iterable

from msgspec.structs import replace

from d0ctl.jobfile.language.field_types import (
    FLAG,
    IMAGE,
    LABEL,
    PATTERN,
    PERCENT,
    SIZE,
    SOFTWARE,
    TEXT,
    TIME,
    BadValueError,
    FieldType,
    split_names,
)
from d0ctl.jobfile.language.placeholders import PLACEHOLDER, Parameters, Scope, Template
from d0ctl.jobfile.language.script import Run, compile_arguments, compile_script
from d0ctl.jobfile.language.values import Fields, TextValue, mapping_value
from d0ctl.jobfile.recipe import BinaryRecipe
from d0ctl.jobfile.sections import file_commands
from d0ctl.jobfile.sections.files.inputs import check_groups, read_inputs, read_stdin
from d0ctl.jobfile.sections.files.outputs import entries, read_outputs
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.sections.log_rules import read_verification
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.plugins import PluginFailed
from d0ctl_wrapper import merge_types

BINARY_KEYS = split_names(
    "name run merge shell image software parameters inputs stdin outputs runtime work-size cpu "
    "needs log-rules progress check check-timeout events"
)
PLAIN_TYPES = {"runtime": TIME, "work-size": SIZE, "cpu": PERCENT, "image": IMAGE}
"""The keys of a binary that hold one text."""

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
    level.warn_of_bytes("work-size")
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
    commands = run.scalars if run is not None and "run" in level else ()
    _check_lists(level, commands if text is None else (*commands, text))
    inputs = read_inputs(level.get("inputs"), reading)
    stdin = read_stdin(level, reading)
    inputs += [stdin] if stdin is not None else []
    outputs = read_outputs(level.get("outputs"), reading)
    constant = all(entry.is_constant for entry in inputs)
    binary = BinaryRecipe(node.position, fields, run, check, inputs, outputs, constant, stdin)
    check_groups(binary, reading)
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
    return Scope(scope.loops, Parameters(own, scope.parameters))


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


def _check_lists(level: Level, commands: Iterable[Scalar]) -> None:
    """Record a fault for a list of inputs in a binary that has none, a warning if it says so.

    With `stdin` the list may be empty, as most programs then read their standard input.
    """
    node, reading = level.get("inputs"), level.reading
    if "stdin" in level or (node is not None and entries(node)):
        return
    notes = reading.faults if node is None else reading.faults.warnings
    example = f"{{from: {reading.stages[-1].name}}}" if reading.stages else "FILE"
    reason = f"{level.what.replace('a ', 'this ', 1)} has no `inputs`: add e.g. `inputs: {example}`"
    for scalar in commands:
        for found in PLACEHOLDER.finditer(scalar.text):
            if found[0] in ("{inputs}", "{inputs.list}"):
                message = f"`{found[0]}` is empty, as {reason}"
                notes.add(scalar.position_at(found[0], found.start()), message)
                return


def _merge(level: Level, reading: Reading) -> Run | None:
    """Read `merge: yes`: the inputs are merged into the only output, according to its type."""
    scalar = level.scalar("merge")
    is_merge = _is_yes(scalar, reading) if scalar is not None else False
    if is_merge is None and "run" not in level:
        return None
    if scalar is None or not is_merge:
        return _run(level, reading)
    for key in ("run", "shell", "software", "stdin"):
        if key in level:
            reading.fault(level.position(key), f"`merge` replaces `{key}`: remove one")
    name = _name_of_only(entries(level.get("outputs")))
    if name is None:
        reading.fault(scalar.position, "`merge` needs one output, by its name, and no other")
        return None
    if not entries(level.get("inputs")):
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
        reading.fault(name.position, _no_type(name))
    arguments = [replace(scalar, text=word) for word in (merge_types.PROGRAM, "{outputs}")]
    return compile_arguments(arguments, reading.scope, reading.faults)


def _no_type(name: Scalar) -> str:
    """Return why the type of a merged file is not known."""
    if "}" in name.text.rpartition(".")[2]:
        return (
            f"`merge` needs the suffix of {shown(name.text)} written out, as in `.root`: it can't "
            "be a placeholder"
        )
    known = ", ".join(f"`{suffix}`" for suffix in merge_types.KINDS)
    return (
        f"{shown(name.text)} is not of a type that can be merged: {known}; "
        "`merge` in the site file, or a plug-in, adds others"
    )


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


def _is_yes(scalar: Scalar, reading: Reading) -> bool | None:
    """Return a yes or a no; None if it is neither, which is a fault."""
    try:
        return bool(FLAG.convert(scalar.text))
    except ValueError:
        message = f"`merge` takes {FLAG.expected}, not {shown(scalar.text)}"
        reading.fault(scalar.position, message)
        return None


def _name_of_only(outputs: list[Node]) -> Scalar | None:
    """Return the name of the only output."""
    node = outputs[0] if len(outputs) == 1 else None
    if isinstance(node, Mapping):
        node = node.items["file"][1] if "file" in node.items and "late" not in node.items else None
    return node if isinstance(node, Scalar) else None
