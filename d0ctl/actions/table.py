"""The table of actions, from which the CLI, the dashboard, the Python API and docs are built."""

from collections.abc import Mapping
from typing import Any

from d0ctl.actions.action import Action
from d0ctl.actions.finish import FINISH
from d0ctl.actions.hold import HOLD, RELEASE
from d0ctl.actions.kill import KILL
from d0ctl.actions.kill_line import KILL_LINE
from d0ctl.actions.pause import PAUSE, RESUME
from d0ctl.actions.priority import PRIORITY
from d0ctl.actions.remove import REMOVE
from d0ctl.actions.restore_line import RESTORE_LINE
from d0ctl.actions.retry import RETRY
from d0ctl.actions.set_status import SET_STATUS

ACTIONS: Mapping[str, Action[Any, Any]] = {
    action.name: action
    for action in (
        HOLD, RELEASE, RETRY, KILL, KILL_LINE, RESTORE_LINE, PRIORITY, PAUSE, RESUME, FINISH,
        SET_STATUS, REMOVE,
    )
}  # fmt: skip
"""Every action by its name, in the order of the dashboard's help."""
