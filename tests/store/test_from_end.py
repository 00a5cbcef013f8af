"""Selectors that count from the end, by how many there are."""

import pytest

from d0ctl.errors import NotFound
from d0ctl.select import parse_all
from d0ctl.store import Store
from d0ctl.store.views import selection
from d0ctl.store.views.selection import located
from tests.support.jobs import NOW, job, line, simple, stage, submitted


@pytest.fixture
def chains(store: Store) -> Store:
    """Two jobs, with one package in the lines of the first stage and one to three in others."""
    first = stage(*[simple() for _ in range(4)], name="first")
    rest = stage(*[line(*[simple()] * number) for number in (1, 3, 3, 2)])
    submitted(store, job("a", first, rest))
    submitted(store, job("b", first))
    return store


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a/1/last", "a/1/4/1"),
        ("a/last/[1:3]/last", "a/2/2/3 a/2/3/3"),
        ("a/2/*/[2]", "a/2/2/3 a/2/3/3"),
        ("a/2/*/last", "a/2/1/1 a/2/2/3 a/2/3/3 a/2/4/2"),
        ("*/last/[-2:]/1", "a/2/3/1 a/2/4/1 b/1/3/1 b/1/4/1"),
        ("a/first/[0] b/1/last", "a/1/1/1 b/1/4/1"),
    ],
)
def test_last_means_the_last_one_of_each_level(chains: Store, text: str, paths: str) -> None:
    selected = selection.choose(chains, parse_all(text.split()), now=NOW)

    assert [row.path for row in selection.packages(selected)] == paths.split()


def test_a_slice_of_nothing_is_not_found(chains: Store) -> None:
    with pytest.raises(NotFound, match=r"no package matches `a/1/\[7:-1\]`"):
        located(chains, parse_all(["a/1/[7:-1]"]))
