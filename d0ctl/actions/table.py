"""The table of actions, from which the CLI, the dashboard, the Python API and docs are built."""

from collections.abc import Mapping
from typing import Any

from d0ctl.actions.action import Action
from d0ctl.actions.jobs.finish import FINISH
from d0ctl.actions.jobs.priority import PRIORITY
from d0ctl.actions.jobs.remove import REMOVE
from d0ctl.actions.packages.hold import HOLD, RELEASE
from d0ctl.actions.packages.kill import KILL
from d0ctl.actions.packages.kill_line import KILL_LINE
from d0ctl.actions.packages.pause import PAUSE, RESUME
from d0ctl.actions.packages.restore_line import RESTORE_LINE
from d0ctl.actions.packages.retry import RETRY
from d0ctl.actions.packages.set_status import SET_STATUS

ACTIONS: Mapping[str, Action[Any, Any]] = {
    action.name: action
    for action in (
        HOLD, RELEASE, RETRY, KILL, KILL_LINE, RESTORE_LINE, PRIORITY, PAUSE, RESUME, FINISH,
        SET_STATUS, REMOVE,
    )
}  # fmt: skip
"""Every action by its name, in the order of the dashboard's help."""
