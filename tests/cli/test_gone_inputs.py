"""Files from outside that an attempt did not find, while they are away and once they are back."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.site import Site

JOB = """\
job: more
stages:
  - lines:
      - for: {n: {range: [1, 2]}}
        run: cat cal.txt > o-{n}.txt
        inputs: cal.txt
        outputs: o-{n}.txt
"""


@pytest.fixture
def cal(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """An input that was removed, so that two packages cool off."""
    (tmp_path / "more.yaml").write_text(JOB)
    cal = tmp_path / "cal.txt"
    cal.write_text("1\n")
    assert d0ctl("submit", str(tmp_path / "more.yaml")).exit_code == 0
    cal.unlink()
    site.up()
    for path in ("more/1/1/1", "more/1/2/1"):
        site.fail(path, reason="missing-input", detail=f"input `{cal}` does not exist")
        assert site.phase(path) == "cooloff"
    return cal


def shown(d0ctl: Type, *words: str) -> str:
    """The words of a page, without its columns."""
    return " ".join(d0ctl(*words).stdout.split())


def test_an_input_that_was_not_found_and_does_not_exist_is_not_shown_as_available(
    d0ctl: Type, cal: Path
) -> None:
    page = shown(d0ctl, "status", "more/1/1/1")
    (document,) = json.loads(d0ctl("status", "more/1/1/1", "--json").stdout)["inputs"]

    assert "inputs 1 still missing" in page
    assert f"{cal.name} ✘ does not exist pre-fetch" in page
    assert document["present"] is False


def test_an_input_that_came_back_is_available(d0ctl: Type, cal: Path) -> None:
    cal.write_text("2\n")

    page = shown(d0ctl, "status", "more/1/1/1")
    (document,) = json.loads(d0ctl("status", "more/1/1/1", "--json").stdout)["inputs"]

    assert f"{cal.name} ✔ available" in page
    assert document["present"] is True
