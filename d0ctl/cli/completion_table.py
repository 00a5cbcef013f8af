"""Which commands exist, and what TAB offers for their arguments; a test compares them.

It is a table of its own because the commands import Typer and all their modules. The names of
actions are those of their files.
"""

from collections.abc import Mapping
from pathlib import Path

_FOLDERS = Path(__file__).parents[1] / "actions"


def _actions(folder: str, prefix: str = "") -> tuple[str, ...]:
    """Return the names of the actions in a folder: `node_add.py` of `nodes` has `add`."""
    stems = sorted(
        path.stem for path in (_FOLDERS / folder).iterdir()
        if path.suffix == ".py" and path.name[0] != "_"
    )  # fmt: skip
    return tuple(stem.removeprefix(prefix).replace("_", "-") for stem in stems)


_RUN = (
    "init", "template", "import", "schema", "validate", "rehearse", "run", "submit", "wait",
    "clone",
)  # fmt: skip

HEADINGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "Run jobs": ("running", _RUN),
    "Look": ("looking", (
        "status", "why", "top", "eta", "history", "logs", "peek", "results", "report", "policy",
        "export", "tui", "archives",
    )),
    "Act on jobs": ("", tuple(sorted({*_actions("jobs"), *_actions("packages")} - {*_RUN}))),
    "Tasks": ("tasks", ("task",)),
    "Files and nodes": ("nodes", (
        "file", "node", "cluster", "researcher", "throttle", "site", "software", "store",
    )),
    "Administer": ("admin", (
        "daemon", "serve", "token", "event", "notify", "plugins", "doctor", "backup", "restore",
        "completion",
    )),
}  # fmt: skip
"""The commands by their heading in `--help`, and the folder of their modules; actions have none."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "init": ("templates",),
    "template list": (),
    "template show": ("templates",),
    "template new": ("templates",),
    "import": ("-",),
    "validate": ("-",),
    "rehearse": ("-",),
    "run": ("-",),
    "submit": ("-",),
    "wait": ("selectors*",),
    "clone": ("job_names*",),
    "status": ("selectors",),
    "why": ("subjects", "-"),
    "top": (),
    "eta": ("selectors*",),
    "history": ("parts_or_nodes",),
    "logs": ("selectors",),
    "peek": ("selectors", "-"),
    "results": ("results",),
    "report failures": ("selectors",),
    "report usage": ("selectors",),
    "report metrics": (),
    "report timeline": ("selectors",),
    "report disk": ("-",),
    "policy show": ("selectors",),
    "policy try": ("-",),
    "export": ("selectors",),
    "tui": ("selectors",),
    "archives": (),
    "acknowledge": ("selectors*",),
    "archive": ("job_names*",),
    "edit": ("selectors*",),
    "finish": ("selectors*",),
    "hold": ("selectors*",),
    "kill": ("selectors*",),
    "kill-line": ("selectors*",),
    "limit": ("selectors*",),
    "pause": ("selectors*",),
    "priority": ("selectors*", "-"),
    "release": ("selectors*",),
    "remove": ("job_names*",),
    "restore-line": ("selectors*",),
    "resume": ("selectors*",),
    "retry": ("selectors*",),
    "set-status": ("targets_or_statuses*", "-"),
    "update": ("job_names*",),
    "file list": ("files",),
    "file purge": ("files",),
    "file set-disposition": ("files", "-"),
    "node accept-key": ("node_names", "-*"),
    "node accept-loss": ("node_names",),
    "node add": ("-", "-"),
    "node benchmark": ("node_names",),
    "node check": ("node_names*",),
    "node drain": ("node_names*",),
    "node free": ("node_names", "-"),
    "node list": (),
    "node login": ("node_names",),
    "node logout": ("node_names",),
    "node remove": ("node_names*",),
    "node resume": ("node_names*",),
    "node set": ("node_names", "-*"),
    "cluster check": ("-",),
    "cluster list": (),
    "cluster set": ("-", "-*"),
    "researcher list": (),
    "researcher set": ("-", "-*"),
    "throttle list": (),
    "throttle set": ("-*",),
    "site check": ("-",),
    "site diff": ("-",),
    "site apply": ("-",),
    "site rotate-key": (),
    "site show": (),
    "software list": (),
    "software where": ("software",),
    "software add": ("software",),
    "software remove": ("software",),
    "software push": ("software",),
    "software purge": ("software",),
    "software verify": ("software",),
    "task submit": ("-",),
    "task list": (),
    "task status": ("job_names",),
    "task why": ("job_names", "-"),
    "task history": ("job_names",),
    "store list": (),
    "store locate": ("-",),
    "store delete": ("-",),
    "daemon run": (),
    "daemon start": (),
    "daemon stop": (),
    "daemon restart": (),
    "daemon install": (),
    "daemon uninstall": (),
    "daemon status": (),
    "serve": (),
    "token add": ("-", "-"),
    "token list": (),
    "token remove": ("-",),
    "event key": (),
    "event send": ("-", "-*"),
    "notify list": (),
    "notify show": ("-",),
    "notify test": ("-",),
    "plugins": (),
    "doctor": (),
    "backup": ("-",),
    "restore": ("-",),
    "completion install": (),
    "completion uninstall": (),
}
"""The offer for each argument of a command; `-` offers nothing, `*` follows one that repeats.

Typer completes the arguments of actions without an entry, which takes longer.
"""

TEXT_OPTIONS = frozenset((
    "--accept-key", "--array", "--as", "--attempt", "--binary", "--bytes", "--checksum",
    "--cluster", "--cpus", "--disk", "--disposition", "--ended", "--env", "--for", "--gpus",
    "--host", "--interval", "--limit", "--lines", "--max-failures", "--max-launches",
    "--max-running", "--memory", "--name", "--older-than", "--platform", "--port", "--reason",
    "--script", "--sender", "--shell", "--since", "--theme", "--timeout", "--until", "--via",
    "--wait", "--wall-time", "-n",
))  # fmt: skip
"""Options whose values are sizes, times, numbers or other texts: TAB offers no files for them."""

REASONED = ("status", "history", "report")
"""Commands whose `--reason` is that of a failure, which TAB offers."""

OFFERED = {"--reason": REASONED, "--until": ("wait",)}
"""The commands that take one of a few values for such an option, which TAB offers."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "": tuple(name for _, names in HEADINGS.values() for name in names)
}
"""The commands, and those of each group, in the order of `--help`."""

for _command in ARGUMENTS:
    _group, _, _name = _command.rpartition(" ")
    if _group:
        COMMANDS[_group] = (*COMMANDS.get(_group, ()), _name)

for _group in ("file", "node", "cluster", "researcher", "throttle", "token", "task"):
    _names = {*COMMANDS[_group], *_actions(f"{_group}s", f"{_group}_")}
    COMMANDS[_group] = tuple(sorted(_names))
