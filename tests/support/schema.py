"""What the migrations make, as one text: `python -m tests.support.schema` writes it anew."""

import tempfile
from pathlib import Path

from d0ctl.config import Home
from d0ctl.store import Store, open_store

FILE = Path(__file__).resolve().parents[2] / "sql" / "d0ctl_sql" / "schema.sql"

HEAD = (
    "-- What the migrations make of an empty file; written by `python -m tests.support.schema`.\n\n"
)


def schema(store: Store) -> str:
    """All that is defined in the database of this store, in the order of its making."""
    rows = store.connection.execute(
        "select sql from sqlite_master where sql is not null and name not like 'sqlite_%'"
        " and name not like '_sqlite_%' order by rowid"
    )
    return HEAD + "\n\n".join(f"{row[0]};" for row in rows) + "\n"


def main() -> None:
    """Write the schema of a fresh database."""
    with tempfile.TemporaryDirectory() as folder:
        with open_store(Home(Path(folder, "home")), create=True) as store:
            FILE.write_text(schema(store))


if __name__ == "__main__":
    main()
