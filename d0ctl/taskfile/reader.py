"""Read a task file: everything but its `process` here, that as a line of a job file."""

from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence
from pathlib import Path
from typing import Any

import msgspec

from d0ctl.errors import BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import FRACTION, JOB
from d0ctl.jobfile.language.placeholders import LoopGroup, Scope
from d0ctl.jobfile.reader import job_name_of, settings_of
from d0ctl.jobfile.recipe import JobRecipe
from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.sections.stages import read_job, scope_of
from d0ctl.jobfile.site_names import NOTHING_KNOWN, KnownNames
from d0ctl.jobfile.source import mapping_of
from d0ctl.jobfile.spec import Acquire
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import Faults, few_comparisons, shown
from d0ctl.plugins import Plugin, PluginFailed, installed
from d0ctl.taskfile import first_packages, presence
from d0ctl.taskfile.job_tree import OF_JOB, job_tree, loop_of
from d0ctl.taskfile.merge_section import read_merge, with_intermediate
from d0ctl.taskfile.sources import read_source
from d0ctl.taskfile.spec import MERGE_STAGE, STAGE, DatasetSpec, Rules, TaskSpec
from d0ctl.taskfile.split_rules import MERGE_RULES, convert, read_rules
from d0ctl.taskfile.timeouts import read_timeouts

KEYS = ("task", *OF_JOB, "goal", "split", "inputs", "outputs", "process", "merge", "timeouts",
        "parent")  # fmt: skip


@few_comparisons()
def read_text(
    text: str,
    source: str = "-",
    directory: Path | None = None,
    parameters: AnyMapping[str, str] = {},
    known: KnownNames = NOTHING_KNOWN,
    *,
    is_new: bool = False,
    submitter: str | None = None,
) -> TaskSpec:
    """Read a task from a text; faults name it `source`, its files are in `directory`.

    The submitter, by default the current user, is the originator if the text names none. Of one
    that `is_new`, also inputs that are not there are faults. Raises BadJobFile with every fault of
    the file.
    """
    faults = Faults(source, "a task file")
    folder = local_files.absolute(str(directory or "."))
    root = mapping_of(text, faults, "`task`, `inputs` and `process`")
    sample = msgspec.structs.replace(known, contents=loop_of([LoopGroup("1", ("1",))], [], 1))
    tree = job_tree(root, (STAGE, MERGE_STAGE), MERGE_RULES)
    recipe = read_job(tree, Reading(faults, folder, Scope(), sample), parameters)
    plain = Reading(faults, folder, Scope(), known)
    level = Level(root, "a task", (*KEYS, *_attributes()), plain)
    reading = level.reading = plain.within(scope_of(level, parameters))
    name = _name(level, source)
    outputs = _outputs(level)
    inputs = _inputs(level)
    rules = _rules(level, recipe, inputs, outputs)
    datasets = [*inputs, *with_intermediate(outputs, rules.merges)]
    _check_names(level, datasets)
    parent = level.scalar("parent")
    if is_new:
        presence.check(level, rules)
    if faults:
        raise BadJobFile(faults.lines())
    if is_new:
        first_packages.check(text, source, folder, parameters, known, rules, datasets, name)
    job = settings_of(recipe, name, folder, source, submitter)
    return TaskSpec(
        msgspec.structs.replace(job, text=text, named="task" in root.items), rules,
        tuple(datasets), reading.text(parent) if parent is not None else None,
        tuple(faults.warnings.lines()),
    )  # fmt: skip


def _name(level: Level, source: str) -> str:
    scalar = level.scalar("task")
    if scalar is None:
        return job_name_of(source)
    return str(convert("task", scalar, JOB, level.reading) or "task")


def _inputs(level: Level) -> list[DatasetSpec]:
    inputs = []
    node = level.mapping("inputs")
    if node is None or not node.items:
        message = "a task needs `inputs`, as in `inputs: {raw: {glob: raw/*.raw}}`"
        level.reading.fault(level.position("inputs"), message)
        return []
    for name, (_, value) in node.items.items():
        if (read := read_source(name, value, level.reading)) is not None:
            inputs.append(DatasetSpec(name, read[0], read[1]))
    if inputs and all(dataset.type == "lib" for dataset in inputs):
        level.reading.fault(node.position, "one dataset at least must have the type `input`")
    return inputs


def _outputs(level: Level) -> list[DatasetSpec]:
    """Read `outputs`: datasets by name, each with the pattern of its files."""
    node = level.mapping("outputs")
    if node is None:
        return [DatasetSpec("output", "output", {"match": "*"})]
    outputs = []
    for name, (_, value) in node.items.items():
        kind, pattern = "output", value
        if isinstance(value, Mapping):
            inner = Level(value, "an output dataset", ("match", "type"), level.reading)
            kind = _text(inner, "type", "output")
            pattern = inner.get("match") or Scalar(value.position, "*")
            if kind not in ("output", "log"):
                level.reading.fault(inner.position("type"), "`type` takes `output` or `log`")
        scalar = level.reading.scalar(pattern, f"dataset {shown(name)}")
        if scalar is not None:
            outputs.append(DatasetSpec(name, kind, {"match": level.reading.text(scalar)}))
    return outputs


def _text(level: Level, key: str, default: str) -> str:
    scalar = level.scalar(key)
    return default if scalar is None else level.reading.text(scalar)


def _check_names(level: Level, datasets: AnySequence[DatasetSpec]) -> None:
    names = [dataset.name for dataset in datasets]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        level.reading.fault(level.position("inputs"), f"two datasets have the name {shown(name)}")


def _rules(
    level: Level, recipe: JobRecipe, inputs: AnySequence[DatasetSpec],
    outputs: AnySequence[DatasetSpec],
) -> Rules:  # fmt: skip
    reading = level.reading
    rules: dict[str, Any] = read_rules(level.mapping("split"), reading)
    rules.update(read_merge(level, recipe, outputs, rules))
    if (goal := level.scalar("goal")) is not None:
        rules["goal"] = convert("goal", goal, FRACTION, reading)
    if "process" not in level:
        reading.fault(level.position("process"), "a task needs `process`, the work on its files")
    readers = [
        entry for stage in recipe.stages[:1] for line in stage.lines for package in line.packages
        for binary in package.binaries for entry in binary.inputs if entry.group is not None
    ]  # fmt: skip
    rules["takes_files"] = any(
        entry.fields.fixed.get("acquire") in (None, Acquire.PRE_FETCH) for entry in readers
    )
    far = [dataset.source["node"] for dataset in inputs
           if dataset.type == "input" and dataset.source is not None
           and "node" in dataset.source]  # fmt: skip
    for entry in readers if far else ():
        reading.fault(entry.position, f"files in a folder of a node stay there: use `{{files}}` in "
                      f"`run` only, with `nodes: {far[0]}`")  # fmt: skip
    if (timeouts := level.get("timeouts")) is not None:
        rules["timeouts"] = read_timeouts(timeouts, reading)
    rules["attributes"] = {
        plugin.name: _of_plugin(plugin, level.keys[plugin.name][1], reading)
        for plugin in installed("task attribute")
        if plugin.name in level
    }
    return Rules(**{key: value for key, value in rules.items() if value is not None})


def _attributes() -> list[str]:
    return [plugin.name for plugin in installed("task attribute")]


def _of_plugin(plugin: Plugin, node: Node, reading: Reading) -> Any:
    """Have a plug-in check the value of its attribute, and return what it makes of it."""
    value = _value(node, reading)
    try:
        files = plugin.call(value)
        msgspec.json.encode(files)
    except PluginFailed as error:
        reading.fault(node.position, str(error))
    except (TypeError, ValueError) as error:
        reading.fault(node.position, str(plugin.failed(f"returned no JSON: {error}")))
    else:
        return files
    return None


def _value(node: Node, reading: Reading) -> Any:
    if isinstance(node, Mapping):
        return {key: _value(value, reading) for key, (_, value) in node.items.items()}
    if isinstance(node, Sequence):
        return [_value(item, reading) for item in node.items]
    return reading.text(node) if isinstance(node, Scalar) else None
