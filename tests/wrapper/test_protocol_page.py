"""docs/protocol.md has every field that goes over the wire."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text()
FILES = sorted((ROOT / "wrapper" / "d0ctl_wrapper" / "protocol").rglob("*.py"))
FIELD = re.compile(r'"([a-z][a-z_]+)": ')
"""A key in the shape of a frame, a launch or a message."""


def is_on_page(field: str) -> bool:
    """Whether the page has a field, alone, in an example or as a part of `guards`."""
    return re.search(rf'[`"]{field}[`"]|guards\.{field}`', PAGE) is not None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_page_has_each_field(file: Path) -> None:
    fields = set(FIELD.findall(file.read_text()))

    assert [field for field in sorted(fields) if not is_on_page(field)] == []


def test_there_are_fields_to_look_for() -> None:
    assert sum(len(FIELD.findall(file.read_text())) for file in FILES) > 100
