"""How the tests are written, and that no folder of the product holds too many modules."""

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent
MODULES = {str(path.relative_to(TESTS)): path for path in sorted(TESTS.rglob("*.py"))}

LONGEST = 300
"""How many lines a module may have."""

PRODUCT = ("d0ctl", "tui", "wrapper", "sql")
"""The folders of the product."""

WITH_SQL = ("store/", "sql/", "tasks/", "bench/", "support/rows.py")
"""Where tests may use SQL: those of the store and of the schema, benchmarks, and one helper."""

OTHERS_WITH_SQL = {
    "chaos/tasks/production.py": 1,
    "chaos/tasks/test_tasks.py": 3,
    "cli/test_backup.py": 5,
    "daemon/test_refused.py": 1,
    "doctor/conftest.py": 1,
    "e2e/test_sources.py": 2,
    "jobfile/test_other_files.py": 2,
    "support/site/commands.py": 1,
    "tui/test_bad_days.py": 2,
}
"""How often others use it: to damage a database, as another program does, or to see all of it."""

ONE_SUBJECT = """
    acknowledge app archive backup bad_nodes behind benchmark broker catalogues
    completion courier_reports daemon dagman dropbox errors estimates eta
    explanation failed_logs failures file finish forecast guards history input_stream inputs
    intake inventory job jobs late_outputs leases live_status log_rules logs mail mail_queue
    node nodes orders outline outputs package pause peek pilot pilots plugins policy preview
    progress reader rehearse replicas restore_line results retry run script selection shares
    site software spec standstill status stores submit throttle wfcommons
"""
"""Names of several modules: each of them is about the same thing, e.g. an action and its rows."""

VAGUE = "one chosen place words look told raw given kept former heard"
"""Names that do not say what a value is."""

VERBS = {"d0ctl/schedule/place.py": {"place"}}
"""Functions of such a name that do what it says."""

JSON_KEYS = {
    "d0ctl/cli/schemas/packages.py": {"told"},
    "d0ctl/cli/schemas/results.py": {"kept"},
    "d0ctl/cli/schemas/site.py": {"given", "place"},
    "d0ctl/show/usage/top_page.py": {"given"},
}
"""Keys of documents, which programs read."""

EXECUTE = {"execute", "executemany", "executescript"}


def uses_of_sql(path: Path) -> int:
    """How often a module calls a database."""
    tree = ast.walk(ast.parse(path.read_text()))
    return sum(isinstance(node, ast.Attribute) and node.attr in EXECUTE for node in tree)


def test_modules_of_tests_have_at_most_300_lines() -> None:
    lines = {name: len(path.read_text().splitlines()) for name, path in MODULES.items()}

    assert not {name for name, number in lines.items() if number > LONGEST}


def test_modules_of_the_product_have_at_most_300_lines() -> None:
    root = TESTS.parent
    paths = [path for name in PRODUCT for path in (root / name).rglob("*.py")]
    lines = {str(path.relative_to(root)): len(path.read_text().splitlines()) for path in paths}

    assert {name for name, number in lines.items() if number > LONGEST} == set()


def test_only_tests_of_the_store_use_sql() -> None:
    uses = Counter(
        {name: uses_of_sql(path) for name, path in MODULES.items() if not name.startswith(WITH_SQL)}
    )

    assert +uses == OTHERS_WITH_SQL


def test_no_folder_of_the_product_has_more_than_fifteen_modules() -> None:
    roots = [TESTS.parent / name for name in PRODUCT]
    folders = Counter(path.parent for root in roots for path in root.rglob("*.py"))

    assert {str(folder): number for folder, number in folders.items() if number > 15} == {}


def test_modules_of_the_same_name_are_about_the_same_thing() -> None:
    roots = [TESTS.parent / name for name in ("d0ctl", "tui", "wrapper")]
    names = Counter(path.stem for root in roots for path in root.rglob("[!_]*.py"))

    assert {name for name, number in names.items() if number > 1} == set(ONE_SUBJECT.split())


def names_of(path: Path) -> set[str]:
    """The names of the variables, parameters, fields, functions and classes of a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return {name.strip("_") for name in found}


def test_names_of_the_product_say_what_a_value_is() -> None:
    root = TESTS.parent
    modules = {
        str(path.relative_to(root)): path
        for name in PRODUCT
        for path in (root / name).rglob("*.py")
    }
    found = {name: names_of(path) & set(VAGUE.split()) for name, path in modules.items()}

    assert {name: names for name, names in found.items() if names} == VERBS | JSON_KEYS
