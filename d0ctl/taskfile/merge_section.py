"""`merge` of a task file: what is merged; how it is done is a line of a job file."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from d0ctl.jobfile.recipe import JobRecipe
from d0ctl.jobfile.sections.level import Level
from d0ctl.jobfile.yaml.document import Mapping, Scalar
from d0ctl.jobfile.yaml.document import Sequence as ListNode
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.taskfile.spec import MERGE_STAGE, DatasetSpec
from d0ctl.taskfile.split_rules import MERGE_RULES, MERGE_WORDS, read_words

SUFFIX = ".unmerged"
"""What the name of an intermediate dataset has besides that of the dataset with merged files."""


def read_merge(
    level: Level, recipe: JobRecipe, outputs: Sequence[DatasetSpec], fields: dict[str, Any]
) -> dict[str, Any]:
    """Return the fields of `Rules` that `merge` sets, with those `given` by codes."""
    node = level.mapping("merge")
    if node is None:
        return {}
    items = {key: value for key, value in node.items.items() if key in MERGE_RULES}
    rules = Level(Mapping(node.position, items), "`merge`", MERGE_RULES, level.reading)
    rule_values = read_words(rules, MERGE_WORDS)
    rule_values["merges"] = _datasets(rules, outputs)
    limits = ("files_per_merge", "bytes_per_merge")
    if not any(field in rule_values or field in fields for field in limits):
        level.reading.fault(node.position, "`merge` needs `files-per-merge` or "
                            "`gigabytes-per-merge`")  # fmt: skip
    for stage in recipe.stages[:1]:
        for output in [output for line in stage.lines for package in line.packages
                       for binary in package.binaries for output in binary.outputs]:  # fmt: skip
            if output.fields.fixed.get("late"):
                message = "late outputs can't be merged: their names are not known before"
                level.reading.fault(output.position, message)
    entries = [
        entry for stage in recipe.stages if stage.name == MERGE_STAGE for line in stage.lines
        for package in line.packages for binary in package.binaries for entry in binary.inputs
    ]  # fmt: skip
    if not any(entry.group is not None for entry in entries):
        message = '`merge` reads no files: it needs `inputs: ["{files}"]`'
        level.reading.fault(node.position, message)
    return rule_values


def _datasets(level: Level, outputs: Sequence[DatasetSpec]) -> tuple[str, ...]:
    """Return the names of the output datasets that are merged: by default all but logs."""
    node = level.get("datasets")
    if node is None:
        return tuple(output.name for output in outputs if output.type == "output")
    if not isinstance(node, ListNode):
        level.reading.fault(node.position, "`datasets` takes a list of output datasets")
        return ()
    names = [output.name for output in outputs]
    datasets = []
    for item in node.items:
        if isinstance(item, Scalar):
            name = level.reading.text(item)
            datasets.append(name)
            if name not in names:
                message = f"there is no output dataset {shown(name)}{did_you_mean(name, names)}"
                level.reading.fault(item.position, message)
    return tuple(dict.fromkeys(datasets))


def with_intermediate(outputs: Sequence[DatasetSpec], merged: Sequence[str]) -> list[DatasetSpec]:
    """Return output datasets, and before each that is merged one for the files to merge."""
    found = []
    for output in outputs:
        if output.name in merged:
            found.append(DatasetSpec(output.name + SUFFIX, f"tmpl_{output.type}", output.source))
            output = replace(output, source={**(output.source or {}), "merged": True})
        found.append(output)
    return found
