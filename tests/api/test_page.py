"""docs/python.md is a session that works."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_examples_of_the_page_print_what_python_prints() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")

    assert found.attempted > 30
    assert found.failed == 0
