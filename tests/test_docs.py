"""What the pages say of the repository is so, and is said in plain English."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from d0ctl.daemon.loop import SLOW_STEPS, STEPS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = ("d0ctl", "tui", "wrapper", "sql", "completions", "examples", "docs", "tests")
PACKAGES = ("d0ctl", "d0ctl_tui", "d0ctl_wrapper", "d0ctl_sql", "tests")
OF_A_HOME = {"d0ctl.db", "d0ctl.db.VERSION", "d0ctl.turn", "d0ctl.bash", "d0ctl.fish"}
"""Names of files that look like names of modules."""


def quoted(page: Path) -> list[str]:
    """What stands in backticks on a page."""
    return re.findall(r"`([^`\n]+)`", page.read_text())


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_path_of_the_repository_that_a_page_names_exists(page: Path) -> None:
    paths = [
        text for text in quoted(page) if re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w./*-]*", text)
    ]

    assert [path for path in paths if not list(ROOT.glob(path.rstrip("/")))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_module_and_function_that_a_page_names_exists(page: Path) -> None:
    names = {
        text
        for text in quoted(page)
        if re.fullmatch(rf"({'|'.join(PACKAGES)})(\.\w+)+", text) and text not in OF_A_HOME
    }

    assert [name for name in sorted(names) if not is_there(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_to_a_heading_finds_it(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text())

    assert [
        (target, heading)
        for target, heading in links
        if heading not in headings(page.parent / target if target else page)
    ] == []


def headings(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_guide_has_the_steps_of_a_turn_in_their_order() -> None:
    guide = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| (?:every turn|once a second) \| (.*) \|$", guide, re.MULTILINE)
    named = [re.findall(r"`(\w+)`", row) for row in rows]

    assert named == [[step.__name__ for step in steps] for steps in (STEPS, SLOW_STEPS)]


def test_no_source_is_cited_by_a_number() -> None:
    cited = re.compile(r"`00[0-4]`|\(F[0-9]+\)")
    files = [
        file
        for folder in ("d0ctl", "tui", "wrapper", "sql", "docs", "tests")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".sql", ".md") and file != Path(__file__)
    ]

    assert len(files) > 500
    assert [file.name for file in files if cited.search(file.read_text())] == []


# plain English ---------------------------------------------------------------------------

PHRASES = (ROOT / "tests" / "phrases.txt").read_text()
SPOKEN = ("d0ctl/show", "d0ctl/actions", "d0ctl/cli", "tui/d0ctl_tui")
"""Folders whose texts people read."""


def phrases(*headings: str) -> re.Pattern[str]:
    """The phrases under these headings of the list."""
    parts = re.split(r"^# (.*)$", PHRASES, flags=re.MULTILINE)[1:]
    lines = [
        line.strip()
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
        if heading in headings
        for line in text.splitlines()
        if line.strip()
    ]
    assert lines
    words = "|".join(map(re.escape, lines))
    return re.compile(rf"(?<![\w`-])(?:{words})(?![\w`-])", re.IGNORECASE)


def texts(file: Path) -> Iterator[str]:
    """The texts in a module: strings of several words, and the docstrings that are help."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    notes = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    helps = {id(help_of(node)) for node in nodes}
    for node in nodes:
        if not isinstance(node, ast.Constant) or id(node) in notes - helps:
            continue
        if isinstance(node.value, str) and " " in node.value.strip():
            yield " ".join(node.value.split())


def help_of(node: ast.AST) -> ast.expr | None:
    """The docstring of a function that Typer makes a command: it is the command's help."""
    if not isinstance(node, ast.FunctionDef) or not isinstance(node.body[0], ast.Expr):
        return None
    is_command = any(
        isinstance(made, ast.Call)
        and isinstance(made.func, ast.Attribute)
        and made.func.attr in ("command", "callback")
        for made in node.decorator_list
    )
    return node.body[0].value if is_command else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_no_phrase_that_nobody_would_say(page: Path) -> None:
    text = " ".join(page.read_text().split())

    assert phrases("everywhere", "on pages").findall(text) == []


def test_what_the_program_says_has_no_phrase_that_nobody_would_say() -> None:
    forbidden = phrases("everywhere")
    files = [file for folder in SPOKEN for file in sorted((ROOT / folder).rglob("*.py"))]
    said = [(file.relative_to(ROOT), text) for file in files for text in texts(file)]

    assert len(said) > 1000
    assert [(str(file), text) for file, text in said if forbidden.search(text)] == []
