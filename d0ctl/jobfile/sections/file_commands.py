"""Commands with file names in them, of a site or of a plug-in: to merge, fetch and store files."""

from collections.abc import Mapping

from d0ctl.jobfile.language.field_types import split_names
from d0ctl.jobfile.language.placeholders import LoopName, Scope
from d0ctl.jobfile.language.script import compile_script
from d0ctl.jobfile.language.shell import Context
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Faults, Position
from d0ctl.plugins import Plugin, installed, named

TRANSFER_KEYS = split_names("fetch store")
TRANSFER_NAMES = ("source", "dest")
MERGE_NAMES = ("inputs", "output")


def check_command(key: str, scalar: Scalar, reading: Reading, names: tuple[str, ...]) -> None:
    """Record a fault for a command without its file names, or with one of them inside quotes."""
    scope = Scope({name: LoopName(at) for at, name in enumerate(names)})
    script = compile_script(scalar, scope, reading.faults, "sh")
    used = {insertion.placeholder.name for insertion in script.insertions}
    for name in names:
        if name not in used:
            reading.fault(scalar.position, f"`{key}` needs `{{{name}}}`")
    for insertion in script.insertions:
        if insertion.context is not Context.BARE:
            message = f"`{insertion.written}` is inside quotes: remove them, d0ctl adds its own"
            reading.fault(insertion.position, message)


def merging_plugin(name: str) -> Plugin | None:
    """Return the plug-in that merges files of a name, by the longest end. Raises PluginFailed."""
    ends = [
        plugin.name for plugin in installed("merger") if name.lower().endswith(plugin.name.lower())
    ]
    return named("merger", max(ends, key=len)) if ends else None


def merge_command(plugin: Plugin) -> str:
    """Return the command of a plug-in that merges files. Raises PluginFailed."""
    return _checked(plugin, plugin.name, plugin.load(), MERGE_NAMES)


def transport(scheme: str) -> dict[str, str] | None:
    """Return the commands of a plug-in for a scheme; None if there is none. Raises PluginFailed."""
    plugin = named("transport", scheme)
    return None if plugin is None else transport_commands(plugin)


def transport_commands(plugin: Plugin) -> dict[str, str]:
    """Return the commands of a plug-in that fetch and store files. Raises PluginFailed."""
    found = plugin.load()
    if not isinstance(found, Mapping) or not found or not set(found) <= set(TRANSFER_KEYS):
        raise plugin.failed("must be a mapping with the keys `fetch`, `store` or both")
    return {key: _checked(plugin, key, found[key], TRANSFER_NAMES) for key in found}


def _checked(plugin: Plugin, key: str, command: object, names: tuple[str, str]) -> str:
    if not isinstance(command, str):
        raise plugin.failed(f"must be a command as text, not {type(command).__name__}")
    faults, nowhere = Faults(""), Position(1, 1)
    scalar = Scalar(nowhere, command)
    check_command(key, scalar, Reading(faults, "/", Scope()), names)
    for line in faults.lines():
        raise plugin.failed("has a fault: " + line.partition(": ")[2])
    return command
