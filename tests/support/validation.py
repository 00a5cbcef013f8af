"""Validation by the published JSON Schemas, as an editor does it."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from d0ctl.cli.commands.running.schema import FILES
from d0ctl.jobfile.source import mapping_of
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import Faults

_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False,
             "FALSE": False}  # fmt: skip


def plain_value(text: str) -> Any:
    """What a text without quotes is in YAML 1.2."""
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if len(text) < 400 and _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def as_json(node: Node) -> Any:
    """What an editor reads where d0ctl reads a node."""
    if isinstance(node, Mapping):
        return {name: as_json(value) for name, (_, value) in node.items.items()}
    if isinstance(node, Sequence):
        return [as_json(item) for item in node.items]
    assert isinstance(node, Scalar)
    if node.is_nothing:
        return None
    return plain_value(node.text) if node.plain else node.text


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator

    schema = json.loads(FILES[kind].read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def refusals(kind: str, text: str) -> list[str]:
    """What an editor says of the text of a file of this kind."""
    document = as_json(mapping_of(text, Faults("-"), "keys"))
    return list(_said(_validator(kind).iter_errors(document)))


def _said(errors: Any) -> Iterator[str]:
    """What each fault says, by the parts of an `anyOf` that failed."""
    for error in errors:
        own = error.schema.get("errorMessage") if isinstance(error.schema, dict) else None
        position = "/".join(map(str, error.absolute_path))
        if error.context:
            yield from _said(error.context)
        else:
            yield f"{position}: {own or error.message}"
