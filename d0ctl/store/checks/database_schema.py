"""Whether tables, triggers and indices are as the migrations make them: rules depend on them."""

from collections.abc import Iterator

from d0ctl.store.connection import Store
from d0ctl_sql import schema


def drifts(store: Store) -> Iterator[tuple[str, str]]:
    """Return what is missing, changed, or was added by others."""
    wanted = {name: _plain(text) for name, text in schema().items()}
    defined = {f"{row['type']} {row['name']}": _plain(row["sql"]) for row in store.rows("defined")}
    for name in wanted.keys() | defined.keys():
        if name not in defined:
            yield name, "is missing"
        elif name not in wanted:
            if name.startswith("trigger"):
                yield name, "is not from d0ctl, and may change rows"
        elif wanted[name] != defined[name]:
            yield name, "differs from what the migrations made"


def _plain(text: str) -> str:
    return " ".join(text.split())
