"""The only place for SQL: numbered migrations, and queries that each have a name and a sentence."""

import re
from importlib.resources import files

_HEAD = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_CREATE = re.compile(r"^CREATE", re.MULTILINE)


def migrations() -> dict[str, str]:
    """Name and text of each migration, in the order in which they are applied."""
    folder = files(__name__) / "migrations"
    return {
        entry.name.removesuffix(".sql"): entry.read_text()
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".sql")
    }


def queries() -> dict[str, str]:
    """Every query by its name. Raises ValueError when two share one."""
    found: dict[str, str] = {}
    for entry in (files(__name__) / "queries").iterdir():
        if not entry.name.endswith(".sql"):
            continue
        pieces = _HEAD.split(entry.read_text())[1:]
        for name, text in zip(pieces[::2], pieces[1::2], strict=True):
            if name in found:
                raise ValueError(f"two queries are named {name}")
            found[name] = text.strip()
    return found


def schema() -> list[str]:
    """What the migrations make of an empty file, a statement each."""
    text = (files(__name__) / "schema.sql").read_text().partition("\n\n")[2]
    return [f"CREATE{part}".strip().removesuffix(";") for part in _CREATE.split(text)[1:]]
