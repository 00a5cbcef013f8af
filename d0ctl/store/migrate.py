"""Bring a database file to the newest schema."""

import secrets
import time
from pathlib import Path

from sqlite_utils import Database, Migrations

from d0ctl_sql import migrations


def migrate(path: Path) -> None:
    """Apply the migrations that the file lacks; numbers go up only, one transaction each.

    `user_version` keeps how many there are, so that opening needs no look at the list.
    """
    path.touch(mode=0o600)
    database = Database(path)
    try:
        database.enable_wal()
        steps = Migrations("d0ctl")
        for number, (name, text) in enumerate(migrations().items(), start=1):
            _register(steps, name, text, number)
        steps.apply(database)
    finally:
        database.close()


def _register(steps: Migrations, name: str, text: str, number: int) -> None:
    @steps(name=name)
    def apply(database: Database) -> None:
        database.executescript(text)
        if number == 1:
            database.execute(
                "insert into site (id, name, created) values (1, ?, ?)",
                [secrets.token_hex(8), time.time()],
            )
        database.execute(f"pragma user_version = {number}")
