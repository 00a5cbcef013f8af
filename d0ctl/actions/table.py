"""The table of actions, from which the CLI, the dashboard, the Python API and docs are built."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from d0ctl.actions.action import Action

GROUPS = {"jobs": "", "packages": "", "nodes": "node ", "clusters": "cluster ",
          "researchers": "researcher ", "files": "file ", "throttles": "throttle ",
          "tokens": "token ", "tasks": "task "}  # fmt: skip
"""The folders of actions, and the command that each belongs to."""


def _modules() -> dict[str, str]:
    """Return the module of each action by its name: `kill_line` holds `kill-line`."""
    found = {
        prefix + path.stem.removeprefix(prefix.replace(" ", "_")).replace("_", "-"):
            f"{__package__}.{folder}.{path.stem}"
        for folder, prefix in GROUPS.items()
        for path in Path(__file__).with_name(folder).glob("[!_]*.py")
    }  # fmt: skip
    return dict(sorted(found.items()))


MODULES = _modules()


class Table(Mapping[str, Action[Any, Any]]):
    """Every action by its name; the module of an action is imported when it is looked up."""

    def __getitem__(self, name: str) -> Action[Any, Any]:
        action: Action[Any, Any] = import_module(MODULES[name]).ACTION
        return action

    def __contains__(self, name: object) -> bool:
        return name in MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


ACTIONS = Table()
