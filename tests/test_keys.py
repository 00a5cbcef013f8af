"""Each key of job file, site file and policy has a test that shows what it does."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.support.key_tables import documented

TESTS = Path(__file__).parent

NO_EFFECT_YET = {
    "jobfile": "",
    "sitefile": "",
    "policy": "",
}
"""Keys that only bring a warning, and the test of that."""

PAGES = {page: (TESTS / "keys" / f"{page}.txt").read_text() for page in NO_EFFECT_YET}
"""The level and the name of each key, and the test of its effect."""


def rows(text: str) -> dict[tuple[str, str], str]:
    """The test of each key, by its level and name."""
    parts = [line.split() for line in text.splitlines() if line]
    found = {(level.replace("_", " "), key): test for level, key, test in parts}
    assert len(found) == len(parts)
    return found


@cache
def names_in(file: str) -> frozenset[str]:
    """The names of the tests of a file."""
    tree = ast.parse((TESTS / file).read_text())
    return frozenset(one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))


@pytest.mark.parametrize("page", PAGES)
def test_every_documented_key_has_a_test_and_no_other_has(page: str) -> None:
    assert set(rows(PAGES[page] + NO_EFFECT_YET[page])) == set(documented(page))


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_is_named_is_there(page: str) -> None:
    for key, test in rows(PAGES[page] + NO_EFFECT_YET[page]).items():
        file, name = test.split("::")
        assert f"test_{name}" in names_in(file), key


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_says_which_keys_have_no_effect_yet(page: str) -> None:
    silent = {key for key, answer in documented(page).items() if "has no effect yet" in answer}

    assert silent == set(rows(NO_EFFECT_YET[page]))
