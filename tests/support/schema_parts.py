"""How a JSON Schema is put together: records, lists, and what the reference says of their keys."""

import re
from collections.abc import Iterable, Mapping

from tests.support.schema_types import Schema


def ref(name: str) -> Schema:
    """A part that is described once."""
    return {"$ref": f"#/$defs/{name}"}


def one_or_list(schema: Schema) -> Schema:
    """A text, or a list of them."""
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    return {**schema, "type": [*kinds, "array"], "items": schema}


def one_or_more(name: str) -> Schema:
    """A part, or a list of them."""
    return {"anyOf": [ref(name), {"type": "array", "items": ref(name)}]}


def many(name: str) -> Schema:
    """A list of parts, which is not empty."""
    return {"type": "array", "minItems": 1, "items": ref(name)}


def mapping(values: Schema | None = None, names: str = "") -> Schema:
    """Names with values."""
    found: Schema = {"type": ["object", "null"]}
    if names:
        found["propertyNames"] = {"pattern": names}
    return found | ({"additionalProperties": values} if values is not None else {})


def record(properties: Mapping[str, Schema], *needed: str) -> Schema:
    """A part with its keys, of which some are needed."""
    found: Schema = {"type": "object", "additionalProperties": False, "properties": {}}
    for key, schema in properties.items():
        kinds = schema.get("type")
        if key in needed and isinstance(kinds, list | tuple):
            schema = {**schema, "type": [kind for kind in kinds if kind != "null"]}
        found["properties"][key] = schema
    return found | ({"required": list(needed)} if needed else {})


def any_of(keys: Iterable[str]) -> Schema:
    """A part that has one of some keys."""
    return {"anyOf": [{"required": [key]} for key in keys]}


def described(properties: Mapping[str, Schema], told: Mapping[str, str]) -> dict[str, Schema]:
    """The same keys with the sentences of a table."""
    return {
        key: {"description": sentence(told[key]), **schema} if key in told else schema
        for key, schema in properties.items()
    }


def sentence(row: str) -> str:
    """What a row of a table says: its value, and its default."""
    value, _, default = (cell.strip() for cell in f"{row} |".partition(" | "))
    default = default.strip("| ")
    text = value[:1].upper() + value[1:]
    if default and default not in ("none", "needed", "required"):
        text += f" (default: {default})"
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
