"""The table of functions: each place and each test that it names exists."""

import ast
import re
from pathlib import Path

TOP = Path(__file__).parents[2]
TEXT = (TOP / "docs" / "task-functions.md").read_text()
TESTS = re.findall(r"`(tests/\S+?\.py)::(\w+)`", TEXT)


def test_each_function_names_a_test_that_exists() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and "function" not in line]
    missing = [
        name for file, name in TESTS
        if name not in {node.name for node in ast.walk(ast.parse((TOP / file).read_text()))
                        if isinstance(node, ast.FunctionDef)}
    ]  # fmt: skip

    assert len(TESTS) == len(rows) > 40
    assert missing == []


def test_each_function_names_a_place_that_exists() -> None:
    places = re.findall(r"`(d0ctl/\S+)`", TEXT)

    assert [place for place in places if not (TOP / place).exists()] == []
