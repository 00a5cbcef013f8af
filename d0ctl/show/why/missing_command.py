"""Why a shell found no command (exit code 127), or could not run it (126)."""

import re
from pathlib import Path

from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import AttemptView, PackageView

_SHELL_MESSAGES = re.compile(
    r"(?:^|: )(?:line \d+: )?([^\s:][^:]*): "
    r"(?:No such file or directory|(?:command )?not found|Permission denied|cannot execute.*"
    r"|bad interpreter.*)$"
)
"""What sh, bash and dash print, with the command as the last name before it."""


def missing_command(store: Store, one: PackageView, last: AttemptView) -> list[str]:
    """Say which command it was and what to do about it; nothing for other failures."""
    if last.exit_code not in (126, 127):
        return []
    name = _name(last)
    if name is None:
        word = "not executable" if last.exit_code == 126 else "not found"
        return [f"a command was {word} on node `{last.node_name}`: its log says which"]
    if "/" not in name:
        return _on_the_path(name, last)
    if name.startswith("/"):
        return _absolute(name, last)
    return _beside(store, one, name, last)


def _name(last: AttemptView) -> str | None:
    for line in reversed(f"{last.message or ''}\n{last.stderr or ''}".splitlines()):
        if found := _SHELL_MESSAGES.search(line.strip()):
            return found[1].strip("'\"`‘’")
    return None


def _on_the_path(name: str, last: AttemptView) -> list[str]:
    if last.exit_code == 126:
        return [f"`{name}` is on the PATH of node `{last.node_name}`, but is not executable there"]
    return [
        f"`{name}` is not on the PATH of node `{last.node_name}`: install it there, "
        f"name its full path, or ship it as an input (`inputs: {name}`, `run: ./{name} ...`)"
    ]


def _absolute(name: str, last: AttemptView) -> list[str]:
    if last.exit_code == 126:
        return [f"`{name}` is not executable on node `{last.node_name}`: chmod +x {name}"]
    return [f"`{name}` does not exist on node `{last.node_name}`"]


def _beside(store: Store, one: PackageView, name: str, last: AttemptView) -> list[str]:
    """A script that should be in the folder of the attempt."""
    here = Path(browse.directory(store, one.job_id)) / name
    base = here.name
    is_input = any(Path(file.name).name == base for file in browse.inputs(store, one.id))
    if last.exit_code == 126:
        where = f": chmod +x {here}" if here.is_file() else ""
        return [f"`{name}` is not executable{where}"]
    if is_input:
        return [
            f"`{base}` is an input, so the program on its first line (`#!`) is missing on node "
            f"`{last.node_name}`, or `{name}` is not where it is: inputs have their base names"
        ]
    if here.is_file():
        return [
            f"`{base}` is beside the job file but is no input, so it is not on the node: "
            f"add `inputs: {base}` to the job file, remove the job and submit it again"
        ]
    return [f"`{name}` is neither an input nor beside the job file"]
