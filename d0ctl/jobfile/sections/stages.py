"""The upper levels of a job file: job, stage, line and package, with their short forms."""

from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from itertools import chain
from typing import Any

from msgspec.structs import replace

from d0ctl.jobfile.language.compiled_text import constant
from d0ctl.jobfile.language.field_types import (
    COUNT,
    FLAG,
    FRACTION,
    JOB,
    LABEL,
    LIMIT,
    LINE,
    MAIL_MODE,
    ONE_LINE,
    PERCENT,
    POSITIVE_TIME,
    REQUEST_TYPES,
    TEXT,
    TIME,
    BadValueError,
    FieldType,
    split_names,
    unfit_variable,
)
from d0ctl.jobfile.language.placeholders import RESERVED, Parameters, Scope, Template
from d0ctl.jobfile.language.values import Fields
from d0ctl.jobfile.recipe import (
    InputRecipe,
    JobRecipe,
    LineRecipe,
    Loop,
    PackageRecipe,
    StageRecipe,
)
from d0ctl.jobfile.sections.binaries import BINARY_KEYS, read_binary
from d0ctl.jobfile.sections.declared_parameters import check_values, read_declaration
from d0ctl.jobfile.sections.level import Level, Reading
from d0ctl.jobfile.sections.loops import read_loop
from d0ctl.jobfile.sections.policy import read_policy
from d0ctl.jobfile.yaml.document import Mapping, Scalar
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.units import REQUESTS

JOB_KEYS = split_names(
    "job title originator mail priority hold max-running max-failures max-alike-failures "
    "template parameters stages policy"
)
STAGE_KEYS = split_names("name require after final priority max-running lines")
LINE_KEYS = split_names("name early-start after priority for packages")
PACKAGE_KEYS = split_names(
    f"name nodes exclude-nodes platform {' '.join(REQUESTS)} wall-time layout priority "
    "wrapper wrapper-parameters environment policy looping binaries"
)
PLAIN_TYPES = {
    **REQUEST_TYPES, "platform": TEXT, "priority": PERCENT, "wall-time": POSITIVE_TIME,
    "looping": TIME,
}  # fmt: skip
"""The keys of a package that hold one text."""

MOST_BINARIES = 1000
"""How many binaries a package may have: each may name the files of all others."""

LAYOUTS = ("paths", "flat")
SHORT_PACKAGE_KEYS = tuple(dict.fromkeys((*PACKAGE_KEYS, *BINARY_KEYS)))
SHORT_LINE_KEYS = tuple(dict.fromkeys((*LINE_KEYS, *SHORT_PACKAGE_KEYS)))


def read_job(node: Mapping, reading: Reading, replaced: AnyMapping[str, str]) -> JobRecipe:
    """Make the recipe of a job; `replaced` has new values of its parameters."""
    level = Level(node, "a job", JOB_KEYS, reading)
    check_values(read_declaration(level), level, replaced)
    parameters = _parameters(level, replaced)
    inner = level.reading = reading.within(_scope(parameters))
    fields = Fields()
    level.fields({"title": TEXT, "originator": ONE_LINE, "priority": PERCENT, "hold": FLAG}, fields)
    level.fields({"job": JOB, "mail": MAIL_MODE, "max-alike-failures": COUNT}, fields)
    level.fields({"max-running": LIMIT, "max-failures": LIMIT}, fields)
    stages = inner.stages
    for number, item in enumerate(level.records("stages"), 1):
        stages.append(_stage(item, number, inner))
    _check_names(level, stages)
    values = {name: value for name, (_, value) in parameters.items()}
    return JobRecipe(fields, values, _policy(level), stages)


def scope_of(level: Level, replaced: AnyMapping[str, str]) -> Scope:
    """Return the parameters that all of a job may use."""
    return _scope(_parameters(level, replaced))


def _scope(parameters: AnyMapping[str, tuple[Template | None, Any]]) -> Scope:
    templates = {name: template for name, (template, _) in parameters.items()}
    return Scope(parameters=Parameters(templates))


def _parameters(
    level: Level, replaced: AnyMapping[str, str]
) -> dict[str, tuple[Template | None, Any]]:
    """Read the parameters of the job, with those of `--set` instead of its own."""
    node = level.mapping("parameters") or Mapping(level.node.position)
    known: dict[str, tuple[Template | None, Any]] = {}
    for name, (key, value) in node.items.items():
        if name in RESERVED:
            message = f"`{name}` is a reserved word and can't be a parameter"
            level.reading.fault(key.position, message)
        elif isinstance(value, Scalar):
            text = replaced.get(name, value.text)
            level.reading.refuse_reserved(value.position, [text], _new_value_of(name))
            known[name] = constant(value, text), text
        else:
            known[name] = None, level.reading.tree_value(value, typed=False).root
            message = f"parameter {shown(name)} is not a text, so no placeholder can use it"
            level.reading.faults.warnings.add(key.position, message)
    for name in replaced:
        if name not in known:
            others = ", ".join(f"`{other}`" for other in known)
            hint = did_you_mean(name, known) or (f"; it has {others}" if known else "; it has none")
            work = level.reading.faults.what.removeprefix("a ").removesuffix(" file")
            message = f"the {work} has no parameter {shown(name)} to set{hint}"
            level.reading.fault(level.position("parameters"), message)
        elif known[name][0] is None:
            message = f"parameter {shown(name)} is not a text, so it can't be set"
            level.reading.fault(level.position("parameters"), message)
    return known


def _new_value_of(name: str) -> Callable[[int], str]:
    return lambda _: f"the new value of {shown(name)}"


def _check_names(level: Level, stages: list[StageRecipe]) -> None:
    """Record a fault for stages with the same name, which makes `from:` ambiguous."""
    seen: set[str] = set()
    for stage in stages:
        if stage.name in seen:
            message = f"two stages have the name {shown(stage.name)}"
            level.reading.fault(stage.position, message)
        seen.add(stage.name)


def _stage(node: Mapping, number: int, reading: Reading) -> StageRecipe:
    level = Level(node, "a stage", STAGE_KEYS, reading)
    fields = Fields()
    level.fields({"name": LABEL, "require": FRACTION, "max-running": LIMIT}, fields)
    level.fields({"final": FLAG}, fields)
    level.lists({"after": LABEL}, fields)
    lines = [_line(item, reading) for item in level.records("lines")]
    _apply_priority(level, [package for line in lines for package in line.packages])
    position = level.keys["name"][1].position if "name" in level else node.position
    name = fields.fixed.get("name", f"stage{number}")
    require = fields.fixed.get("require", 1.0)
    require_position = level.position("require") if "require" in level else None
    return StageRecipe(
        position,
        name,
        require,
        require_position,
        lines,
        fields.fixed.get("max_running"),
        tuple(dict.fromkeys(fields.fixed.get("after", ()))),
        level.position("after") if "after" in level else None,
        fields.fixed.get("final", False),
    )


def _line(node: Mapping, reading: Reading) -> LineRecipe:
    """Read a line; without `packages:` it has the keys of its one package."""
    level = Level(node, "a line", SHORT_LINE_KEYS, reading)
    values = level.get("for")
    loop = read_loop(values, reading) if values is not None else Loop()
    inner = reading
    if loop.names:
        inner = level.reading = reading.within(Scope(loop.names, reading.scope.parameters))
    fields = Fields()
    level.fields({"name": LABEL, "early-start": FLAG}, fields)
    level.lists({"after": LINE}, fields)
    if "packages" not in node.items:
        return LineRecipe(node.position, loop, fields, [_package(node, inner, level)])
    _check_level(level, LINE_KEYS, "packages")
    packages = [_package(item, inner) for item in level.records("packages")]
    _apply_priority(level, packages)
    return LineRecipe(node.position, loop, fields, packages)


def _apply_priority(level: Level, packages: list[PackageRecipe]) -> None:
    """Give the priority of a stage or line to its packages that have none of their own."""
    own = Fields()
    level.fields({"priority": PERCENT}, own)
    for package in packages:
        package.fields.inherit(own)


def _package(node: Mapping, reading: Reading, level: Level | None = None) -> PackageRecipe:
    """Read a package; without `binaries:` it has the keys of its one binary."""
    fields = Fields()
    if level is None:
        level = Level(node, "a package", SHORT_PACKAGE_KEYS, reading)
        level.fields({"name": LABEL}, fields)
    level.fields(PLAIN_TYPES, fields)
    level.warn_of_seconds("wall-time")
    level.warn_of_seconds("looping", "m")
    for key in ("nodes", "exclude-nodes"):
        if (names := level.get(key)) is not None:
            value = reading.list_value(key, names, _node_type(reading), _in_one)
            fields.set(key.replace("-", "_"), value, reading.faults)
    if _is_flat(level):
        reading = replace(reading, is_flat=True)
    wrapper = _wrapper(level, fields)
    if policy := _policy(level):
        fields.fixed["policy"] = policy
    _variables(level, "environment", fields)
    if "binaries" not in node.items:
        return PackageRecipe(node.position, fields, [read_binary(node, reading, level)], wrapper)
    _check_level(level, PACKAGE_KEYS + LINE_KEYS, "binaries")
    records = level.records("binaries")
    if len(records) > MOST_BINARIES:
        message = f"a package has {len(records):,} binaries (at most {MOST_BINARIES:,})"
        reading.fault(node.position, f"{message}; split it into packages that pass files on")
    binaries = [read_binary(item, reading) for item in records[:MOST_BINARIES]]
    return PackageRecipe(node.position, fields, binaries, wrapper)


def _is_flat(level: Level) -> bool:
    """Read `layout`: whether the inputs of a package keep their folders."""
    scalar = level.scalar("layout")
    if scalar is None:
        return False
    text = level.reading.text(scalar)
    if text not in LAYOUTS:
        hint = did_you_mean(text, LAYOUTS)
        message = f"`layout` takes `paths` or `flat`, not {shown(text)}{hint}"
        level.reading.fault(scalar.position, message)
    return text == "flat"


def _check_level(level: Level, own: tuple[str, ...], key: str) -> None:
    """Record a fault for keys of a lower level beside the key that lists its records."""
    for name in level.keys:
        if name not in own and name in SHORT_PACKAGE_KEYS:
            message = f"`{name}` belongs in an entry of `{key}`, not beside it"
            level.reading.fault(level.position(name), message)


def _policy(level: Level) -> AnyMapping[str, Any]:
    node = level.get("policy")
    return {} if node is None else read_policy(node, level.reading)


def _wrapper(level: Level, fields: Fields) -> InputRecipe | None:
    """Read the startup script of a package and its variables."""
    _variables(level, "wrapper-parameters", fields)
    scalar = level.scalar("wrapper")
    if scalar is None:
        if "wrapper-parameters" in level:
            position = level.position("wrapper-parameters")
            level.reading.fault(position, "`wrapper-parameters` needs `wrapper`")
        return None
    if scalar.text.endswith("/"):
        level.reading.fault(scalar.position, f"`wrapper` takes a script, not {shown(scalar.text)}")
    file = level.reading.template(scalar, strict=True)
    return InputRecipe(scalar.position, Fields(), file=file, is_flat=True)


def _variables(level: Level, key: str, fields: Fields) -> None:
    """Read the names and texts of environment variables."""
    node = level.mapping(key)
    for name, (scalar, value) in (node.items if node else {}).items():
        if why := unfit_variable(name):
            level.reading.fault(scalar.position, why)
        if not isinstance(value, Scalar):
            level.reading.scalar(value, f"`{name}`")
    level.trees({key: False}, fields)


def _node_type(reading: Reading) -> FieldType:
    """Make the type of a field that names nodes; a cluster stands for all its nodes."""

    def convert(value: str) -> tuple[str, ...]:
        if not value:
            raise ValueError
        nodes, clusters = reading.known.nodes, reading.known.clusters
        if nodes is not None and value not in nodes:
            if value in clusters:
                return tuple(clusters[value])
            hint = did_you_mean(value, [*nodes, *clusters]) or ": d0ctl node list"
            raise BadValueError(f"there is no node {shown(value)}{hint}")
        return (value,)

    return FieldType(convert, "names of nodes or clusters")


def _in_one(names: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the nodes of several entries, each once."""
    return tuple(dict.fromkeys(chain(*names)))
