"""What `backup` and `restore` say."""

from collections.abc import Iterator
from pathlib import Path

from d0ctl.units import clean, size


def written(file: Path, bytes_written: int) -> str:
    """Say where a backup is, and how large."""
    return f"the database is in `{clean(str(file))}`: {size(bytes_written)}"


def would_restore(file: Path, database: Path) -> Iterator[str]:
    """Say what would be replaced, and what would be kept."""
    yield f"would replace `{clean(str(database))}` by `{clean(str(file))}`"
    if database.exists():
        yield "the current database would be kept beside it"


def question(database: Path) -> str:
    """Return the question before a database is replaced."""
    return f"replace `{clean(str(database))}`?"


def restored(file: Path, previous: Path | None) -> Iterator[str]:
    """Say where the database is from, where the previous one is, and what to type next."""
    yield f"restored the database from `{clean(str(file))}`"
    if previous is not None:
        yield f"the previous database is `{clean(str(previous))}`"
    yield "d0ctl daemon start"
