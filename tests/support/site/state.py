"""The state of a site when a test on it fails, for the reader of the report."""

import sqlite3

from d0ctl.errors import D0Error
from d0ctl.store import open_store
from tests.support import rows
from tests.support.site.daemons import Daemons

LAST = 30
"""How many of the last rows and lines are shown."""

TABLES = {
    "node": "name state since last_error",
    "cluster": "name fault fault_of retry",
    "package": "id phase changed note",
    "attempt": "id package_id node_name launched started ended outcome reason message",
    "event": "at package_id old new attempt_id actor note",
}


def state_of(site: Daemons) -> str:
    """Return the last rows of tables of a site's database, and the last lines of its log."""
    parts = []
    try:
        with open_store(site.home, read_only=True) as store:
            for table, columns in TABLES.items():
                last = rows.read(store, table, *columns.split())[-LAST:]
                parts += [f"{table}: {columns}", *(f"    {row}" for row in last)]
    except (D0Error, sqlite3.Error, OSError) as error:
        parts.append(f"its database: {error}")
    lines = site.log().splitlines()[-LAST:]
    return "\n".join([*parts, "log:", *(f"    {line}" for line in lines)])
