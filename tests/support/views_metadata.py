"""Metadata of the views for Datasette, from docs/sql.md: descriptions, columns and examples."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "sql.md"
SCHEMA = ROOT / "sql" / "d0ctl_sql" / "migrations" / "001_initial.sql"

LIKE_ATTEMPT = "as in v_attempt"
"""What the page says in place of the same words."""

_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def metadata() -> dict[str, Any]:
    """The document: views are described, examples are queries, tables are hidden."""
    page = PAGE.read_text()
    about, examples = page.split("\n## Views\n")[1].split("\n## Examples\n")
    views = dict(re.findall(r"\n### `(v_\w+)`\n\n(.*?)(?=\n### |\Z)", about, re.DOTALL))
    made = re.findall(r"^create (?:table|view) (\w+)", SCHEMA.read_text(), re.MULTILINE)
    hidden = sorted({"_sqlite_migrations", "sqlite_sequence", *made} - set(views))
    columns = {name: _columns(text) for name, text in views.items()}
    shown = {name: {"description": _plain(text.partition("\n")[0]),
                    "columns": {column: columns["v_attempt"][column] if words == LIKE_ATTEMPT
                                else words for column, words in columns[name].items()}}
             for name, text in views.items()}  # fmt: skip
    return {
        "title": "d0ctl",
        "description": "Productions, their packages, attempts and files.",
        "databases": {
            "d0ctl": {
                "tables": {
                    **shown,
                    **{name: {"hidden": True} for name in hidden},
                },
                "queries": {
                    _slug(title): {"title": _plain(title), "sql": sql.strip().removesuffix(";")
                                   .replace("'mc23a'", ":job")}
                    for title, sql in re.findall(r"\n([^\n]+):\n\n```sql\n(.*?)```", examples,
                                                 re.DOTALL)
                },
            }
        },
    }  # fmt: skip


def _columns(text: str) -> dict[str, str]:
    """What each column is; columns that share a row share its words."""
    return {
        name: _plain(words)
        for names, words in re.findall(r"^\| (`.*?) \| (.*) \|$", text, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
    }


def _plain(text: str) -> str:
    return _LINK.sub(r"\1", text).replace("`", "")


def _slug(title: str) -> str:
    return "-".join(re.findall(r"[a-z]+", title.lower())[:4])
