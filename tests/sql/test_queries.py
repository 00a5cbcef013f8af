"""Every query is valid, is described, is used, and finds its rows without looking at all."""

import ast
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from d0ctl.store import Store, open_store
from d0ctl_sql import migrations, queries
from tests.support.homes import make_home
from tests.test_structure import VAGUE

ROOT = Path(__file__).resolve().parents[2]

QUERIES = queries()

SCRIPTS = {"temporary_tables", "temporary_sizes", "enter_past"}
"""Several statements under one name, run as a script."""

BIG = {
    "package", "file", "input", "attempt", "binary", "line", "event", "location", "content",
    "content_attempt", "event_range",
}  # fmt: skip
"""Tables that grow with the packages."""

SMALL = {
    "package_ready",
    "package_live",
    "package_assigned",
    "package_killing",
    "package_cooling",
    "package_released",
    "package_releasing",
    "package_requested",
    "attempt_failed",
    "line_open",
}
"""Indices of what is about to move, of what failed, and of lines that are still to be made."""

BATCHES = set(re.findall(r"create temp table (\w+)", QUERIES["temporary_tables"]))
"""Tables with a row for each attempt, package or file of a turn."""

WHOLE = {name for name in QUERIES if name.startswith("check_")}
"""Queries that are meant to look at everything: `doctor` asks them."""

RARE = {"add_cluster", "remove_unused_cluster", "remove_bare_cluster", "forget_node_copies",
        "cached_files", "count_cached", "add_pilot_cluster", "keeps_needed_file",
        "changed_since", "move_copies"}  # fmt: skip
"""Queries that are asked when a node is added or removed or a pilot was idle for long, when a job
takes all that its cache has, now and then if a cache has a capacity, and when a backup is
restored or the home was moved."""


ASKING = {"rows", "row", "value", "change", "change_many", "insert_many", "run_script"}
"""Methods of a store that take the name of a query."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The store of a fresh home, of which these tests change nothing."""
    with open_store(make_home(tmp_path_factory.mktemp("sql") / "home")) as store:
        yield store


def sentence(text: str) -> str:
    """What the comment at the head of a query says."""
    head = text[: re.search(r"^(?!--)", text, re.MULTILINE).start()]  # type: ignore[union-attr]
    return " ".join(line.removeprefix("--").strip() for line in head.splitlines())


def values(text: str) -> list[None] | dict[str, None]:
    """Nothing for each parameter of a query."""
    return [None] * text.count("?") or dict.fromkeys(re.findall(r":(\w+)", text))


def plan(store: Store, text: str) -> list[str]:
    """How SQLite means to answer a query."""
    steps = store.connection.execute(f"explain query plan {text}", values(text))
    return [row["detail"] for row in steps]


def test_every_query_fits_the_schema(store: Store) -> None:
    refused = {}
    for name in sorted(set(QUERIES) - SCRIPTS):
        try:
            plan(store, QUERIES[name])
        except sqlite3.Error as error:
            refused[name] = str(error)

    assert refused == {}


def test_every_query_says_in_a_sentence_what_it_does() -> None:
    heads = {name: sentence(text) for name, text in QUERIES.items()}

    assert {
        name: text for name, text in heads.items() if not re.fullmatch(r"\S.*[^.]\.", text)
    } == {}


def test_every_query_has_a_caller_and_every_caller_a_query() -> None:
    code = "\n".join(
        path.read_text() for folder in ("d0ctl", "tui") for path in (ROOT / folder).rglob("*.py")
    )
    named = set(re.findall(r'"([a-z_]+)"', code))
    asked = set(
        re.findall(r'\.(?:rows|row|value|change|change_many|run_script)\(\s*f?"([a-z_]+)"', code)
    )
    checks = {name for name in QUERIES if name.startswith("check_")}

    assert set(QUERIES) - checks - named == set()
    assert asked - set(QUERIES) == set()


def whole_tables(store: Store, name: str) -> list[str]:
    """The steps of a query that look at all rows of a table that grows."""
    steps = plan(store, QUERIES[name])
    bounded = {match[1] for step in steps if (match := re.match(r"MATERIALIZE (\w+)", step))}
    return [
        step
        for step in steps
        if (match := re.match(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?", step))
        and match[1] in BIG - bounded
        and match[2] not in SMALL
    ]


def test_no_query_looks_at_all_rows_of_a_table_that_grows(store: Store) -> None:
    names = sorted(set(QUERIES) - SCRIPTS - WHOLE - RARE)

    assert {name: steps for name in names if (steps := whole_tables(store, name))} == {}


def whole_batches(store: Store, name: str) -> list[str]:
    """The steps of a query that look at a whole batch for each row of another table."""
    inner: list[str] = []
    levels: set[int] = set()
    text = QUERIES[name]
    for row in store.connection.execute(f"explain query plan {text}", values(text)):
        step = row["detail"].split()
        if step[0] in ("SCAN", "SEARCH"):
            is_whole = step[0] == "SCAN" and step[1] in BATCHES
            inner += [row["detail"]] if is_whole and row["parent"] in levels else []
            levels.add(row["parent"])
    return inner


def test_no_query_looks_at_a_whole_batch_for_each_row_of_another(store: Store) -> None:
    names = sorted(set(QUERIES) - SCRIPTS)

    assert {name: steps for name in names if (steps := whole_batches(store, name))} == {}


def test_each_reported_output_is_found_by_its_name(store: Store) -> None:
    """A package may have 10^5 outputs; to look at all of them for each takes hours."""
    names = sorted(name for name in set(QUERIES) - SCRIPTS if "reported_output" in QUERIES[name])
    plans = {name: plan(store, QUERIES[name]) for name in names}

    assert names
    assert {
        name: steps
        for name, steps in plans.items()
        if any("file_of_package" in step for step in steps)
    } == {}


def test_each_turn_looks_for_open_lines_among_the_few_that_are_open(store: Store) -> None:
    first = plan(store, QUERIES["jobs_with_open_lines"])[0]

    assert re.match(r"(SCAN|SEARCH) line USING .*INDEX line_open", first)


def names_a_query(node: ast.AST) -> bool:
    """Whether a call asks a store by the name of a query."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    is_store = ast.unparse(node.func.value).rpartition(".")[2] in ("store", "_store")
    name = node.args[0] if node.args else None
    is_query = isinstance(name, ast.Constant) and name.value in QUERIES
    return node.func.attr in ASKING and (is_store or is_query)


def test_no_module_outside_the_store_names_a_query() -> None:
    files = [path for folder in ("d0ctl", "tui") for path in (ROOT / folder).rglob("*.py")]
    places = {str(path.relative_to(ROOT)): path for path in files}

    asking = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, path in places.items()
        if not name.startswith("d0ctl/store/")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and names_a_query(node)
    ]

    assert asking == []


@pytest.mark.parametrize(
    "text",
    ['store.rows("nodes")', 'self._store.value(f"{name}s")', 'control.store.change("hold_job")',
     'asked("nodes").row("jobs")'],
)  # fmt: skip
def test_a_call_that_names_a_query_is_found(text: str) -> None:
    assert names_a_query(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize("text", ["source.row(path)", "store.writing()", 'level.value("name", 1)'])
def test_a_call_that_names_no_query_is_left_alone(text: str) -> None:
    assert not names_a_query(ast.parse(text, mode="eval").body)


def test_the_name_of_a_table_or_column_says_what_it_holds() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for text in (*migrations().values(), QUERIES["temporary_tables"]):
            connection.executescript(text)
        rows = connection.execute(
            "select schema.name, info.name from pragma_table_list as schema"
            " join pragma_table_info(schema.name) as info"
        ).fetchall()

    assert {name for row in rows for name in row} & set(VAGUE.split()) == set()
