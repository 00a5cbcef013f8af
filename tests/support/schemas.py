"""The JSON Schemas of files that people write: types from here, texts from the reference.

A new key of the job file takes its type in one of the tables below, then type `make schemas`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from d0ctl.cli.commands.running.schema import FILES
from d0ctl.jobfile.language import field_types as t
from d0ctl.jobfile.language.placeholders import RESERVED
from d0ctl.jobfile.sections import (
    binaries,
    declared_parameters,
    groups,
    log_rules,
    loops,
    policy,
    stages,
)
from d0ctl.jobfile.sections.files import inputs, outputs
from d0ctl.model import Reason
from tests.support import schema_types as types
from tests.support.key_tables import loop_values, of_level
from tests.support.schema_parts import (
    any_of,
    described,
    many,
    mapping,
    one_or_list,
    one_or_more,
    record,
    ref,
)
from tests.support.schema_types import Schema, piece, with_placeholders

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SITE_REASON = "^site:[a-z0-9][a-z0-9-]*$"
_LIST = re.compile(r"\[\n[^\[\]{}]*\]")
"""A list of plain values, as json.dumps writes it."""

VARIABLE = "^(?!D0CTL_)[A-Za-z_][A-Za-z0-9_]*$"

SCALAR: Schema = {"type": types.ANY_SCALAR}
TEXT = piece(t.TEXT)
TEXTS = mapping({"type": ["string", "number", "boolean", "null"]})
TIME, SIZE, FLAG, LABEL = piece(t.TIME), piece(t.SIZE), piece(t.FLAG), piece(t.LABEL)
LIMIT, PRIORITY = piece(t.LIMIT), piece(t.PERCENT)
SHELL: Schema = {"enum": [*binaries.SHELLS, None]}
RUN: Schema = {
    "type": [*types.ANY_SCALAR, "array"], "pattern": r"\S", "minItems": 1, "items": SCALAR,
}  # fmt: skip
ANY_OR_PART = [*types.ANY_SCALAR, "object"]

JOB: dict[str, Schema] = {
    "job": piece(t.JOB), "title": TEXT, "originator": piece(t.ONE_LINE),
    "mail": piece(t.MAIL_MODE), "priority": PRIORITY, "hold": FLAG,
    "max-alike-failures": piece(t.COUNT), "max-running": LIMIT, "max-failures": LIMIT,
    "template": ref("template"), "policy": ref("policy"), "stages": many("stage"),
    "parameters": mapping() | {"propertyNames": {"not": {"enum": list(RESERVED)}}},
}  # fmt: skip
STAGE: dict[str, Schema] = {
    "name": LABEL, "require": piece(t.FRACTION), "priority": PRIORITY, "max-running": LIMIT,
    "after": one_or_list(LABEL), "final": FLAG, "lines": many("line"),
}  # fmt: skip
LINE: dict[str, Schema] = {
    "name": LABEL, "early-start": FLAG, "priority": PRIORITY, "after": one_or_list(piece(t.LINE)),
    "for": ref("for"), "packages": many("package"),
}  # fmt: skip
PACKAGE: dict[str, Schema] = {
    "name": LABEL, "nodes": one_or_list(TEXT), "exclude-nodes": one_or_list(TEXT),
    "platform": TEXT, "layout": types.words(stages.LAYOUTS), "cpus": piece(t.CPUS),
    "memory": SIZE, "gpus": piece(t.GPUS), "disk": SIZE,
    "wall-time": piece(t.POSITIVE_TIME), "priority": PRIORITY, "looping": TIME, "wrapper": SCALAR,
    "wrapper-parameters": TEXTS | {"propertyNames": {"pattern": VARIABLE}},
    "environment": TEXTS | {"propertyNames": {"pattern": VARIABLE}},
    "policy": ref("policy"), "binaries": many("binary"),
}  # fmt: skip
BINARY: dict[str, Schema] = {
    "name": LABEL, "image": piece(t.IMAGE), "run": RUN, "merge": FLAG, "shell": SHELL,
    "software": {"type": ["string", "null"], "pattern": "^[^/]+/[^/]+$",
                 "errorMessage": "takes software as NAME/VERSION, such as `reco/v12-01`"},
    "parameters": mapping(), "inputs": one_or_more("input"), "outputs": one_or_more("output"),
    "stdin": SCALAR, "runtime": TIME, "work-size": SIZE, "cpu": piece(t.PERCENT),
    "needs": one_or_list(TEXT), "log-rules": one_or_more("log-rule"),
    "progress": ref("progress"), "check": SCALAR, "check-timeout": TIME, "events": ref("events"),
}  # fmt: skip
INPUT: dict[str, Schema] = {
    "file": SCALAR, "from": SCALAR, "match": SCALAR, "glob": SCALAR, "list": SCALAR,
    "catalogue": SCALAR, "cache": SCALAR, "unread": FLAG,
    "as": piece(inputs.AS),
    "locator": piece(t.LOCATOR), "size": SIZE, "checksum": piece(t.CHECKSUM),
    "acquire": piece(t.ACQUIRE), "disposition": piece(t.INPUT_DISPOSITION), "required": FLAG,
    "writable": FLAG,
}  # fmt: skip
OUTPUT: dict[str, Schema] = {
    "file": SCALAR, "locator": piece(t.LOCATOR), "size": SIZE, "min-size": SIZE,
    "checksum": piece(t.CHECKSUM), "disposition": one_or_list(piece(t.OUTPUT_DISPOSITION)),
    "result": FLAG, "late": FLAG, "min-count": piece(t.COUNT),
}  # fmt: skip
SOURCES: dict[str, Schema] = {
    "glob": SCALAR, "csv": SCALAR, "lines": SCALAR, "catalogue": SCALAR,
    "list": {"type": "array", "minItems": 1, "items": SCALAR},
    "range": {"type": "array", "minItems": 2, "maxItems": 3,
              "items": {"type": ["integer", "string"], "pattern": "^-?[0-9]{1,15}$"}},
}  # fmt: skip

GROUPS: Mapping[str, Schema] = {
    "from": SCALAR, "match": SCALAR, "cache": SCALAR, "unread": FLAG, "by": SCALAR, "whole": FLAG,
}  # fmt: skip


def level(title: str, known: Iterable[str], of: Mapping[str, Schema]) -> dict[str, Schema]:
    """The keys of a level of the job file, each with its type and what the reference says."""
    missing = [key for key in known if key not in of]
    if missing:
        raise LookupError(
            f"`{missing[0]}` of a {title.lower()} has no type: add it to {title.upper()} "
            "in tests/support/schemas.py, and run `make schemas`"
        )
    return described({key: of[key] for key in known}, of_level("jobfile", title))


def policy_schema() -> tuple[Schema, Schema]:
    """The rules by reason of failure with their limits; and a rule."""
    told, told_of_rules = of_level("policy", "Rule"), "What follows this reason of failure."
    escalate = record({key: piece(policy.GROWTH) for key in policy.ESCALATE_KEYS})
    rule: dict[str, Schema] = {
        "tries": piece(policy.TRIES), "delay": one_or_list(TIME), "factor": piece(policy.FACTOR),
        "longest": TIME, "elsewhere": piece(policy.ELSEWHERE), "priority": piece(t.PERCENT),
        "hold": piece(policy.HOLD), "release": TIME, "passive": FLAG,
        "escalate": {**escalate, "type": ["object", "null"]},
    }  # fmt: skip
    limits = {
        "attempt": types.or_no(TIME), "all-attempts": types.or_no(TIME),
        "memory": types.or_no(SIZE), "tries": types.or_no(piece(policy.TRIES)),
    }  # fmt: skip
    reasons = [str(reason) for reason in Reason if reason is not Reason.KILLED]
    rule_schema = record(described({key: rule[key] for key in policy.RULE_KEYS}, told))
    never = record(described({key: limits[key] for key in policy.NEVER_KEYS},
                             of_level("policy", "Never")))  # fmt: skip
    return {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            **{reason: {"description": told_of_rules, **ref("rule")} for reason in reasons},
            "never": {"description": "Limits beyond which no rule tries again.", **never},
        },
        "patternProperties": {SITE_REASON: ref("rule")},
    }, rule_schema  # fmt: skip


def for_schema() -> Schema:
    """The loop names, and the values they take."""
    by_source = loop_values()
    missing = set(loops.SOURCES) - set(SOURCES)
    if missing:
        raise LookupError(f"the loop source `{missing.pop()}` has no type: add it to SOURCES "
                          "in tests/support/schemas.py, and run `make schemas`")  # fmt: skip
    sources = described({source: SOURCES[source] for source in loops.SOURCES}, by_source)
    of_group = {key: GROUPS[key] for key in groups.GROUP_KEYS}
    values = {
        **record({**sources, **described(of_group, of_level("jobfile", "Group"))}),
        "type": ["array", "object"], "minItems": 1, "items": SCALAR, "minProperties": 1,
        "if": {"required": ["by"]}, "else": {"maxProperties": 1},
        "dependentRequired": {"from": ["by"], "cache": ["by"], "unread": ["cache"],
                              "whole": ["by"]},
    }  # fmt: skip
    names = {"pattern": t.LOOP_NAME.pattern.join("^$")}
    return {
        "type": ["object", "null"], "minProperties": 1, "propertyNames": names,
        "additionalProperties": values,
        "properties": {"zip": {
            "description": "Names whose values are paired, with as many values each.",
            "type": "object", "minProperties": 1, "propertyNames": names,
            "additionalProperties": values,
        }},
    }  # fmt: skip


def log_rule() -> Schema:
    """A pattern in a log, with what a match means."""
    keys = {key: piece(kind) for key, kind in log_rules.LOG_RULE_TYPES.items()}
    told = of_level("jobfile", "Log rule")
    return {**record(described(keys, told), "match"), "type": ANY_OR_PART}


def progress() -> Schema:
    """How the progress of a binary is read."""
    keys = {key: piece(kind) for key, kind in binaries.PROGRESS_TYPES.items()}
    return {**record(keys), "type": ANY_OR_PART}


def events() -> Schema:
    """A range of events."""
    keys = {key: piece(kind) for key, kind in log_rules.EVENT_TYPES.items()}
    told = of_level("jobfile", "Events")
    return {**record(described(keys, told), "of", "part"), "type": ["object", "null"]}


def template() -> Schema:
    """What a template says of itself and of its parameters."""
    known = {"type": types.words(declared_parameters.TYPES), "help": SCALAR, "one-of": {
        "type": ["array", "null"], "minItems": 1, "items": SCALAR,
    }}  # fmt: skip
    told = of_level("jobfile", "Parameter")
    parameter = record(
        described({key: known[key] for key in declared_parameters.DECLARED_KEYS}, told)
    )
    parameters = mapping({**parameter, "type": ANY_OR_PART})
    keys = {"about": SCALAR, "parameters": parameters}
    return {**record({key: keys[key] for key in declared_parameters.TEMPLATE_KEYS}),
            "type": ["object", "null"]}  # fmt: skip


def _new(keys: Mapping[str, Schema], above: Mapping[str, Schema]) -> dict[str, Schema]:
    """The keys that the level above does not have."""
    return {key: schema for key, schema in keys.items() if key not in above}


def _beside(key: str, below: Iterable[str], own: Iterable[str]) -> Schema:
    """Keys of a lower level, which can't stand beside the list of its records."""
    wrong = {
        name: {"type": "null", "errorMessage": f"`{name}` belongs in an entry of `{key}`"}
        for name in below
        if name not in own
    }
    return {"if": {"required": [key]}, "then": {"properties": wrong}}


def _needs_program(*lists: str) -> Schema:
    """A part in the short form, which has a program."""
    return {"if": {"not": any_of(lists)}, "then": any_of(("run", "software"))}


def job_schema() -> Schema:
    """The schema of the job file."""
    line = level("Line", stages.LINE_KEYS, LINE)
    package = level("Package", stages.PACKAGE_KEYS, PACKAGE)
    binary = level("Binary", binaries.BINARY_KEYS, BINARY)
    rules, rule = policy_schema()
    # `binaries` without a value counts as absent beside `packages`.
    binaries_or_null = {**package["binaries"], "type": ["array", "null"]}
    short_line = record({**line, **_new(package, line), **_new(binary, package),
                         "binaries": binaries_or_null})  # fmt: skip
    short_package = record({**package, **_new(binary, package)})
    packages = _beside("packages", stages.SHORT_PACKAGE_KEYS, stages.LINE_KEYS)
    packages["else"] = {"properties": {"binaries": {"type": "array"}}}
    chain = _beside(
        "binaries", stages.SHORT_PACKAGE_KEYS, (*stages.PACKAGE_KEYS, *stages.LINE_KEYS)
    )
    parts = {
        "stage": record(level("Stage", stages.STAGE_KEYS, STAGE), "lines"),
        "line": {**short_line, "allOf": [_needs_program("packages", "binaries"), packages, chain]},
        "package": {**short_package, "allOf": [_needs_program("binaries"), chain]},
        "binary": {**record(binary), **any_of(("run", "software"))},
        "input": {**record(level("Input", inputs.INPUT_KEYS, INPUT)), "type": ANY_OR_PART,
                  **any_of(("file", "from", "glob", "list"))},
        "output": {**record(level("Output", outputs.OUTPUT_KEYS, OUTPUT), "file"),
                   "type": ANY_OR_PART},
        "for": for_schema(), "log-rule": log_rule(), "progress": progress(), "events": events(),
        "policy": rules, "rule": rule, "template": template(),
    }  # fmt: skip
    root = record(level("Job", stages.JOB_KEYS, JOB), "stages")
    return {
        "$schema": DRAFT,
        "title": "d0ctl job file",
        "description": "A production: its programs, and the files that they read and make.",
        **with_placeholders(root),
        "$defs": with_placeholders(parts),
    }


def text(schema: Schema) -> str:
    """A schema as it is stored and printed."""
    spread = json.dumps(schema, indent=1, ensure_ascii=False)
    return _LIST.sub(lambda found: json.dumps(json.loads(found[0])), spread) + "\n"


def files() -> dict[Path, str]:
    """Each file with what belongs in it."""
    from tests.support import documents_page, python_verbs, views_metadata
    from tests.support.dashboard_schema import dashboard_schema
    from tests.support.site_schema import site_schema

    return {
        documents_page.PAGE: documents_page.page(),
        python_verbs.MODULE: python_verbs.module(),
        FILES["job"]: text(job_schema()),
        FILES["site"]: text(site_schema()),
        FILES["dashboard"]: text(dashboard_schema()),
        FILES["datasette"]: text(views_metadata.metadata()),
    }


if __name__ == "__main__":
    for path, written in files().items():
        path.write_text(written)
