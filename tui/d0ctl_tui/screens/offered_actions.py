"""Actions that the dashboard offers on rows: all but those that would be refused."""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING

from d0ctl import actions
from d0ctl.actions import ACTIONS
from d0ctl.actions.action import Conflict, NeedsOption, NodeName, Target
from d0ctl.actions.option import fields_of
from d0ctl.config import Home
from d0ctl.errors import BadUsage, D0Error, Refused
from d0ctl.store.connection import Store
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl_tui.read.marks import Marks
from d0ctl_tui.run_action import level, misfit

MOST_TRIED = 2_000
"""For up to this many packages below the marked rows each action is planned, to offer only those
that apply: 0.03 s.
"""

ON_ROWS = ("any", "line", "job")
"""The levels of actions on rows of the tree."""

READING = frozenset({"clone", "update"})
"""Actions whose plans read a file of the user, which may be slow."""


def applicable(home: Home, marks: Marks, packages: int) -> Mapping[str, Target]:
    """Return the actions to offer on marked rows, and what each would be for.

    That is what is marked, or what may be selected instead if that would be refused. With more
    than `MOST_TRIED` packages, only actions that are for other rows are left out.
    """
    wanted = {name: marks.selection(level(name)) for name, action in ACTIONS.items()
              if action.level in ON_ROWS}  # fmt: skip
    fitting = {name: target for name, target in wanted.items()
               if target is not None and not misfit(name, marks, target)}  # fmt: skip
    if packages > MOST_TRIED:
        return fitting
    with suppress(D0Error), open_store(home) as store, database_errors(home):
        tried = {name: target if name in READING else _possible(store, name, target)
                 for name, target in fitting.items()}  # fmt: skip
        return {name: target for name, target in tried.items() if target is not None}
    return fitting


def applicable_to_task(home: Home, task: str) -> list[str]:
    """Return the actions to offer on a task: all but those that would be refused."""
    names = [name for name, action in ACTIONS.items() if action.level == "task"]
    with suppress(D0Error), open_store(home) as store, database_errors(home):
        return [name for name in names if _possible(store, name, NodeName(task)) is not None]
    return names


def _possible(store: Store, name: str, wanted: Target) -> Target | None:
    """Return the target, or what may be selected instead if an action of it would be refused; None
    if nothing may. It is the target, too, if that depends on the argument of the action.
    """
    if any(field.option.is_argument and field.default in (MISSING, ())
           for field in fields_of(ACTIONS[name].options)):  # fmt: skip
        return wanted
    try:
        actions.preview(store, actions.request(name, wanted), now=time.time())
    except NeedsOption:
        return wanted
    except Conflict as error:
        return None if error.instead is None else error.instead[0]
    except (Refused, BadUsage):
        return None
    return wanted
