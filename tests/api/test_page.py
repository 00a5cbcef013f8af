"""docs/python.md is a session that works."""

import doctest
import re
from pathlib import Path

from d0ctl.actions import ACTIONS

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_examples_of_the_page_print_what_python_prints() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")

    assert found.attempted > 30
    assert found.failed == 0


def test_the_page_names_each_action_on_jobs() -> None:
    (sentence,) = re.findall(
        "Each action of .* on jobs and packages is a method.*?\\.", PAGE.read_text()
    )
    names = {
        action.name.replace("-", "_")
        for action in ACTIONS.values()
        if action.level in ("any", "job", "line")
    }

    assert {*re.findall("`([a-z_]+)`", sentence), "clone"} == names
