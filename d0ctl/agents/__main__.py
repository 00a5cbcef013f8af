"""A process that works on the tasks of a home until its standard input ends."""

import logging
import select
import sys
import time
from pathlib import Path

from d0ctl.agents import round as rounds
from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.store import open_store

LOOK_S = 0.2
"""How often it asks whether the database has changed."""

IDLE_S = 2.0
"""After this time it looks at the tasks although nothing has changed: some wait for a time."""

REST_S = 10.0
"""How long it pauses after an error."""


def is_left(timeout: float = 0.0) -> bool:
    """Return whether the process that started this one has closed its input, or has ended."""
    readable, _, _ = select.select([sys.stdin], [], [], timeout)
    return bool(readable)


def work(home: Home) -> None:
    """Work whenever the database has changed."""
    with open_store(home, resident=True) as store:
        seen: object = None
        due = 0.0
        while not is_left():
            version = store.version()
            if version == seen and time.monotonic() < due:
                is_left(LOOK_S)
                continue
            seen, due = version, time.monotonic() + IDLE_S
            while rounds.take(store, is_left):
                print(flush=True)  # an empty line wakes the loop that started it


def main() -> None:
    """Work until the input ends; a database that can't be used is tried again."""
    logging.basicConfig(format="%(message)s", stream=sys.stdout, level=logging.WARNING)
    home = Home(Path(sys.argv[1]))
    while not is_left():
        try:
            work(home)
        except D0Error as error:
            logging.error("%s", error)
            is_left(REST_S)


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(0)
