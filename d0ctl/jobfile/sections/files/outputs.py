"""The entries of `outputs`."""

from typing import Any

from d0ctl.jobfile.language.field_types import (
    CHECKSUM,
    COUNT,
    FLAG,
    OUTPUT_DISPOSITION,
    SIZE,
    split_names,
)
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.recipe import OutputRecipe
from d0ctl.jobfile.sections.files.locators import locator_type
from d0ctl.jobfile.sections.late_outputs import check_late_keys
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence

OUTPUT_KEYS = split_names("file locator size min-size checksum disposition result late min-count")


def entries(node: Node | None) -> list[Node]:
    """Return the items of a list, or a node that is not a list as the only one."""
    if node is None:
        return []
    return node.items if isinstance(node, Sequence) else [node]


def read_outputs(node: Node | None, reading: Reading) -> list[OutputRecipe]:
    """Read the entries of `outputs`."""
    recipes = (_output(item, reading) for item in entries(node))
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
    level.warn_of_bytes("size")
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
