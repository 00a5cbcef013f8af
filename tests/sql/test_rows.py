"""Rows that leave the store: those of more than four columns are records with typed fields."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from d0ctl.store import Store
from d0ctl_sql import queries

ROOT = Path(__file__).resolve().parents[2]

WIDEST = 4
"""How many columns a row may have without a record of its own."""

READS = {"row", "rows"}


def public_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions of the store that others may call, by module and name."""
    for path in sorted((ROOT / "d0ctl/store").rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield f"{path.stem}.{node.name}", node


def queries_of(function: ast.FunctionDef) -> set[str]:
    """The named queries whose rows a function reads."""
    return {
        str(call.args[0].value)
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in READS
        and isinstance(call.args[0], ast.Constant)
    }


def columns(store: Store, query: str) -> int:
    """How many columns a query has."""
    text = queries()[query]
    values = dict.fromkeys(re.findall(r":([a-z_]+)", text), 0)
    store.connection.execute("savepoint columns")
    try:
        return len(store.connection.execute(text, values).description)
    finally:
        store.connection.execute("rollback to columns")


def test_no_row_of_more_than_four_columns_leaves_the_store_without_a_record(
    store: Store,
) -> None:
    bare = {
        name: query
        for name, function in public_functions()
        if function.returns is not None and re.search(r"\bRow\b", ast.unparse(function.returns))
        for query in queries_of(function)
    }

    assert {name for name, query in bare.items() if columns(store, query) > WIDEST} == set()


def test_no_function_of_the_store_returns_a_wide_tuple() -> None:
    wide = {
        name
        for name, function in public_functions()
        for part in (ast.walk(function.returns) if function.returns else ())
        if isinstance(part, ast.Subscript)
        and ast.unparse(part.value) == "tuple"
        and isinstance(part.slice, ast.Tuple)
        and len(part.slice.elts) > WIDEST
    }

    assert wide == set()
