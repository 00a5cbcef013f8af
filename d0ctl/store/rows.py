"""Rows of the database as the structures of the rest of the program."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from d0ctl.store.connection import Row

T = TypeVar("T", bound=Struct)


def make(kind: type[T], row: Row | Mapping[str, Any], **more: Any) -> T:
    """Fill a structure's fields from the columns of the same name, and the others as given."""
    columns = {*row.keys(), *more}
    names = [name for name in kind.__struct_fields__ if name in columns]
    return kind(**{name: more[name] if name in more else row[name] for name in names})


def make_all(kind: type[T], rows: Sequence[Row]) -> list[T]:
    """Fill a structure with each row; the columns are its fields in the same order."""
    if rows:
        columns = tuple(rows[0].keys())
        assert columns == kind.__struct_fields__[: len(columns)], f"{kind.__name__}: {columns}"
    return [kind(*row) for row in rows]
