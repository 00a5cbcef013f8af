"""What README promises is what the program does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl.cli.app import COMMANDS
from d0ctl.errors import ExitCode

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMAND_PAGE = (ROOT / "docs" / "commands.md").read_text()


def test_every_command_is_in_the_table_of_commands() -> None:
    table = COMMAND_PAGE.partition("## Selectors")[0]

    assert [name for name in COMMANDS if f"`{name}" not in table] == []


def test_the_exit_codes_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (\d+) \|", COMMAND_PAGE.partition("## Exit codes")[2], re.MULTILINE)

    assert [int(row) for row in rows] == sorted(ExitCode)


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))],
                         ids=lambda page: page.stem)  # fmt: skip
def test_every_page_and_file_that_is_linked_is_there(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text())

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_page_of_docs_is_linked_from_the_first_page() -> None:
    pages = [f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")]

    assert [page for page in pages if f"({page})" not in README] == []


def test_every_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"(?:^    |`)make ([a-z-]+)", README, re.MULTILINE))

    assert named
    assert [name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)] == []


def test_the_jobs_of_the_tour_are_valid() -> None:
    for job in re.findall(r"d0ctl (?:run|submit) (examples/\S+)", README):
        checked = subprocess.run(
            [sys.executable, "-m", "d0ctl", "validate", str(ROOT / job)],
            capture_output=True,
            text=True,
        )
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", ["wrapper", "crab3"])
def test_every_test_that_a_page_of_proofs_names_exists(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text()
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`(test_[a-z0-9_]+)`", page)

    assert len(named) > 20
    assert [name for name in named if f"def {name}(" not in tests] == []


@pytest.mark.parametrize("name", ["wrapper", "crab3"])
def test_every_test_that_is_named_beside_its_file_is_in_that_file(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text()
    beside = re.findall(r"`(tests/\S+\.py)`: ((?:`test_\w+`(?:, )?)+)", page)

    assert [
        (file, test)
        for file, tests in beside
        for test in re.findall(r"`(\w+)`", tests)
        if f"def {test}(" not in (ROOT / file).read_text()
    ] == []
