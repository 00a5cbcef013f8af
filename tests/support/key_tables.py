"""The tables of the reference: what docs/*.md says of each key."""

import re
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

_TABLE = re.compile(r"^\| key(?: of (?:a )?([^|]+))? \|.*\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)
"""A table of keys: what they are keys of if it is not what the heading says, and its rows."""


@cache
def documented(page: str) -> dict[tuple[str, str], str]:
    """What a page says of each key of its tables, by its level."""
    text = (DOCS / f"{page}.md").read_text()
    found: dict[tuple[str, str], str] = {}
    for section in re.split(r"^##+ ", text, flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0]
        for owner, body in _TABLE.findall(section):
            level = owner.strip("` ").capitalize() or heading
            found |= {(level, key): answer for key, answer in _rows(body).items()}
    return found


def of_level(page: str, level: str) -> dict[str, str]:
    """What a page says of each key of a level."""
    return {key: answer for (at, key), answer in documented(page).items() if at == level}


def loop_values() -> dict[str, str]:
    """What the reference says of each way to write the values of a loop."""
    text = (DOCS / "jobfile.md").read_text()
    head = "| key | values | written as |\n"
    assert head in text, "the table of loops has another head"
    table = _rows(text.partition(head)[2].partition("\n\n")[0])
    return {key: answer.partition(" | ")[0] for key, answer in table.items()}


def _rows(table: str) -> dict[str, str]:
    """The texts of a table by what stands in backticks in its first column."""
    rows = re.findall(r"^\| (`.*?`) \| (.*)$", table, re.MULTILINE)
    return {key: answer for cell, answer in rows for key in re.findall("`([^`]+)`", cell)}
