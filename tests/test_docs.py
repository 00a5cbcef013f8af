"""What the pages say of the repository is so, and is said in plain English."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from d0ctl.cli.app import COMMANDS, app
from d0ctl.daemon.loop import SLOW_STEPS, STEPS
from tests.support import help_page

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = ("d0ctl", "tui", "wrapper", "sql", "completions", "examples", "docs", "tests")
PACKAGES = ("d0ctl", "d0ctl_tui", "d0ctl_wrapper", "d0ctl_sql", "tests")
OF_A_HOME = {
    "d0ctl.db",
    "d0ctl.db.VERSION",
    "d0ctl.successor",
    "d0ctl.turn",
    "d0ctl.driver",
    "d0ctl.bash",
    "d0ctl.fish",
}
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
def test_a_page_begins_with_a_sentence_about_who_needs_it(page: Path) -> None:
    title, blank, first = page.read_text().splitlines()[:3]

    assert (title[:2], blank) == ("# ", "")
    assert re.match(r"[A-Z`*].*[.:]", first), "a table or a command comes first"


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


def test_every_page_is_in_the_navigation_of_the_site_once() -> None:
    config = (ROOT / "docs" / "mkdocs.yml").read_text()
    named = re.findall(r": (\S+\.md)$", config, re.MULTILINE)

    pages = [str(page.relative_to(ROOT)) for page in [*PAGES, ROOT / "CHANGELOG.md"]]
    assert sorted(named) == sorted(pages)


def test_every_link_stays_in_what_the_site_is_made_of() -> None:
    (copied,) = re.findall(r"@cp -R (.*) \.cache/docs/pages", (ROOT / "Makefile").read_text())
    links = {
        (page.parent / target).resolve().relative_to(ROOT).parts[0]
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    }

    assert links
    assert sorted(links - set(copied.split())) == []


def test_every_part_of_a_home_is_in_its_table() -> None:
    config = (ROOT / "d0ctl" / "config.py").read_text()
    parts = re.findall(r'return self\.root / "([\w.]+)"', config)
    table = (ROOT / "docs" / "home.md").read_text().partition("\n\nd0ctl refuses")[0]

    assert len(parts) > 10
    assert [part for part in parts if f"`{part}" not in table] == []


INTERNAL = {"D0CTL_COMPLETE", "D0CTL_PILOT"}
"""Variables by which parts of d0ctl call each other."""


def test_every_variable_of_the_environment_is_on_a_page_for_users() -> None:
    pages = "".join(page.read_text() for page in PAGES if page.stem != "protocol")
    code = "".join(file.read_text() for folder in CODE for file in (ROOT / folder).rglob("*.py"))
    variables = set(re.findall(r"\bD0CTL_[A-Z]+(?:_[A-Z]+)*\b", code)) - INTERNAL

    assert len(variables) > 15
    assert [name for name in sorted(variables) if name not in pages] == []


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


# commands ---------------------------------------------------------------------------------

ANYWHERE = {"--home", "--archive", "--debug"}
"""Options that every command takes, and that its help leaves out."""


def commands_on(page: Path) -> Iterator[list[str]]:
    """Yield the words of each command that a page shows, up to a pipe, a remark or `--`."""
    for quoted, block in re.findall(r"`(d0ctl [^`\n]+)`|^ {4}(?:\$ )?(d0ctl .+)$",
                                    page.read_text(), re.MULTILINE):  # fmt: skip
        typed = re.split(r" (?:\||&&|\|\||>|#) ?|;", quoted or block)[0]
        words = typed.partition(" -- ")[0].split()[1:]
        while words and words[0] in ANYWHERE:
            del words[:2]
        if words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
            yield words


def options_by_command() -> dict[str, set[str]]:
    """Return the options of every command, as its help lists them."""
    root = typer.main.get_command(app)
    leaves = [leaf for name in COMMANDS
              for leaf in help_page.leaves(root.get_command(None, name), name)]  # type: ignore[attr-defined]  # fmt: skip
    option = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
    return {leaf: set(option.findall(help_page.help_of(leaf))) | ANYWHERE for leaf in leaves}


def test_every_command_and_option_on_a_page_exists() -> None:
    options, seen = options_by_command(), 0
    wrong = []
    for page in PAGES:
        if page.stem == "CONTRIBUTING":  # its example adds a command
            continue
        for words in commands_on(page):
            name = next((n for n in (" ".join(words[:2]), words[0]) if n in options), "")
            if not name and words[0] in COMMANDS and len(words) == 1:
                continue  # a group, such as `d0ctl node`
            given = (word.strip("[]'\",.").partition("=")[0] for word in words)
            known = options.get(name, set())
            wrong += [f"{page.name}: {' '.join(words)}"] * (not name)
            wrong += [f"{page.name}: {name} {one}" for one in given
                      if re.fullmatch(r"--?[a-z][\w-]*", one) and one not in known]  # fmt: skip
            seen += 1

    assert seen > 300
    assert wrong == []


# plain English ---------------------------------------------------------------------------

PHRASES = (ROOT / "tests" / "phrases.txt").read_text()
PHRASE = re.compile(
    r"(?<![\w`./-])(?:" + "|".join(map(re.escape, PHRASES.splitlines())) + r")(?![\w`-])",
    re.IGNORECASE,
)
CODE = ("d0ctl", "tui", "wrapper", "sql")


EXAMPLES = sorted((ROOT / "examples").rglob("*.md"))


@pytest.mark.parametrize(
    "page", [*PAGES, *EXAMPLES], ids=lambda page: f"{page.parent.stem}-{page.stem}"
)
def test_a_page_has_no_phrase_that_nobody_would_say(page: Path) -> None:
    text = " ".join(page.read_text().split())

    assert PHRASE.findall(text) == []


def test_code_has_no_phrase_that_nobody_would_say() -> None:
    """In names, texts, docstrings and comments, also where a line break is inside a phrase."""
    files = [
        file
        for folder in CODE
        for end in ("py", "sql")
        for file in (ROOT / folder).rglob(f"*.{end}")
    ]
    texts = {file: re.sub(r"\s+(?:(?:--|#)\s+)?", " ", file.read_text()) for file in files}
    cli = ROOT / "d0ctl" / "cli"
    # A key of a document is a contract.
    for file, key in ((cli / "package_documents.py", "told="),
                      (cli / "schemas/packages.py", "told: ")):  # fmt: skip
        texts[file] = texts[file].replace(key, "")

    found = {str(file): PHRASE.findall(text) for file, text in texts.items()}

    assert len(texts) > 400
    assert {file: words for file, words in found.items() if words} == {}


def test_tests_have_no_phrase_that_nobody_would_say() -> None:
    """In names and docstrings."""
    words = {
        file: PHRASE.findall(text)
        for file in sorted((ROOT / "tests").rglob("*.py"))
        for text in [" | ".join(names_and_docstrings(ast.parse(file.read_text())))]
    }

    assert len(words) > 300
    assert {str(file): found for file, found in words.items() if found} == {}


def names_and_docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield what the functions and classes of a module are called and say of themselves."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name.replace("_", " ")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            yield " ".join((ast.get_docstring(node) or "").split())
