"""Records that are made of rows, by the names of their columns or by the order of these."""

import pytest
from msgspec import Struct

from d0ctl.store import Store
from d0ctl.store.rows import make_all


class Pair(Struct):
    """A name and a number."""

    name: str
    number: int
    note: str = ""


def test_rows_become_records_in_the_order_of_their_columns(store: Store) -> None:
    rows = store.connection.execute("select 'a' as name, 1 as number union all select 'b', 2")

    assert make_all(Pair, rows.fetchall()) == [Pair("a", 1), Pair("b", 2)]


def test_no_rows_become_no_records() -> None:
    assert make_all(Pair, []) == []


def test_columns_in_another_order_are_refused(store: Store) -> None:
    rows = store.connection.execute("select 1 as number, 'a' as name").fetchall()

    with pytest.raises(AssertionError, match="Pair"):
        make_all(Pair, rows)
