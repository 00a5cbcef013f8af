"""Documents made of records, by the types that their schemas declare."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast, get_args

from d0ctl.cli.schemas.jobs import Time
from d0ctl.store.connection import Row
from d0ctl.units import iso

T = TypeVar("T")


def fill(kind: type[T], record: Any, **supplied: Any) -> T:
    """Return a document with the keys as given, and the others with the record's values.

    Times are written as ISO 8601, flags as true or false, and lists and objects that the record
    has as JSON texts as what these contain.
    """
    has_items = isinstance(record, Row | Mapping)
    values: dict[str, Any] = {}
    for key, write in _writers(cast("Any", kind)):
        if key in supplied:
            values[key] = supplied.pop(key)
        else:
            value = record[key] if has_items else getattr(record, key)
            values[key] = value if write is None else write(value)
    return cast("T", values | supplied)


@cache
def _writers(kind: Any) -> list[tuple[str, Callable[[Any], Any] | None]]:
    """Return the keys that every such document has, each with the conversion of its values."""
    types = kind.__annotations__.items()
    return [(key, _writer(type)) for key, type in types if key in kind.__required_keys__]


def _writer(declared: Any) -> Callable[[Any], Any] | None:
    if Time in (declared, *get_args(declared)):
        return iso
    if hasattr(declared, "__origin__"):
        return _writer(declared.__origin__)
    return _WRITERS.get(declared)


def _list(value: Any) -> Any:
    return json.loads(value or "[]") if value is None or isinstance(value, str) else list(value)


def _object(value: Any) -> Any:
    return json.loads(value or "{}") if value is None or isinstance(value, str) else dict(value)


_WRITERS: dict[Any, Callable[[Any], Any]] = {bool: bool, list: _list, dict: _object}
