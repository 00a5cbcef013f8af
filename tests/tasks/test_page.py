"""What docs/tasks.md says of task files is what the program reads."""

import re
from pathlib import Path

from d0ctl.taskfile.job_tree import OF_JOB
from d0ctl.taskfile.reader import KEYS
from d0ctl.taskfile.sources import SOURCES
from d0ctl.taskfile.split_rules import CODES, MERGE_RULES, MERGE_WORDS, WORDS

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text()

NAME = re.compile("`([A-Za-z-]+)[:`]")
"""What begins with backticks: a key, or a key with an example of its value."""


def rows(heading: str, head: str) -> list[list[str]]:
    """The cells of a table under a heading."""
    section = PAGE.split(f"# {heading}\n")[1]
    table = section.split(f"| {head} |")[1].split("\n\n")[0]
    lines = [line[1:-1].split("|") for line in table.splitlines()[2:]]
    return [[cell.strip() for cell in cells] for cells in lines]


def names(cell: str) -> set[str]:
    """The names in backticks of a cell."""
    return set(NAME.findall(cell))


def rule_codes(heading: str) -> dict[str, set[str]]:
    """The codes of each rule in the table under a heading."""
    return {rule: names(cells[1]) for cells in rows(heading, "rule") for rule in names(cells[0])}


def test_the_page_has_the_keys_of_a_task_file() -> None:
    keys = [key for cells in rows("The task file", "key of a task file") for key in names(cells[0])]

    assert sorted(keys) == sorted(KEYS)
    assert set(OF_JOB) < set(keys)


def test_the_page_has_the_sources_of_a_dataset() -> None:
    sources = [names(cells[0]) for cells in rows("Input datasets", "source")]

    assert set().union(*sources) == {*SOURCES, "folder"}


def test_the_page_has_the_rules_with_their_codes() -> None:
    codes = rule_codes("Rules for packages") | rule_codes("Merging")

    assert set(codes) == {*WORDS, *MERGE_RULES}
    fields = {rule: field for rule, (field, _) in {**WORDS, **MERGE_WORDS}.items()}
    assert {code for each in codes.values() for code in each} == set(CODES)
    assert {
        (fields[rule], code) for rule, each in codes.items() for code in each
    } == {(code.field, name) for name, code in CODES.items()}  # fmt: skip
